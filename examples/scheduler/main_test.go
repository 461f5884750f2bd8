package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// do makes a request and returns the status and the body of the answer.
func (s *scheduler) do(method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// list returns the jobs by name, as a client sees them.
func (s *scheduler) list(t *testing.T) map[string]job {
	t.Helper()
	_, body := s.do("GET", "/jobs", "")
	var list []job
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&list); err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]job)
	for _, j := range list {
		byName[j.Name] = j
	}
	return byName
}

// in runs a test with a job that succeeds each minute, and one that fails each hour and takes five minutes.
func in(t *testing.T, test func(*testing.T, *scheduler)) {
	synctest.Test(t, func(t *testing.T) {
		quiet := func(c *executor.ScheduledConfig) { c.Logger = slog.New(slog.DiscardHandler) }
		s := &scheduler{executor.Scheduled(4, quiet)}
		defer s.pool.Close()
		err := errors.Join(
			s.add(t.Context(), "tick", "* * * * *", func(context.Context) error { return nil }),
			s.add(t.Context(), "sync", "0 * * * *", func(context.Context) error {
				time.Sleep(5 * time.Minute)
				return io.ErrUnexpectedEOF
			}),
		)
		if err != nil {
			t.Fatal(err)
		}
		test(t, s)
	})
}

// The list has what runs, what has run, and when the next runs are.
func TestSchedulerList(t *testing.T) {
	in(t, func(t *testing.T, s *scheduler) {
		start := time.Now() // midnight
		time.Sleep(62*time.Minute + time.Second)
		jobs := s.list(t)
		if j := jobs["sync"]; j.Running != 1 || j.Runs != 0 || j.Rhythm != "0 * * * *" {
			t.Errorf("during a run: %+v", j)
		}
		if j := jobs["tick"]; j.Runs != 62 || j.Failures != 0 {
			t.Errorf("after 62 minutes: %+v", j)
		}
		time.Sleep(5 * time.Minute)
		j := s.list(t)["sync"]
		if j.Running != 0 || j.Runs != 1 || j.Failures != 1 || j.LastError != io.ErrUnexpectedEOF.Error() ||
			j.LastDuration != "5m0s" || !j.LastStart.Equal(start.Add(time.Hour)) {
			t.Errorf("after a run: %+v", j)
		}
		if len(j.Next) != 3 || !j.Next[2].Equal(start.Add(4*time.Hour)) {
			t.Errorf("next runs: %v", j.Next)
		}
	})
}

// A job is paused, resumed, run, changed and removed by its name.
func TestSchedulerChange(t *testing.T) {
	in(t, func(t *testing.T, s *scheduler) {
		for _, c := range []struct {
			method, path, body string
			code               int
			answer             string // what it has in it
			sleep              time.Duration
			ticks              int64 // runs of tick by then
		}{
			{"POST", "/jobs/none/run", "", 404, "no such job", 0, 0},
			{"POST", "/jobs/tick/pause", "", 204, "", 10 * time.Minute, 0},
			{"POST", "/jobs/tick/run", "", 204, "", time.Second, 1},
			{"POST", "/jobs/tick/resume", "", 204, "", 5 * time.Minute, 6},
			{"PUT", "/jobs/tick/rhythm", "61 * * * *", 400, "minute", 5 * time.Minute, 11},
			{"PUT", "/jobs/tick/rhythm", "*/10 * * * *", 204, "", 10 * time.Minute, 12},
			{"POST", "/jobs/sync/run", "", 204, "", time.Second, 12},
			{"POST", "/jobs/sync/run", "", 409, "", 0, 12},
		} {
			code, answer := s.do(c.method, c.path, c.body)
			if code != c.code || !strings.Contains(answer, c.answer) {
				t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, code, answer, c.code, c.answer)
			}
			time.Sleep(c.sleep)
			if n := s.list(t)["tick"].Runs; n != c.ticks {
				t.Errorf("after %s %s: %d runs, want %d", c.method, c.path, n, c.ticks)
			}
		}
		if code, _ := s.do("DELETE", "/jobs/tick", ""); code != 204 {
			t.Errorf("status %d for DELETE", code)
		}
		if jobs := s.list(t); len(jobs) != 1 {
			t.Errorf("after DELETE of one of two: %v", jobs)
		}
	})
}

// A job with a time that cannot be read is refused by its name.
func TestSchedulerAdd(t *testing.T) {
	in(t, func(t *testing.T, s *scheduler) {
		err := s.add(t.Context(), "bad", "* * *", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "job bad: ") {
			t.Errorf("error %v", err)
		}
	})
}

// The program serves at the address that it prints until its context ends.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "127.0.0.1:0", w) }()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	response, err := http.Get(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || !strings.Contains(string(body), `"backup"`) {
		t.Errorf("%v: %s", err, body)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.Close()
}
