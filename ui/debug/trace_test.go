package debug_test

import (
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

// A flight recorder is asked only if there is one, it runs, and no other request asks.
func TestTrace(t *testing.T) {
	o := &executor.Observer{}
	p := newPool(t, o, executor.Config{Workers: 1})
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	expect := func(h http.Handler, w *httptest.ResponseRecorder, status int, says string) {
		t.Helper()
		h.ServeHTTP(w, request("GET", "/trace"))
		if w.Code != status || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%d %.80q, want %d with %q", w.Code, w.Body, status, says)
		}
	}
	expect(debug.Handler(o), httptest.NewRecorder(), http.StatusNotFound, "debug.Recorder")
	h := debug.Handler(o, debug.Recorder(recorder))
	expect(h, httptest.NewRecorder(), http.StatusServiceUnavailable, "is not running")
	if err := recorder.Start(); err != nil {
		t.Skip(err) // the test is itself recorded
	}
	defer recorder.Stop()
	if _, err := executor.Submit(t.Context(), p, value, executor.Named("a name")).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
	slow.during = func() {
		expect(h, httptest.NewRecorder(), http.StatusServiceUnavailable, "another recording")
	}
	h.ServeHTTP(slow, request("GET", "/trace"))
	if body := slow.Body.String(); slow.Code != http.StatusOK || !strings.HasPrefix(body, "go 1.") ||
		!strings.Contains(body, "a name") {
		t.Errorf("%d %.80q, want a trace with the task", slow.Code, body)
	}
	expect(h, httptest.NewRecorder(), http.StatusOK, "go 1.")
}

// slowWriter calls during once while it is written to.
type slowWriter struct {
	*httptest.ResponseRecorder
	during func()
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if f := w.during; f != nil {
		w.during = nil
		f()
	}
	return w.ResponseRecorder.Write(b)
}

// strict is a connection to a browser on which each Write must end soon, and be of a part.
type strict struct {
	*httptest.ResponseRecorder
	t        *testing.T
	deadline time.Time
}

func (w *strict) SetWriteDeadline(at time.Time) error {
	w.deadline = at
	return nil
}

func (w *strict) Write(b []byte) (int, error) {
	if left := time.Until(w.deadline); w.deadline.IsZero() || left > time.Minute || len(b) > 1<<20 {
		w.t.Errorf("%d bytes are written with a deadline in %v", len(b), left)
	}
	w.deadline = time.Time{}
	return w.ResponseRecorder.Write(b)
}

// A browser that takes nothing does not keep the recorder, whose Stop waits until what it has is written.
func TestTraceHasDeadlines(t *testing.T) {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := recorder.Start(); err != nil {
		t.Skip(err) // the test is itself recorded
	}
	defer recorder.Stop()
	w := &strict{ResponseRecorder: httptest.NewRecorder(), t: t}
	debug.Handler(new(executor.Observer), debug.Recorder(recorder)).ServeHTTP(w, request("GET", "/trace"))
	if w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}
