package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/cmd/executord/internal/web"
)

// hostileText would take over a terminal, and forge a line.
const hostileText = "\x1b]0;evil\x07\x1b[2J\r\nforged  ok\u202e\u009b31m\x7f\ttab"

// lie sets all that can be set in what a daemon answers: each text to one that is hostile, and each number to n.
func lie(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText)
	case reflect.Int, reflect.Int64:
		v.SetInt(n)
	case reflect.Float64:
		v.SetFloat(float64(n) * 1e280)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		lie(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			lie(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		lie(key, n)
		lie(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone(hostileText, 3600))))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				lie(v.Field(i), n)
			}
		}
	}
}

// lies returns a line of JSON with a T that lies.
func lies[T any](t *testing.T, n int64, change func(*T)) string {
	var one T
	lie(reflect.ValueOf(&one).Elem(), n)
	change(&one)
	text, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// Whatever a daemon answers, a command prints no character that a terminal obeys, begins no line that is not its own,
// and does not break.
func TestAtPrintsNoEscapes(t *testing.T) {
	t.Parallel()
	var all [][]string
	for _, n := range []int64{-1 << 62, -1, 0, 1, 1 << 62} {
		for _, state := range []string{"", "running"} {
			job := lies(t, n, func(j *view.Job) {
				if j.Job = "a"; state != "" {
					j.State.State = "running"
				}
			})
			daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/api/jobs":
					io.WriteString(w, job+lies(t, n, func(*view.Job) {}))
				case "/api/runs":
					io.WriteString(w, lies(t, n, func(*view.Run) {}))
				case "/api/notices":
					io.WriteString(w, lies(t, n, func(*notify.Notice) {}))
				case "/api/output":
					io.WriteString(w, lies(t, n, func(l *web.OutputLine) { l.Run = nil })+lies(t, n, func(*web.OutputLine) {}))
				case "/healthz":
					io.WriteString(w, hostileText)
				default:
					w.Header().Set("Location", hostileText)
					http.Error(w, hostileText, http.StatusServiceUnavailable)
				}
			}))
			defer daemon.Close()
			for _, args := range [][]string{
				{"jobs"}, {"jobs", "a"}, {"jobs", "b"}, {"jobs", "--json"}, {"runs"}, {"runs", "-v"}, {"runs", "--json"}, {"notices"}, {"notices", "--json"},
				{"logs", "a"}, {"logs", "a", "-t"}, {"logs", "a", "--json"}, {"health"}, {"health", "--ready"}, {"__complete", "logs", ""},
			} {
				all = append(all, slices.Insert(args, len(args)-strings.Count(args[0], "__"), "--at", daemon.URL)) // before what is to be completed
			}
		}
	}
	check := func(args []string, text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if i := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) }); i >= 0 {
				t.Errorf("%q prints %q", args, line)
			}
			if strings.HasPrefix(line, "forged") {
				t.Errorf("%q prints the line %q", args, line)
			}
		}
	}
	printed, answers := inTurn(t, executord(t), all)
	check([]string{"one of all"}, printed)
	for i, a := range answers {
		check(all[i], a.said)
		if a.code != exitOK && a.code != exitMistake {
			t.Errorf("%q: exit code %d: %s", all[i], a.code, a.said)
		}
	}
}

// An answer without end is refused, and takes no more memory than the largest that is not.
func TestAtBoundsAnswers(t *testing.T) {
	t.Parallel()
	var all [][]string
	for name, text := range map[string]string{
		"a text":      strings.Repeat("x", 1<<16),
		"small lines": strings.Repeat("{}\n", 1<<14),
		"a list":      strings.Repeat(`"",`, 1<<14),
		"objects":     strings.Repeat(`{},`, 1<<14),
	} {
		begin := map[string]string{"a text": `{"job":"`, "a list": `{"tags":[`, "objects": `{"parameters":[`}[name]
		daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, begin)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, text); err != nil {
					return
				}
			}
		}))
		defer daemon.Close()
		defer daemon.CloseClientConnections()
		for _, args := range [][]string{{"jobs"}, {"logs", "a"}} {
			if name != "small lines" || args[0] != "logs" { // which has printed each before the next
				all = append(all, append(args, "--at", daemon.URL))
			}
		}
	}
	cmd := executord(t)
	_, answers := inTurn(t, cmd, all)
	for i, a := range answers {
		if a.code == exitOK || !strings.Contains(a.said, "is larger than") {
			t.Errorf("%q: exit code %d, %s", all[i], a.code, a.said)
		}
	}
	if used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; used > 512 {
		t.Errorf("%d MiB", used)
	}
}
