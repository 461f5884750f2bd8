package executor

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// The wall clock can't be set in a test, and a bubble's never steps; so this
// file shows readings of a clock that does to the queue alone.

// everyHour is a Trigger at each full hour of the wall clock.
type everyHour struct{}

func (everyHour) Next(t time.Time) time.Time { return t.Truncate(time.Hour).Add(time.Hour) }

// pushed puts a task into q, due at due.
func pushed(p *Pool, q *delayQueue, due int64, wall bool, s *series) *task {
	f := newScheduledFuture(wall, func(context.Context) (struct{}, error) { return struct{}{}, nil })
	f.due = due
	if s != nil {
		f.traits().series = s
	}
	f.attach(p, context.Background(), f.due)
	q.push(entry{f})
	return f.core()
}

// While a task waits for the wall clock, that clock is looked at every 30
// seconds; a task that waits for the monotonic clock needs no look in between.
func TestWallClockIsRechecked(t *testing.T) {
	now := instant{mono: 1, wall: int64(1_000_000 * time.Hour)}
	q, p := newDelayQueue(), &Pool{clock: newClock()}
	if d, ok := q.wait(now); ok {
		t.Errorf("an empty queue waits %v, want for ever", d)
	}
	pushed(p, q, now.mono+int64(10*time.Hour), false, nil)
	if d, ok := q.wait(now); !ok || d != 10*time.Hour {
		t.Errorf("waits %v, %t for a task due in 10h", d, ok)
	}
	pushed(p, q, now.wall+int64(5*time.Hour), true, nil)
	if d, ok := q.wait(now); !ok || d != recheck {
		t.Errorf("waits %v, %t for a time of day in 5h, want %v", d, ok, recheck)
	}
	now.wall += int64(5*time.Hour - time.Second)
	if d, _ := q.wait(now); d != time.Second {
		t.Errorf("waits %v for a time of day in 1s", d)
	}
}

// A wall clock that is set forward past a time of day makes its task due at
// once, and does not move a task of the monotonic clock.
func TestWallClockSetForward(t *testing.T) {
	now := instant{mono: 1, wall: int64(1_000_000 * time.Hour)}
	q, p := newDelayQueue(), &Pool{clock: newClock()}
	q.observe(now)
	pushed(p, q, now.mono+int64(time.Hour), false, nil)
	day := pushed(p, q, now.wall+int64(2*time.Hour), true, nil)
	now.mono += int64(recheck)
	now.wall += int64(3 * time.Hour)
	q.observe(now)
	if e, ok := q.pop(now); !ok || e.task() != day {
		t.Fatalf("pop gives %v, %t, want the task of the wall clock", e.task(), ok)
	}
	if e, ok := q.pop(now); ok {
		t.Errorf("pop gives %v, a task of the monotonic clock that is not due", e.task())
	}
}

// A wall clock that is set back by less than three hours moves no schedule;
// one that is set back further makes schedules find their time anew, and
// leaves single times of day alone.
func TestWallClockSetBack(t *testing.T) {
	for _, c := range []struct {
		back  time.Duration
		stale bool
	}{
		{time.Second, false},
		{stepBack - time.Second, false},
		{stepBack, true},
		{10 * 365 * 24 * time.Hour, true},
	} {
		now := instant{mono: 1, wall: int64(1_000_000 * time.Hour)}
		q, p := newDelayQueue(), &Pool{clock: newClock()}
		q.observe(now)
		s := &series{rhythm: triggered, trigger: everyHour{}, location: time.UTC}
		cron := pushed(p, q, now.wall+int64(time.Hour), true, s)
		once := pushed(p, q, now.wall+int64(time.Minute), true, nil)
		beat := pushed(p, q, now.mono+int64(time.Hour), false, &series{rhythm: fixedRate, period: time.Hour})

		now.mono += int64(recheck)
		now.wall += int64(recheck - c.back)
		q.observe(now)
		if s.stale != c.stale {
			t.Errorf("set back by %v: stale is %t, want %t", c.back, s.stale, c.stale)
		}
		if e, ok := q.pop(now); ok != c.stale || ok && e.task() != cron {
			t.Errorf("set back by %v: pop gives %v, %t", c.back, e.task(), ok)
		}
		if q.len() != 3 && !c.stale || once.place == unplaced || beat.place == unplaced {
			t.Errorf("set back by %v: a task is gone", c.back)
		}
	}
}

// A schedule that begins anew takes the first time after the present, though
// it had already been due later than that.
func TestRestartedSeries(t *testing.T) {
	p := &Pool{clock: newClock()}
	q := newDelayQueue()
	future := wallNanos(time.Now().Add(10 * 365 * 24 * time.Hour))
	s := &series{rhythm: triggered, trigger: everyHour{}, location: time.UTC, base: future}
	cron := pushed(p, q, future, true, s)
	before := time.Now()
	more, err := s.restart(cron)
	if !more || err.err != nil {
		t.Fatalf("restart gives %t, %v", more, err)
	}
	next := time.Unix(0, s.next)
	if first := (everyHour{}).Next(before); next.Before(first) || next.After(first.Add(2*time.Hour)) {
		t.Errorf("next is %v, want %v", next, first)
	}
}

// A schedule whose body was running while the clock was set back far also takes
// the first time after the present: nobody found it in the queue to make it
// begin anew.
func TestWallClockSetBackDuringRun(t *testing.T) {
	for _, c := range []struct {
		ahead time.Duration // of the time for which the run was due
		anew  bool
	}{
		{stepBack - time.Minute, false},
		{stepBack + time.Minute, true},
		{10 * 365 * 24 * time.Hour, true},
	} {
		p := &Pool{clock: newClock()}
		base := time.Now().Add(c.ahead)
		s := &series{rhythm: triggered, trigger: everyHour{}, location: time.UTC, base: wallNanos(base)}
		f := newScheduledFuture(true, func(context.Context) (struct{}, error) { return struct{}{}, nil })
		f.traits().series = s
		f.attach(p, context.Background(), f.due)
		if more, err := s.advance(f.core()); !more || err.err != nil {
			t.Fatalf("advance gives %t, %v", more, err)
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
func TestWallClockSetBackTriggerExits(t *testing.T) {
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
		p.mu.delay.renew()
		p.spreadLocked(p.nowLocked())
		p.mu.Unlock()
		synctest.Wait()
		if _, err := f.Result(); err != ErrGoexit || runs != 0 {
			t.Errorf("outcome %v after %d runs, want %v after none", err, runs, ErrGoexit)
		}
		p.ShutdownNow()
		p.Close()
	})
}
