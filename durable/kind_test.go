package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// No more jobs of a kind run at the same time on a node than its limit, and other kinds are not held up.
func TestKindLimitHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var running, most atomic.Int64
		slow := durable.Handle(jobs, "slow", func(ctx context.Context, _ string) (string, error) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return "", nil
		}, durable.Limit(2))
		quick := durable.Handle(jobs, "quick", func(context.Context, string) (string, error) { return "", nil })
		start(t, jobs)
		synctest.Wait() // the node could have some of them at once
		ids := must(slow.AddAll(t.Context(), 0, make([]string, 20)))
		begun := time.Now()
		must(quick.Await(t.Context(), must(quick.AddAfter(t.Context(), 10*time.Millisecond, ""))))
		if d := time.Since(begun); d > 100*time.Millisecond {
			t.Errorf("the quick one took %v", d)
		}
		for _, id := range ids {
			must(slow.Await(t.Context(), id))
		}
		if most.Load() != 2 {
			t.Errorf("%d ran at the same time, want 2", most.Load())
		}
		if d := time.Since(begun); d > 11*time.Second {
			t.Errorf("20 jobs of a second, two at a time, took %v", d)
		}
	})
}

// No more jobs of a kind run at the same time on all nodes together than its global limit; as many run as that while
// there are enough, the more urgent first; and other kinds are not held up.
func TestKindGlobalLimitHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var mu sync.Mutex
		var running, most int
		var order []durable.Priority
		var slow *durable.Kind[string, string]
		var quick *durable.Kind[string, string]
		for range 3 {
			jobs := newJobs(t, store)
			slow = durable.Handle(jobs, "slow", func(ctx context.Context, _ string) (string, error) {
				j, _ := durable.Current(ctx)
				mu.Lock()
				running++
				most = max(most, running)
				order = append(order, j.Priority)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return "", nil
			}, durable.GlobalLimit(2))
			quick = durable.Handle(jobs, "quick", func(context.Context, string) (string, error) { return "", nil })
			start(t, jobs)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		low := durable.KindOf[string, string](newJobs(t, store), "slow") // from elsewhere
		ids := must(low.AddAll(t.Context(), 0, make([]string, 10), durable.WithPriority(durable.Low)))
		ids = append(ids, must(low.AddAll(t.Context(), 0, make([]string, 4),
			durable.WithPriority(durable.High)))...)
		begun := time.Now()
		for range 6 { // from here, where a node could have them at once
			ids = append(ids, must(slow.Add(t.Context(), "", durable.WithPriority(durable.Low))))
		}
		for range 50 {
			at := time.Now()
			must(quick.Await(t.Context(), must(quick.AddAfter(t.Context(), 10*time.Millisecond, ""))))
			if d := time.Since(at); d > 100*time.Millisecond {
				t.Errorf("a quick one took %v", d)
			}
		}
		for _, id := range ids {
			must(slow.Await(t.Context(), id))
		}
		if d := time.Since(begun); most != 2 || d > 13*time.Second {
			t.Errorf("20 jobs of a second took %v, up to %d at the same time; want two", d, most)
		}
		if want := slices.Repeat([]durable.Priority{durable.High}, 4); !slices.Equal(order[:4], want) {
			t.Errorf("the priorities in order were %v", order)
		}
	})
}

// Await returns what the handler returned for the job's payload.
func TestKindAwaitReturnsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		double := durable.Handle(jobs, "double", func(ctx context.Context, n int) (int, error) { return 2 * n, nil })
		start(t, jobs)
		id := must(double.AddAfter(t.Context(), time.Minute, 21))
		begun := time.Now()
		if got := must(double.Await(t.Context(), id)); got != 42 {
			t.Errorf("result is %d", got)
		}
		if d := time.Since(begun); d < time.Minute {
			t.Errorf("it was there after %v", d)
		}
	})
}

// Whatever is out of its range is an error at the call that names it, and nothing is added.
func TestKindDeclinesBadInput(t *testing.T) {
	store := memory.New()
	jobs := newJobs(t, store)
	k := durable.KindOf[any, any](jobs, "k")
	ctx := t.Context()
	for name, call := range map[string]func() (durable.ID, error){
		"key \"a\\x00b\"":        func() (durable.ID, error) { return k.Add(ctx, 1, durable.Key("a\x00b")) },
		"nil Option":             func() (durable.ID, error) { return k.Add(ctx, 1, durable.Key("key"), nil) },
		"key: it must not":       func() (durable.ID, error) { return k.Add(ctx, 1, durable.Key("")) },
		"partition: it must not": func() (durable.ID, error) { return k.Add(ctx, 1, durable.Partition("")) },
		"partition \"a\\x00b\"":  func() (durable.ID, error) { return k.Add(ctx, 1, durable.Partition("a\x00b")) },
		"the job has no key":     func() (durable.ID, error) { return k.Add(ctx, 1, durable.ReuseKey()) },
		"valid UTF-8":            func() (durable.ID, error) { return k.Add(ctx, 1, durable.Key("\xff")) },
		"has 513 bytes":          func() (durable.ID, error) { return k.Add(ctx, 1, durable.Key(strings.Repeat("k", 513))) },
		"at most 1048576":        func() (durable.ID, error) { return k.Add(ctx, strings.Repeat("x", durable.MaxPayload)) },
		"unsupported type":       func() (durable.ID, error) { return k.Add(ctx, func() {}) },
		"zero time":              func() (durable.ID, error) { return k.AddAt(ctx, time.Time{}, 1) },
		"years 1 to 9999":        func() (durable.ID, error) { return k.AddAt(ctx, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 1) },
		"rate 0s":                func() (durable.ID, error) { return k.AtFixedRate(ctx, "key", 0, 0, 1) },
		"delay -1s":              func() (durable.ID, error) { return k.WithFixedDelay(ctx, "key", 0, -time.Second, 1) },
		"trigger durable.NamedTrigger": func() (durable.ID, error) {
			return k.On(ctx, "key", struct{ durable.NamedTrigger }{}, 1)
		},
		"not in Config.Triggers": func() (durable.ID, error) { return k.On(ctx, "key", durable.NamedTrigger("x"), 1) },
		"trigger <nil>":          func() (durable.ID, error) { return k.On(ctx, "key", nil, 1) },
		"can't be kept as text":  func() (durable.ID, error) { return k.On(ctx, "key", cron.Schedule{}, 1) },
		"zone EST":               func() (durable.ID, error) { return k.On(ctx, "key", inZone("EST", -4*time.Hour), 1) },
		"zone CET":               func() (durable.ID, error) { return k.On(ctx, "key", inZone("CET", time.Hour), 1) },
		"attempts 0":             func() (durable.ID, error) { return k.Add(ctx, 1, durable.Attempts(0)) },
		"timeout 0s":             func() (durable.ID, error) { return k.Add(ctx, 1, durable.Timeout(0)) },
		"priority 2":             func() (durable.ID, error) { return k.Add(ctx, 1, durable.WithPriority(2)) },
		"grace must be positive": func() (durable.ID, error) { return k.Add(ctx, 1, durable.OnMissed(durable.Skip(0))) },
		"OnMissed does not apply": func() (durable.ID, error) {
			return k.Add(ctx, 1, durable.OnMissed(durable.Skip(time.Minute)))
		},
		"OnMissed does not apply to a job": func() (durable.ID, error) { return k.AddAt(ctx, time.Now(), 1, durable.OnMissed(durable.Coalesce())) },
		"has the key \"key\" already": func() (durable.ID, error) {
			return k.AtFixedRate(ctx, "key", 0, time.Second, 1, durable.Key("other"))
		},
		"has the key \"daily\" already": func() (durable.ID, error) {
			return k.On(ctx, "daily", cron.MustParse("@daily"), 1, durable.Key("other"))
		},
		"key: it must not be empty": func() (durable.ID, error) { return k.WithFixedDelay(ctx, "", 0, time.Second, 1) },
		"kind: it must not":         func() (durable.ID, error) { return durable.KindOf[any, any](jobs, "").Add(ctx, 1) },
		"has no transactions":       func() (durable.ID, error) { return k.AddTx(ctx, nil, 0, 1) },
	} {
		if name == "trigger durable.NamedTrigger" {
			name = "it must be a cron.Schedule"
		}
		if _, err := call(); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all := must(store.List(ctx, durable.Filter{})); len(all) != 0 {
		t.Errorf("added %+v", all)
	}
}

// Stores keep microseconds, to which times are rounded up: what would be in the year 10000 then is declined.
func TestKindTimesAfterRounding(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[int, int](jobs, "k")
	last := time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	id := must(k.AddAt(t.Context(), last, 1))
	if _, err := json.Marshal(must(jobs.Get(t.Context(), id))); err != nil {
		t.Error(err)
	}
	if _, err := k.AddAt(t.Context(), last.Add(1), 1); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("At: %v", err)
	}
	if _, err := jobs.Reschedule(t.Context(), id, last.Add(1)); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("Reschedule: %v", err)
	}
}

// inZone returns a schedule in a zone that is always the same distance from UTC.
func inZone(name string, east time.Duration) cron.Schedule {
	return must(cron.ParseIn("0 12 * * *", time.FixedZone(name, int(east.Seconds()))))
}

// Two handlers for one kind, and none at all, are mistakes of the program.
func TestHandlePanics(t *testing.T) {
	jobs := newJobs(t, memory.New())
	fn := func(context.Context, int) (int, error) { return 0, nil }
	durable.Handle(jobs, "k", fn)
	for _, handle := range []func(){
		func() { durable.Handle(jobs, "k", fn) },
		func() { durable.Handle[int, int](jobs, "nil", nil) },
		func() { durable.Handle(jobs, "limit", fn, durable.Limit(0)) },
		func() { durable.Handle(jobs, "global limit", fn, durable.GlobalLimit(0)) },
		func() { durable.Handle(jobs, "partition limit", fn, durable.PartitionLimit(0)) },
		func() { durable.Handle(jobs, "global rate", fn, durable.GlobalRate(executor.Rate{})) },
		func() { durable.Handle(jobs, "quick", fn, durable.GlobalRate(executor.Rate{PerSecond: 1e7})) },
		func() { durable.Handle(jobs, "burst", fn, durable.GlobalRate(executor.Rate{PerSecond: 1, Burst: -1})) },
		func() {
			durable.Handle(jobs, "slow", fn, durable.GlobalRate(executor.Rate{PerSecond: 1e-9, Burst: 100}))
		},
		func() {
			jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Store = bare{c.Store} })
			durable.Handle(jobs, "rate", fn, durable.GlobalRate(executor.Rate{PerSecond: 1}))
		},
		func() { durable.Handle(jobs, "backoff", fn, durable.WithBackoff(nil)) },
		func() { durable.Handle(jobs, "option", fn, nil) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, executor.ErrInvalid) {
					t.Errorf("recovered %v", err)
				}
			}()
			handle()
		}()
	}
}

// Jobs that fail at the same time are not all retried at the same time: each waits for between half of the backoff and
// all of it.
func TestBackoffSpreadsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			return "", errors.New("no")
		}, durable.WithBackoff(executor.Backoff(time.Hour, time.Hour)))
		must(k.AddAll(t.Context(), 0, make([]string, 20), durable.Attempts(2)))
		begun := time.Now()
		start(t, jobs)
		time.Sleep(2 * time.Hour)
		since := d.since(begun)
		if len(since) != 40 || since[19] != 0 {
			t.Fatalf("runs began after %v", since)
		}
		if first, last := since[20], since[39]; first < 30*time.Minute || last > time.Hour+time.Second ||
			last-first < 10*time.Minute {
			t.Errorf("retries began after %v to %v", first, last)
		}
	})
}
