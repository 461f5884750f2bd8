package executor_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/internal/testkit"
)

// submissions are the ways to give options to a task. Each returns the error of the submission.
var submissions = map[string]struct {
	kind   int // 0 runs at once, 1 when due, 2 again and again
	submit func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error
}{
	"Submit": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.Submit(ctx, s, value(1), opts...))
	}},
	"NewFuture": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.NewFuture(value(1), opts...))
	}},
	"CompletionService": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.NewCompletionService[int](s).Submit(ctx, value(1), opts...))
	}},
	"Go": {0, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return s.Go(ctx, func(context.Context) error { return nil }, opts...)
	}},
	"Schedule": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.Schedule(ctx, s, time.Hour, value(1), opts...))
	}},
	"After": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.After(ctx, time.Hour, nop, opts...)
		return err
	}},
	"At": {1, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		return outcomeOf(executor.At(ctx, s, time.Now().Add(time.Hour), value(1), opts...))
	}},
	"AtFixedRate": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.AtFixedRate(ctx, time.Hour, time.Hour, func(context.Context) error { return nil }, opts...)
		return err
	}},
	"WithFixedDelay": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.WithFixedDelay(ctx, time.Hour, time.Hour, func(context.Context) error { return nil }, opts...)
		return err
	}},
	"On": {2, func(ctx context.Context, s *executor.ScheduledPool, opts ...executor.Option) error {
		_, err := s.On(ctx, eachHour{}, func(context.Context) error { return nil }, opts...)
		return err
	}},
}

// eachHour is a Trigger.
type eachHour struct{}

func (eachHour) Next(t time.Time) time.Time { return t.Add(time.Hour) }

// outcomeOf returns the error of a task that could not be submitted.
func outcomeOf(f executor.Awaitable) error {
	if f.State() != executor.Failed {
		return nil
	}
	return f.Err()
}

// Each option applies to the kinds of tasks that its documentation names. For another kind, or with
// a value out of range, it is an error that names the option.
func TestOptionAppliesTo(t *testing.T) {
	far := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	const never = 3
	options := []struct {
		name  string
		value executor.Option
		kind  int    // the least kind of task that takes it
		not   string // the submission of that kind that does not take it, either
	}{
		{"Named", executor.Named("x"), 0, ""},
		{"Named", executor.Named(""), 0, ""},
		{"Priority", executor.Priority(math.MaxInt), 0, ""},
		{"Priority", executor.Priority(math.MinInt), 0, ""},
		{"Timeout", executor.Timeout(1), 0, ""},
		{"Timeout", executor.Timeout(math.MaxInt64), 0, ""},
		{"Timeout", executor.Timeout(0), never, ""},
		{"Timeout", executor.Timeout(-1), never, ""},
		{"Timeout", executor.Timeout(math.MinInt64), never, ""},
		{"Jitter", executor.Jitter(1), 1, ""},
		{"Jitter", executor.Jitter(math.MaxInt64), 1, ""},
		{"Jitter", executor.Jitter(0), never, ""},
		{"Jitter", executor.Jitter(-1), never, ""},
		{"Times", executor.Times(1), 2, ""},
		{"Times", executor.Times(math.MaxInt), 2, ""},
		{"Times", executor.Times(0), never, ""},
		{"Times", executor.Times(-1), never, ""},
		{"Until", executor.Until(far), 2, ""},
		{"Until", executor.Until(time.Time{}), never, ""},
		{"Until", executor.Until(time.Unix(0, 0)), never, ""}, // before the first run
		{"SkipMissed", executor.SkipMissed(), 2, "WithFixedDelay"},
		{"CatchUp", executor.CatchUp(), 2, "WithFixedDelay"},
		{"RunMissedOnce", executor.RunMissedOnce(), 2, "WithFixedDelay"},
		{"StartWithin", executor.StartWithin(1), 2, ""},
		{"StartWithin", executor.StartWithin(0), never, ""},
		{"StartWithin", executor.StartWithin(-1), never, ""},
		{"StartPaused", executor.StartPaused(), 2, ""},
		{"ContinueAfterPanic", executor.ContinueAfterPanic(), 2, ""},
		{"nil Option", nil, never, ""},
	}
	synctest.Test(t, func(t *testing.T) {
		s := testkit.Closing(t, executor.Scheduled(1))
		accepted := int64(0)
		for name, sub := range submissions {
			for _, o := range options {
				err := sub.submit(t.Context(), s, o.value)
				if sub.kind >= o.kind && name != o.not {
					if name != "NewFuture" {
						accepted++
					}
					if err != nil {
						t.Errorf("%s with %s: %v", name, o.name, err)
					}
					continue
				}
				if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), o.name) ||
					!strings.HasPrefix(err.Error(), "executor: ") {
					t.Errorf("%s with %s: %v", name, o.name, err)
				}
			}
		}
		if st := s.Stats(); st.Submitted != accepted {
			t.Errorf("%d submitted, want %d", st.Submitted, accepted)
		}
	})
}

// The error of an option that does not apply names the calls that it is for.
func TestOptionErrorNamesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newScheduled(t, executor.ScheduledConfig{Core: 1})
		for _, c := range []struct {
			by   string
			opt  executor.Option
			want string
		}{
			{"Submit", executor.Times(2), "Times does not apply to a task that runs once and at once; it is for AtFixedRate, WithFixedDelay and On"},
			{"Schedule", executor.Times(2), "Times does not apply to a task that runs once; it is for AtFixedRate, WithFixedDelay and On"},
			{"Go", executor.Jitter(1), "Jitter does not apply to a task that runs once and at once; it is for Schedule, After, At, AtFixedRate, WithFixedDelay and On"},
		} {
			if err := submissions[c.by].submit(t.Context(), pool, c.opt); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.by, err, c.want)
			}
		}
	})
}

// Of several invalid options the first is the error.
func TestOptionFirstMistakeCounts(t *testing.T) {
	f := executor.NewFuture(value(1), executor.Named("x"), executor.Timeout(-1), executor.Times(0))
	if err := f.Err(); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "Timeout(-1ns)") {
		t.Errorf("%v", err)
	}
}

// Of two options of the same name the last counts.
func TestOptionLastCounts(t *testing.T) {
	f := executor.NewFuture(value(1), executor.Named("a"), executor.Named("b"))
	if f.Name() != "b" {
		t.Errorf("Name: %q", f.Name())
	}
}

// The name of a task is that of its future. The default is empty.
func TestOptionNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.Closing(t, executor.Scheduled(1))
		named := executor.Named("n")
		if n := executor.Submit(t.Context(), s, value(1), named).Name(); n != "n" {
			t.Errorf("Submit: %q", n)
		}
		if n := executor.Schedule(t.Context(), s, time.Hour, value(1), named).Name(); n != "n" {
			t.Errorf("Schedule: %q", n)
		}
		if n := executor.NewPromise[int]().Name(); n != "" {
			t.Errorf("NewPromise: %q", n)
		}
	})
}
