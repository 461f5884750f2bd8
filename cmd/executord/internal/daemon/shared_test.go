package daemon

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// The last lines are kept, whole as far as there is room, and it is marked that
// there were others.
func TestTail(t *testing.T) {
	short := new(tail)
	for _, line := range []string{"one", "", "t\x00o"} {
		short.add([]byte(line))
	}
	if got := short.String(); got != "one\n\nt\\x00o" {
		t.Errorf("%q", got)
	}

	long := new(tail)
	for i := range 1000 {
		long.add(fmt.Appendf(nil, "line %03d", i))
	}
	lines := strings.Split(long.String(), "\n")
	if len(long.String()) > tailSize+4 || lines[0] != "..." || lines[len(lines)-1] != "line 999" || len(lines) < 200 {
		t.Errorf("%d bytes in %d lines, from %q to %q", len(long.String()), len(lines), lines[0], lines[len(lines)-1])
	}

	one := new(tail)
	one.add([]byte(strings.Repeat("x", 100_000) + "end"))
	if got := one.String(); len(got) != tailSize || !strings.HasSuffix(got, "xend") || !utf8.ValidString(got) {
		t.Errorf("of one long line: %d bytes", len(got))
	}
}

// Of a line that is too long, the end is kept that begins with a whole character,
// or the whole escape of one.
func TestTailBeginsWithACharacter(t *testing.T) {
	for _, test := range []struct{ begin, unit string }{
		{"", "世"}, {"\x01", "世"}, {"\x01", "é"}, {"", "\x1b"}, {"x", "\u202e"}, {"é", "\xff"},
	} {
		for n := range 8 {
			line := test.begin + strings.Repeat(test.unit, tailSize) + strings.Repeat("x", n)
			one := new(tail)
			one.add([]byte(line))
			shown := job.Printable(test.unit)
			got := strings.TrimSuffix(one.String(), strings.Repeat("x", n))
			if strings.Trim(strings.ReplaceAll(got, shown, ""), "x") != "" || len(one.String()) > tailSize || len(one.String()) <= tailSize-len(shown) {
				t.Errorf("of %q and many of %q: %d bytes, from %.20q", test.begin, test.unit, len(one.String()), one)
			}
		}
	}
}

// The history says of a command that was never started that it was not, whatever
// kept it from that.
func TestVerdictOnWhatWasNotStarted(t *testing.T) {
	for _, cause := range []error{nil, executor.ErrCanceled, executor.ErrShutdown, durable.ErrLeaseLost} {
		result := process.Result{Err: errors.New("the reason"), Stopped: cause != nil, Cause: cause}
		r := &sharedRun{run: run{tail: new(tail)}}
		if got := r.verdict(result, outcomeOf(result)); got.Error() != "not started: the reason" {
			t.Errorf("after %v: %v", cause, got)
		}
	}
}

// A run that was cut short has the outcome of what did that.
func TestOutcome(t *testing.T) {
	cut := process.Result{Code: -1, Signal: "SIGTERM", Stopped: true}
	for _, test := range []struct {
		result process.Result
		cause  error
		want   outcome
	}{
		{process.Result{}, nil, ok},
		{process.Result{}, process.ErrTimeout, ok}, // it ended just before
		{process.Result{Code: 1}, nil, failed},
		{process.Result{Err: errors.New("no such program")}, nil, notStarted},
		{cut, process.ErrTimeout, timeout},
		{cut, executor.ErrCanceled, canceled},
		{cut, executor.ErrShutdown, stopped},
		{cut, durable.ErrLeaseLost, lost},
		{cut, nil, stopped}, // the third signal
	} {
		test.result.Cause = test.cause
		if got := outcomeOf(test.result); got != test.want {
			t.Errorf("%+v because of %v: %s, want %s", test.result, test.cause, got, test.want)
		}
	}
}

// Times between two others are counted, and the next one is found.
func TestPassed(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	for _, test := range []struct {
		after, before time.Time
		n             int
		next          time.Time
	}{
		{at(0), at(0).Add(time.Second), 0, at(1)},
		{at(0), at(1), 0, at(1)},
		{at(0), at(1).Add(1), 1, at(2)},
		{at(0).Add(1), at(10), 9, at(10)},
		{at(0), at(0).Add(-time.Hour), 0, at(1)},
	} {
		if n, next := passed(each{}, test.after, test.before); n != test.n || !next.Equal(test.next) {
			t.Errorf("after %v, before %v: %d and %v, want %d and %v", test.after, test.before, n, next, test.n, test.next)
		}
	}
	if n, next := passed(each{}, at(0), at(0).AddDate(10, 0, 0)); n != mostMissed || !next.Equal(at(1).AddDate(10, 0, 0)) {
		t.Errorf("in ten years: %d and %v", n, next)
	}
	if n, next := passed(nil, at(0), at(10)); n != 0 || !next.IsZero() {
		t.Errorf("without a schedule: %d and %v", n, next)
	}
}
