package record

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// all returns the lines that are kept, as "N text".
func all(o *Output) []string {
	lines, _ := o.After(0)
	var texts []string
	for _, l := range lines {
		texts = append(texts, fmt.Sprint(l.N, " ", l.Text))
	}
	return texts
}

// An Output keeps its first and its last lines, in order, within its limit, whatever their lengths.
func TestOutputKeepsHeadAndTail(t *testing.T) {
	for range 500 {
		limit := rand.IntN(2000) + 300
		o := newOutput(limit)
		n := rand.IntN(60)
		var written []string
		longest := 0
		for i := range n {
			text := strings.Repeat(string(rune('a'+i%26)), rand.IntN(limit/2))
			longest = max(longest, len(text))
			written = append(written, text)
			o.Add(time.Time{}, i%2 == 0, false, []byte(text))
		}
		lines, _ := o.After(0)
		gaps, size, last := 0, 0, int64(0)
		for _, l := range lines {
			if l.N != last+1 {
				gaps++
			}
			if l.N <= last || l.Text != written[l.N-1] || l.Stderr != (l.N%2 == 1) {
				t.Fatalf("line %d after %d: %q, want %q", l.N, last, l.Text, written[l.N-1])
			}
			last, size = l.N, size+l.size()
		}
		if last != int64(n) || o.Lines() != int64(n) || gaps > 1 {
			t.Fatalf("the last line is %d of %d, with %d gaps", last, n, gaps)
		}
		if size > 2*limit || size != o.size() {
			t.Fatalf("%d bytes are kept, of at most %d", size, 2*limit)
		}
		if left := 2*limit - size; gaps > 0 && left > 2*(longest+lineCost) {
			t.Fatalf("lines are left out, with %d bytes to spare", left)
		}
	}
}

// A line that is longer than the limit is kept if it is the last.
func TestOutputKeepsLastLine(t *testing.T) {
	o := newOutput(10)
	o.Add(time.Time{}, false, false, []byte("one"))
	o.Add(time.Time{}, false, false, []byte(strings.Repeat("x", 100)))
	if got := all(o); len(got) != 1 || !strings.HasPrefix(got[0], "2 xxx") {
		t.Errorf("kept %q", got)
	}
}

// A reader that asks for what comes after the last line it has sees each line once, and the end.
func TestOutputIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Limits{Output: 1 << 20, Runs: 1, Bytes: 1 << 20, Age: time.Hour})
		run := l.Begin(view.Run{Job: "a", Run: 1})
		o := run.Output()
		var seen []int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for last := int64(0); ; {
				lines, more := o.After(last)
				for _, line := range lines {
					seen = append(seen, line.N)
					last = line.N
				}
				if more == nil {
					return
				}
				<-more
			}
		}()
		for i := range 100 {
			o.Add(time.Now(), false, false, fmt.Append(nil, i))
			if i%7 == 0 {
				synctest.Wait()
			}
		}
		run.End(nil)
		<-ended
		if len(seen) != 100 || seen[0] != 1 || seen[99] != 100 {
			t.Errorf("seen %v", seen)
		}
	})
}

// Of each job, as many ended runs are kept as the limit says, and all that go on.
func TestLogLimitsRuns(t *testing.T) {
	l := New(Limits{Output: 100, Runs: 3, Bytes: 1 << 20, Age: time.Hour})
	hung := l.Begin(view.Run{Job: "a", Run: 1})
	for i := 2; i < 10; i++ {
		l.Begin(view.Run{Job: "a", Run: int64(i)}).End(nil)
	}
	l.Begin(view.Run{Job: "b", Run: 1}).End(nil)
	var got []int64
	for _, f := range l.Latest("a", 100) {
		got = append(got, f.Run.Run)
	}
	if fmt.Sprint(got) != "[9 8 7 1]" || len(l.Latest("b", 100)) != 1 || len(l.Latest("a", 2)) != 2 {
		t.Errorf("kept %v", got)
	}
	hung.End(nil)
	if _, _, ok := l.Find("a", 1); ok {
		t.Error("the run that ended last is kept, and it is the oldest of four")
	}
}

// Runs are removed when they are older than the limit, without a goroutine that waits for it.
func TestLogLimitsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Limits{Output: 100, Runs: 3, Bytes: 1 << 20, Age: time.Hour})
		hung := l.Begin(view.Run{Job: "hung"})
		l.Begin(view.Run{Job: "a"}).End(nil)
		time.Sleep(time.Hour)
		if len(l.Latest("a", 1)) != 1 {
			t.Error("removed before its age")
		}
		time.Sleep(time.Nanosecond)
		if len(l.Latest("a", 1)) != 0 || len(l.mu.jobs) != 1 || l.mu.bytes != 0 {
			t.Errorf("kept after its age: %v, %d bytes", l.mu.jobs, l.mu.bytes)
		}
		if _, _, ok := l.Find("hung", 0); !ok {
			t.Error("a run in progress has no age")
		}
		hung.End(nil)
	})
}

// The output of all ended runs takes as many bytes as the limit says; the oldest is left out first, and what is known
// of its run stays.
func TestLogLimitsBytes(t *testing.T) {
	l := New(Limits{Output: 1000, Runs: 100, Bytes: 5000, Age: time.Hour})
	for i := 1; i <= 20; i++ {
		run := l.Begin(view.Run{Job: fmt.Sprint(i), Run: 1})
		for range 100 {
			run.Output().Add(time.Time{}, false, false, []byte("a line"))
		}
		run.End(func(v *view.Run) { v.Outcome = outcome.OK })
	}
	kept := 0
	for i := 1; i <= 20; i++ {
		f, o, ok := l.Find(fmt.Sprint(i), 1)
		if !ok || f.Outcome != outcome.OK || f.Lines != 100 {
			t.Fatalf("run %d: %+v", i, f)
		}
		if len(all(o)) > 0 != !f.Dropped {
			t.Errorf("run %d: dropped %v, with %d lines", i, f.Dropped, len(all(o)))
		}
		if !f.Dropped {
			kept++
		} else if kept > 0 {
			t.Errorf("run %d is without its output, and an older one is not", i)
		}
	}
	if kept != 2 || l.mu.bytes > 5000 {
		t.Errorf("the output of %d runs is kept, %d bytes", kept, l.mu.bytes)
	}
}

// Of the attempts of a run, the last is found; number 0 is the latest run.
func TestLogFindsLastAttempt(t *testing.T) {
	l := New(Limits{Output: 100, Runs: 10, Bytes: 1 << 20, Age: time.Hour})
	for _, v := range []view.Run{{Run: 1, Attempt: 1}, {Run: 1, Attempt: 2}, {Run: 2, Attempt: 1}} {
		v.Job = "a"
		l.Begin(v).End(nil)
	}
	if f, _, _ := l.Find("a", 1); f.Attempt != 2 {
		t.Errorf("found attempt %d", f.Attempt)
	}
	if f, _, _ := l.Find("a", 0); f.Run.Run != 2 {
		t.Errorf("found run %d", f.Run.Run)
	}
	if _, _, ok := l.Find("a", 3); ok {
		t.Error("found a run that was not")
	}
}

// A reader that follows a run comes to its end, also if nothing of the run is kept then: others that began later have
// ended before, or it has written more than there is room for.
func TestOutputEndsThoughItIsNotKept(t *testing.T) {
	for name, l := range map[string]*Log{
		"runs":  New(Limits{Output: 1000, Runs: 1, Bytes: 1 << 20, Age: time.Hour}),
		"bytes": New(Limits{Output: 1000, Runs: 10, Bytes: 10, Age: time.Hour}),
	} {
		long := l.Begin(view.Run{Job: "a", Run: 1})
		o := long.Output()
		o.Add(time.Time{}, false, false, []byte("a line"))
		l.Begin(view.Run{Job: "a", Run: 2}).End(nil)
		_, more := o.After(1)
		long.End(nil)
		select {
		case <-more:
		default:
			t.Errorf("%s: a reader still waits", name)
		}
		if _, more := o.After(1); more != nil {
			t.Errorf("%s: there may be more", name)
		}
	}
}
