package executor

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/internal/delay"
	"github.com/executor-go/executor/internal/rhythm"
)

// A goroutine that cancels a task may have found it in a pool that has rejected it
// since, and another pool has it. The late call for the first pool removes nothing.
func TestPoolUnqueueTaskOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		end := make(chan struct{})
		busy := Func(func(context.Context) error { <-end; return nil })
		second := Fixed(1)
		pass := RejectFunc(func(ctx context.Context, r Runnable, _ *Pool) error { return second.Execute(ctx, r) })
		first, err := New(Config{Workers: 1, Queue: Bounded(1), Reject: pass})
		if err != nil {
			t.Fatal(err)
		}
		waits := NewTask(func(context.Context) (int, error) { return 1, nil })
		moves := NewTask(func(context.Context) (int, error) { return 2, nil })
		if err := errors.Join(first.Execute(ctx, busy), second.Execute(ctx, busy),
			first.Execute(ctx, waits), first.Execute(ctx, moves)); err != nil {
			t.Fatal(err)
		}
		first.unqueue(&moves.core) // late
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
	expectTrue(t, "setBack", s.setBack(delay.StepBack))
	if more, err := s.advance(); !more || err.err != nil {
		t.Fatalf("advance returns %t, %v", more, err)
	}
	next := time.Unix(0, s.next)
	if first := (everyHour{}).Next(before); next.Before(first) || next.After(first.Add(2*time.Hour)) {
		t.Errorf("next is %v, want %v", next, first)
	}
}

// A schedule that follows the clock finds its place anew after a step that moves none with fixed times.
func TestSeriesWallClockSetBackALittle(t *testing.T) {
	for _, schedule := range []string{"0 * * * *", "0 1 * * *", "@every 1h"} {
		s := hourlySeries(0)
		trigger := cron.MustParse(schedule)
		s.rhythm = rhythmOf(trigger)
		if _, err := s.rhythm.First(s.clock()); err != nil {
			t.Fatal(err)
		}
		for step, moves := range map[time.Duration]bool{
			delay.LeastStep: false, time.Minute: !trigger.Fixed(), delay.StepBack - 1: !trigger.Fixed(), delay.StepBack: true,
		} {
			if s.turn = turnWaits; s.setBack(step) != moves {
				t.Errorf("%s, set back by %v: %t", schedule, step, !moves)
			}
		}
	}
}

// A paused schedule keeps its place when the wall clock is set back, and finds it anew when it
// is resumed.
func TestSeriesWallClockSetBackWhilePaused(t *testing.T) {
	future := delay.WallNanos(time.Now().Add(10 * 365 * 24 * time.Hour))
	s := hourlySeries(future + int64(time.Hour))
	s.slot.From, s.mode = future, paused
	expectTrue(t, "no setBack", !s.setBack(delay.StepBack))
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
		loose bool          // its times are not fixed
		anew  bool
	}{
		{delay.StepBack - time.Minute, false, false},
		{delay.StepBack - time.Minute, true, true},
		{2 * time.Hour, true, true},
		{delay.LeastStep / 2, true, false},
		{delay.StepBack + time.Minute, false, true},
		{10 * 365 * 24 * time.Hour, false, true},
	} {
		base := time.Now().Add(c.ahead)
		s := hourlySeries(delay.WallNanos(base))
		s.rhythm.Loose = c.loose
		s.turn = turnInSlot
		if more, err := s.advance(); !more || err.err != nil {
			t.Fatalf("advance returns %t, %v", more, err)
		}
		if next := time.Unix(0, s.next); next.Before(base) != c.anew {
			t.Errorf("the clock was set back by %v: next is in %v", c.ahead, time.Until(next))
		}
	}
}
