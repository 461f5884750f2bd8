package testkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// A Diary records what ran, and when.
type Diary struct {
	Begin time.Time

	mu    sync.Mutex
	notes []string
}

// NewDiary returns a Diary that begins now.
func NewDiary() *Diary { return &Diary{Begin: time.Now()} }

// Note records name with the time since Begin.
func (d *Diary) Note(name string) {
	at := time.Since(d.Begin)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, fmt.Sprint(name, "@", at))
}

// Func returns a task function that notes name, and then sleeps:
// in its first run for the first of works, and so on, in later runs not at all.
func (d *Diary) Func(name string, works ...time.Duration) func(context.Context) error {
	run := 0
	return func(context.Context) error {
		d.Note(name)
		if run < len(works) {
			time.Sleep(works[run])
		}
		run++
		return nil
	}
}

// Value is Func for a task with a result.
func (d *Diary) Value(name string, works ...time.Duration) func(context.Context) (struct{}, error) {
	return executor.Func(d.Func(name, works...)).Call
}

// Names returns the names noted so far.
func (d *Diary) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, n := range d.notes {
		name, _, _ := strings.Cut(n, "@")
		names = append(names, name)
	}
	return names
}

// Notes waits until all other goroutines of the bubble are blocked, and returns all notes.
func (d *Diary) Notes() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notes)
}

// Check waits until all other goroutines of the bubble are blocked,
// and compares all notes with want, each as "name@time".
func (d *Diary) Check(t testing.TB, want ...string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.notes, want) {
		t.Errorf("ran %v\nwant %v", d.notes, want)
	}
}

// A Trace records events in the order in which they happen.
type Trace struct {
	mu     sync.Mutex
	events []string
}

// Add records an event.
func (l *Trace) Add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, fmt.Sprintf(format, args...))
}

// Check waits until all other goroutines of the bubble are blocked,
// compares the events with want, and discards them.
func (l *Trace) Check(t testing.TB, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.events, want) {
		t.Errorf("happened: %q\nwant:     %q", l.events, want)
	}
	l.events = nil
}

// Hooks returns hooks of which each records its call.
func (l *Trace) Hooks() executor.Hooks {
	return executor.Hooks{
		BeforeTask: func(ctx context.Context, info executor.TaskInfo) context.Context {
			l.Add("before %s", info.Name)
			return ctx
		},
		AfterTask: func(_ context.Context, info executor.TaskInfo, err error) {
			var perr *executor.PanicError
			if errors.As(err, &perr) {
				err = fmt.Errorf("panic %v", perr.Value)
			}
			l.Add("after %s: %v", info.Name, err)
		},
		Terminated: func() { l.Add("terminated") },
		OnPanic: func(_ context.Context, info executor.TaskInfo, err *executor.PanicError) {
			l.Add("panic %s: %v", info.Name, err.Value)
		},
	}
}
