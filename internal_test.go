package executor

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/executor-go/executor/internal/rhythm"

	"github.com/executor-go/executor/internal/alarm"
	"github.com/executor-go/executor/internal/delay"
)

// From outside no test can act between the moment in which a goroutine finds the gate
// open and that in which it has passed.

// A submitter that found the gate open looks again once it has the lock: by then
// a worker may be idle, which is to get the task.
func TestGateIsCheckedUnderItsLock(t *testing.T) {
	for range 1000 {
		g := gate{stream: new(stream)}
		g.open.Store(true)
		g.mu.Lock()
		admitted := make(chan bool)
		go func() { admitted <- g.push(entry{Func(func(context.Context) error { return nil })}, nil, nil) }()
		runtime.Gosched() // mostly, it waits for the lock by now
		g.open.Store(false)
		g.mu.Unlock()
		if <-admitted {
			t.Fatal("a task was queued though the gate was shut")
		}
	}
}

// A goroutine that cancels a task may have found it in a pool that has rejected it
// since, and another pool has it. The late call for the first pool removes nothing.
func TestPoolUnqueueTaskOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		end := make(chan struct{})
		busy := Func(func(context.Context) error { <-end; return nil })
		second := Fixed(1)
		pass := RejectFunc(func(ctx context.Context, r Runnable, _ *Pool) error { return second.Execute(ctx, r) })
		first, err := New(Config{Core: 1, Queue: Bounded(1), Reject: pass})
		if err != nil {
			t.Fatal(err)
		}
		waits := NewTask(func(context.Context) (int, error) { return 1, nil })
		moves := NewTask(func(context.Context) (int, error) { return 2, nil })
		if err := errors.Join(first.Execute(ctx, busy), second.Execute(ctx, busy),
			first.Execute(ctx, waits), first.Execute(ctx, moves)); err != nil {
			t.Fatal(err)
		}
		first.unqueue(&moves.core)
		if got := slices.Collect(first.Waiting()); !slices.Equal(got, []any{waits.Future()}) {
			t.Errorf("in the first pool wait %v", got)
		}
		if got := slices.Collect(second.Waiting()); !slices.Equal(got, []any{moves.Future()}) {
			t.Errorf("in the second pool wait %v", got)
		}
		close(end)
		first.Close()
		second.Close()
	})
}

// The future of a task without a result, of which a million may wait, is as large
// as a size that the allocator has, of which a line of the cache holds a whole number.
func TestSizeOfFuture(t *testing.T) {
	want := uintptr(32) // with 32 bits the alignment of the due time takes eight
	if n := unsafe.Sizeof(Task[struct{}]{}); n != want {
		t.Errorf("%d bytes, want %d", n, want)
	}
}

// What everybody reads of a pool shares no line of the cache with what its submitters
// write.
func TestLinesOfPool(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("laid out for 64 bits")
	}
	const line = unsafe.Sizeof(cacheLine{})
	if at := unsafe.Offsetof(Pool{}.mu); at%line != 0 {
		t.Errorf("mu is %d bytes after the beginning of a line", at%line)
	}
}

// However high its limit, a queue takes no more tasks than there are places for.
func TestLimitOfPlaces(t *testing.T) {
	b, err := Bounded(math.MaxInt).backlog()
	if err != nil {
		t.Fatal(err)
	}
	if limit := b.(*fifo).limit; limit > maxQueued {
		t.Errorf("room for %d, places for %d", limit, maxQueued)
	}
}

// The wall clock can't be set in a test, and a bubble's never steps. So these tests
// call what a step of it would.

// everyHour is a Trigger at each full hour of the wall clock.
type everyHour struct{}

func (everyHour) Next(t time.Time) time.Time { return t.Truncate(time.Hour).Add(time.Hour) }

// hourlySeries returns a series at each full hour, whose present slot is at base.
func hourlySeries(base int64) *Series {
	s := &Series{pool: Scheduled(1).Pool, rhythm: rhythmOf(everyHour{}), slot: rhythm.Slot{Base: base}}
	s.rhythm.Location = time.UTC
	s.taskCore().Init()
	return s
}

// A schedule whose place is found anew takes the first time after the present, though it had
// already been due later than that.
func TestSeriesWallClockSetBackWhileQueued(t *testing.T) {
	s := hourlySeries(delay.WallNanos(time.Now().Add(10 * 365 * 24 * time.Hour)))
	before := time.Now()
	expectTrue(t, "setBack", s.setBack())
	if more, err := s.advance(); !more || err.err != nil {
		t.Fatalf("advance returns %t, %v", more, err)
	}
	next := time.Unix(0, s.next)
	if first := (everyHour{}).Next(before); next.Before(first) || next.After(first.Add(2*time.Hour)) {
		t.Errorf("next is %v, want %v", next, first)
	}
}

// A paused schedule keeps its place when the wall clock is set back, and finds it anew when it
// is resumed.
func TestSeriesWallClockSetBackWhilePaused(t *testing.T) {
	future := delay.WallNanos(time.Now().Add(10 * 365 * 24 * time.Hour))
	s := hourlySeries(future + int64(time.Hour))
	s.slot.From, s.mode = future, paused
	expectTrue(t, "no setBack", !s.setBack())
	expectTrue(t, "Resume", s.Resume())
	if next := time.Unix(0, s.next); time.Until(next) > 2*time.Hour {
		t.Errorf("next is %v", next)
	}
}

func expectTrue(t *testing.T, what string, is bool) {
	t.Helper()
	if !is {
		t.Errorf("%s: false", what)
	}
}

// A schedule whose body was running while the clock was set back far also takes the first
// time after the present: no worker found it in the queue to make it begin anew.
func TestSeriesWallClockSetBackDuringRun(t *testing.T) {
	for _, c := range []struct {
		ahead time.Duration // of the time for which the run was due
		anew  bool
	}{
		{delay.StepBack - time.Minute, false},
		{delay.StepBack + time.Minute, true},
		{10 * 365 * 24 * time.Hour, true},
	} {
		base := time.Now().Add(c.ahead)
		s := hourlySeries(delay.WallNanos(base))
		s.turn = turnInSlot
		if more, err := s.advance(); !more || err.err != nil {
			t.Fatalf("advance returns %t, %v", more, err)
		}
		if next := time.Unix(0, s.next); next.Before(base) != c.anew {
			t.Errorf("the clock was set back by %v: next is in %v", c.ahead, time.Until(next))
		}
	}
}

// exitsLater is a trigger that calls runtime.Goexit, but for the first time that
// it is asked.
type exitsLater struct{ asked int }

func (x *exitsLater) Next(t time.Time) time.Time {
	if x.asked++; x.asked > 1 {
		runtime.Goexit()
	}
	return t.Add(time.Hour)
}

// A trigger that calls runtime.Goexit when it is asked anew, after the wall
// clock was set back, ends its series as it does after a run.
func TestSeriesWallClockSetBackTriggerExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewScheduled(ScheduledConfig{Core: 1, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		f, err := p.On(context.Background(), new(exitsLater), func(context.Context) error { runs++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.mu.Lock()
		p.timer.queue.Renew()
		p.timer.queue.Look()
		p.timer.dispatchLocked()
		p.mu.Unlock()
		synctest.Wait()
		if err := f.Err(); err != ErrGoexit || runs != 0 {
			t.Errorf("outcome %v after %d runs, want %v after none", err, runs, ErrGoexit)
		}
		p.ShutdownNow()
		p.Close()
	})
}

// When a pool releases its alarm, and a new worker comes, parks and leaves before
// anybody has closed it, both alarms are closed in the end. Only a rare
// interleaving gets there from outside, so this test goes step by step.
func TestEveryAlarmIsClosed(t *testing.T) {
	helpers := func() int {
		buf := make([]byte, 1<<22)
		return strings.Count(string(buf[:runtime.Stack(buf, true)]), "alarm.(*waker).run(")
	}
	before := helpers()
	p := Scheduled(0)
	for range 3 {
		p.timer.listenLocked(new(worker))
		p.timer.disarmLocked() // the last worker leaves; its tidy comes late
	}
	p.tidy()
	for range 1000 { // a helper that was closed may take a moment to be gone
		if helpers() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines of alarms are left", helpers()-before)
}

// A worker that is handed a task in the very moment in which it hears the alarm
// does not keep the alarm to itself: it is set for those that are still idle.
// Between the two a worker is nowhere that a test could hold it, so one is made
// up that has received both.
func TestAlarmDuringHandOver(t *testing.T) {
	for range 64 { // in each the worker notices one of the two first, at random
		if synctest.Test(t, alarmDuringHandOver); t.Failed() {
			return
		}
	}
}

func alarmDuringHandOver(t *testing.T) {
	p, err := NewScheduled(ScheduledConfig{Core: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.ShutdownNow()
	p.Prestart(math.MaxInt)
	synctest.Wait()
	Schedule(context.Background(), p, time.Hour, func(context.Context) (int, error) { return 0, nil })

	w := &worker{wake: make(chan struct{}, 1), alarm: alarm.New()}
	defer w.alarm.Close()
	w.alarm.Set(0)
	synctest.Wait()
	w.wake <- struct{}{}
	if next := p.timer.park(w); next != stepRun {
		t.Errorf("the worker's next step is %d, though it has a task", next)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer.set == 0 {
		t.Error("the alarm was heard and is not set again, though others are idle")
	}
}
