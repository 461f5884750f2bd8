package executor_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// scheduledPool makes a pool for the test; see closing. What would go to the
// default log is discarded.
func scheduledPool(t testing.TB, c executor.ScheduledConfig) *executor.ScheduledPool {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	pool, err := executor.NewScheduled(c)
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, pool)
}

// cored is scheduledPool for a pool of which only Core matters.
func cored(t testing.TB, core int) *executor.ScheduledPool {
	t.Helper()
	return scheduledPool(t, executor.ScheduledConfig{Core: core})
}

// diary records what ran, and when.
type diary struct {
	begin time.Time

	mu    sync.Mutex
	notes []string
}

func newDiary() *diary { return &diary{begin: time.Now()} }

// note records name with the present time.
func (d *diary) note(name string) {
	at := time.Since(d.begin)
	d.mu.Lock()
	d.notes = append(d.notes, fmt.Sprint(name, "@", at))
	d.mu.Unlock()
}

// body gives a body that notes its name, then works for the given times, one
// for each run, not at all once they are used up.
func (d *diary) body(name string, works ...time.Duration) func(context.Context) error {
	run := 0
	return func(context.Context) error {
		d.note(name)
		if run < len(works) {
			time.Sleep(works[run])
		}
		run++
		return nil
	}
}

// value is body for a task with a result.
func (d *diary) value(name string, works ...time.Duration) func(context.Context) (struct{}, error) {
	return executor.Callable(d.body(name, works...))
}

// names gives the names noted so far.
func (d *diary) names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, n := range d.notes {
		for i := range n {
			if n[i] == '@' {
				names = append(names, n[:i])
				break
			}
		}
	}
	return names
}

// check compares all notes, each "name@time", and lets everything settle first.
func (d *diary) check(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.notes, want) {
		t.Errorf("ran %v\nwant %v", d.notes, want)
	}
}

// schedNop is a body that does nothing.
func schedNop(context.Context) error { return nil }

// schedNopValue is schedNop for a task with a result.
func schedNopValue(context.Context) (struct{}, error) { return struct{}{}, nil }

// occupy gives the pool's only worker work until release is called, at the end
// of the test at the latest.
func occupy(t *testing.T, p *executor.ScheduledPool) (release func()) {
	t.Helper()
	block := newBlocker(t)
	block.fill(t, p.Pool, 1)
	return block.release
}

// stateIs checks the state of a task once everything has settled.
func stateIs(t *testing.T, what string, f executor.Awaitable, want executor.State) {
	t.Helper()
	synctest.Wait()
	if s := f.State(); s != want {
		t.Errorf("%s is %v, want %v", what, s, want)
	}
}

// schedGoexit ends the calling goroutine, as a failing test does.
func schedGoexit() { runtime.Goexit() }

// schedStep is a Runnable with an identity.
type schedStep struct{ ran bool }

func (s *schedStep) Run(context.Context) error { s.ran = true; return nil }

// elapse lets time pass in the bubble, and everything settle that is due by
// then.
func elapse(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
