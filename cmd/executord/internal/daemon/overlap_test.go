package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
)

// Of the times that pass during a run the first is in the log at once, and the others no later than a minute
// afterwards.
func TestOverlapIsLoggedWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, Config{File: parse(t, "# name: a\n@every 1s sleep 150500ms\n")})
		for _, step := range []struct {
			after   time.Duration // since the step before
			lines   int
			skipped int
		}{
			{1500 * time.Millisecond, 0, 0},
			{time.Second, 1, 1},
			{59 * time.Second, 1, 1},
			{time.Second, 2, 61},
			{time.Minute, 3, 121},
			{30 * time.Second, 4, 150}, // the run has ended, and the next has begun
		} {
			time.Sleep(step.after)
			if lines, skipped := len(h.logged("runs skipped")), h.total("runs skipped"); lines != step.lines || skipped != step.skipped {
				t.Errorf("after %v: %d skipped in %d lines, want %d in %d", time.Since(h.began), skipped, lines, step.skipped, step.lines)
			}
		}
		if end := h.logged("run ended"); len(end) != 1 || !strings.Contains(end[0], "skipped=150") {
			t.Errorf("end %q", end)
		}
		h.end()
	})
}

// A time that passes at the very end of a run is skipped or run, not both, though the store's answers have become slow
// meanwhile, and its clock seems to be behind.
func TestOverlapAtTheEndOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Memory()
		slow := &lagging{Store: s.Store}
		s.Store, s.Lease, s.Name = slow, 5*time.Second, "x"
		h := begin(t, Config{File: parse(t, "# name: a\n@every 1m sleep 60100ms\n"), Store: s})
		time.Sleep(70 * time.Second)
		slow.takes.Store(int64(300 * time.Millisecond))
		time.Sleep(51 * time.Second)
		synctest.Wait()
		if skipped, started := h.total("runs skipped"), len(h.logged("run started")); started+skipped != 2 {
			t.Errorf("2 times were due, %d were skipped, and %d run:\n%s", skipped, started, h.log.String())
		}
		slow.takes.Store(0)
		h.end()
	})
}

// The times that are skipped begin with the first that a job has when it is put back in the file during its run, also if
// that has passed before the store has all of the change.
func TestOverlapAfterSlowReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, again := Memory(), make(chan job.File)
		slow := &lagging{Store: s.Store}
		s.Store = slow
		other := "# name: b\n@every 1000h sleep 1s\n"
		file := parse(t, other+"# name: a\n@every 10s sleep 65s\n")
		h := begin(t, Config{File: file, Store: s, Again: again})
		time.Sleep(12 * time.Second) // of the run that began after ten
		again <- parse(t, other)
		time.Sleep(time.Second)
		synctest.Wait()
		slow.inserts.Store(int64(3200 * time.Millisecond))
		again <- file // it is there again, off, after 19.4 seconds, and is to run after 22.6
		time.Sleep(10 * time.Second)
		slow.inserts.Store(0)
		time.Sleep(50 * time.Second)
		h.end()
		if lines := h.logged("runs skipped"); len(lines) == 0 || !strings.Contains(lines[0], " first=2000-01-01T00:00:20Z ") || h.total("runs skipped") != 6 {
			t.Errorf("%q\n%s", lines, h.log.String())
		}
	})
}

// A run that was lost, and is begun again, does not have the times counted twice that passed before.
func TestOverlapIsCountedOnceOverAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Memory()
		down := &silent{Store: s.Store}
		s.Store, s.Lease, s.Name = down, 5*time.Second, "x"
		h := begin(t, Config{File: parse(t, "# name: a\n@every 1m sleep 150s\n"), Store: s})
		time.Sleep(150 * time.Second) // of the run that began after a minute
		down.set(true)
		time.Sleep(10 * time.Second)
		down.set(false)
		time.Sleep(4 * time.Minute)
		ended := fmt.Sprint(h.logged("outcome="))
		if !strings.Contains(ended, "outcome=lost") || !strings.Contains(ended, "outcome=ok") {
			t.Fatalf("the run was not lost and begun again: %s", h.log.String())
		}
		if got, want := h.total("runs skipped"), 4; got != want {
			t.Errorf("%d skipped, want %d\n%s", got, want, h.log.String())
		}
		h.end()
	})
}

// A run that panics has failed, leaves no watch behind, and is begun again.
func TestOverlapEndsWithPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics := true // guarded by the job's never overlapping itself
		file := parse(t, "# name: a\n@every 1m sleep 1s\n")
		run := func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if panics {
				panics = false
				panic("meant")
			}
			return sleep(ctx, c, o)
		}
		h := beginWith(t, Config{File: file, Record: record.New(record.Limits{Runs: 10, Age: time.Hour})}, run)
		time.Sleep(3*time.Minute + 30*time.Second)
		if runs, _, err := h.Runs(t.Context(), "a", 10); err != nil || len(runs) != 4 || runs[3].Outcome != outcome.Failed || runs[3].Error != "panic" {
			t.Errorf("runs %+v, error %v", runs, err)
		}
		if sum := h.end(); sum.Runs != 4 || sum.Failed != 1 || sum.Skipped != 0 {
			t.Errorf("%+v\n%s", sum, h.log.String())
		}
	})
}

// A run follows the schedule that another daemon gives its job, whether its own daemon reads the file after that or not.
func TestOverlapFollowsScheduleOfAnotherDaemon(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			again := make(chan job.File)
			file, other := parse(t, "# name: a\n@every 10m sleep 35m\n"), parse(t, "# name: a\n@every 2h sleep 35m\n")
			c := Config{File: file, Store: shared(t), Again: again}
			h := begin(t, c)
			time.Sleep(12 * time.Minute) // it runs
			b := begin(t, Config{File: other, Store: c.Store})
			time.Sleep(time.Second)
			if reads {
				again <- other
			}
			time.Sleep(40 * time.Minute)
			if sum := h.end(); sum.Runs != 1 || sum.Skipped != 0 {
				t.Errorf("reads %v: %+v\n%s", reads, sum, h.log.String())
			}
			b.end()
		})
	}
}
