package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Whatever is out of its range is an error at the call that names it, and nothing
// is added.
func TestBadInputIsAnErrorAtTheCall(t *testing.T) {
	store := memory.New()
	jobs := newJobs(t, store)
	k := durable.Client[any, any](jobs, "k")
	ctx := t.Context()
	for name, call := range map[string]func() (durable.ID, error){
		"key \"a\\x00b\"":      func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Key("a\x00b")) },
		"nil Option":           func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Key("key"), nil) },
		"key: it must not":     func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Key("")) },
		"the job has no key":   func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.ReuseKey()) },
		"valid UTF-8":          func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Key("\xff")) },
		"has 513 bytes":        func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Key(strings.Repeat("k", 513))) },
		"no more than 1048576": func() (durable.ID, error) { return k.Schedule(ctx, 0, strings.Repeat("x", durable.MaxPayload)) },
		"unsupported type":     func() (durable.ID, error) { return k.Schedule(ctx, 0, func() {}) },
		"years 1 to 9999":      func() (durable.ID, error) { return k.At(ctx, time.Time{}, 1) },
		"rate 0s":              func() (durable.ID, error) { return k.AtFixedRate(ctx, "key", 0, 0, 1) },
		"delay -1s":            func() (durable.ID, error) { return k.WithFixedDelay(ctx, "key", 0, -time.Second, 1) },
		"trigger durable.NamedTrigger": func() (durable.ID, error) {
			return k.On(ctx, "key", struct{ durable.NamedTrigger }{}, 1)
		},
		"not in Config.Triggers": func() (durable.ID, error) { return k.On(ctx, "key", durable.NamedTrigger("x"), 1) },
		"trigger <nil>":          func() (durable.ID, error) { return k.On(ctx, "key", nil, 1) },
		"can't be kept as text":  func() (durable.ID, error) { return k.On(ctx, "key", cron.Schedule{}, 1) },
		"zone EST":               func() (durable.ID, error) { return k.On(ctx, "key", inZone("EST", -4*time.Hour), 1) },
		"zone CET":               func() (durable.ID, error) { return k.On(ctx, "key", inZone("CET", time.Hour), 1) },
		"attempts 0":             func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Attempts(0)) },
		"timeout 0s":             func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.Timeout(0)) },
		"priority 2":             func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.WithPriority(2)) },
		"grace must be positive": func() (durable.ID, error) { return k.Schedule(ctx, 0, 1, durable.OnMissed(durable.Skip(0))) },
		"OnMissed does not apply": func() (durable.ID, error) {
			return k.Schedule(ctx, 0, 1, durable.OnMissed(durable.Skip(time.Minute)))
		},
		"OnMissed does not apply to a job": func() (durable.ID, error) { return k.At(ctx, time.Now(), 1, durable.OnMissed(durable.Coalesce())) },
		"has the key \"key\" already": func() (durable.ID, error) {
			return k.AtFixedRate(ctx, "key", 0, time.Second, 1, durable.Key("other"))
		},
		"has the key \"daily\" already": func() (durable.ID, error) {
			return k.On(ctx, "daily", cron.MustParse("@daily"), 1, durable.Key("other"))
		},
		"key: it must not be empty": func() (durable.ID, error) { return k.WithFixedDelay(ctx, "", 0, time.Second, 1) },
		"kind: it must not":         func() (durable.ID, error) { return durable.Client[any, any](jobs, "").Schedule(ctx, 0, 1) },
		"has no transactions":       func() (durable.ID, error) { return k.ScheduleTx(ctx, nil, 0, 1) },
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

// A limit that is negative is an error, whatever the store makes of it.
func TestNegativeLimitIsAnError(t *testing.T) {
	jobs := newJobs(t, memory.New())
	if _, err := jobs.List(t.Context(), durable.Filter{Limit: -1}); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("List: %v", err)
	}
	if _, err := jobs.History(t.Context(), durable.NewID(), 0, -1); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("History: %v", err)
	}
}

// inZone gives a schedule in a zone that is always the same distance from UTC.
func inZone(name string, east time.Duration) cron.Schedule {
	return must(cron.ParseIn("0 12 * * *", time.FixedZone(name, int(east.Seconds()))))
}

// A zone that only looks like a fixed one, or is what the name says, is kept.
func TestZoneIsKeptByItsName(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.Client[int, int](jobs, "k")
	berlin := must(time.LoadLocation("Europe/Berlin"))
	for key, s := range map[string]cron.Schedule{
		"utc": inZone("UTC", 0), "mst": inZone("MST", -7*time.Hour), "local": must(cron.ParseIn("0 12 * * *", time.Local)),
		"berlin": must(cron.ParseIn("0 12 * * *", berlin)), "named": cron.MustParse("CRON_TZ=Asia/Tokyo 0 12 * * *"),
		"every": must(cron.ParseIn("@every 1h", time.FixedZone("EST", 0))),
	} {
		id, err := k.On(t.Context(), key, s, 1)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if j := must(jobs.Get(t.Context(), id)); key != "every" && !j.Due.Equal(s.Next(j.Due.Add(-time.Second))) {
			t.Errorf("%s: the first time is %v", key, j.Due)
		}
	}
}

// A configuration that is out of its range is declined, and the field named.
func TestBadConfig(t *testing.T) {
	store := memory.New()
	for field, configs := range map[string][]durable.Config{
		"Store":    {{}},
		"Lease":    {{Store: store, Lease: time.Millisecond}, {Store: store, Lease: math.MaxInt64}},
		"Poll":     {{Store: store, Poll: time.Microsecond}, {Store: store, Poll: math.MaxInt64}},
		"Name":     {{Store: store, Name: "a\nb"}},
		"Triggers": {{Store: store, Triggers: map[string]executor.Trigger{"x": nil}}},
	} {
		for _, c := range configs {
			if _, err := durable.New(c); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "Config."+field) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// A key belongs to one kind.
func TestKeyOfAnotherKindIsAnError(t *testing.T) {
	jobs := newJobs(t, memory.New())
	must(durable.Client[int, int](jobs, "a").Schedule(t.Context(), time.Hour, 1, durable.Key("key")))
	_, err := durable.Client[int, int](jobs, "b").Schedule(t.Context(), time.Hour, 1, durable.Key("key"))
	if !errors.Is(err, durable.ErrKeyTaken) {
		t.Error(err)
	}
}

// A key belongs to a job that runs once or to one that is periodic: with that of
// the other sort a job would not be added, nor ever run.
func TestKeyOfAnotherSortIsAnError(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.Client[int, int](jobs, "k")
	must(k.Schedule(t.Context(), time.Hour, 1, durable.Key("once")))
	must(k.AtFixedRate(t.Context(), "rate", 0, time.Hour, 1))
	if _, err := k.WithFixedDelay(t.Context(), "once", 0, time.Hour, 1); !errors.Is(err, durable.ErrKeyTaken) {
		t.Errorf("a schedule with the key of a job that runs once: %v", err)
	}
	if _, err := k.Schedule(t.Context(), 0, 1, durable.Key("rate")); !errors.Is(err, durable.ErrKeyTaken) {
		t.Errorf("a job with the key of a schedule: %v", err)
	}
	must(k.WithFixedDelay(t.Context(), "rate", 0, time.Hour, 1))
}

// Two handlers for one kind, and none at all, are mistakes of the program.
func TestHandleTwicePanics(t *testing.T) {
	jobs := newJobs(t, memory.New())
	fn := func(context.Context, int) (int, error) { return 0, nil }
	durable.Handle(jobs, "k", fn)
	for _, handle := range []func(){
		func() { durable.Handle(jobs, "k", fn) },
		func() { durable.Handle[int, int](jobs, "nil", nil) },
		func() { durable.Handle(jobs, "limit", fn, durable.Limit(0)) },
		func() { durable.Handle(jobs, "global limit", fn, durable.GlobalLimit(0)) },
		func() { durable.Handle(jobs, "backoff", fn, durable.Backoff(2, 1)) },
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

// An ID is read as it is written.
func TestIDRoundTrip(t *testing.T) {
	id := durable.NewID()
	if got, err := durable.ParseID(id.String()); err != nil || got != id {
		t.Errorf("%v became %v: %v", id, got, err)
	}
	for _, s := range []string{"", "x", id.String()[1:], strings.Repeat("z", 36), id.String() + "0"} {
		if _, err := durable.ParseID(s); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// What is said of jobs and runs in JSON is read as it was written, and names that there
// are none of are not.
func TestJSONRoundTrip(t *testing.T) {
	roundTrip := func(v, got any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, got)
		}
		if back := reflect.ValueOf(got).Elem().Interface(); err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%v became %s and then %v: %v", v, text, back, err)
		}
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for s := durable.Waiting; s <= durable.Paused; s++ {
		roundTrip(durable.Job{ID: durable.NewID(), Kind: "k", State: s, Due: at, Created: at, Updated: at}, new(durable.Job))
	}
	for v := durable.RunSucceeded; v <= durable.RunSnoozed; v++ {
		roundTrip(durable.Run{Job: durable.NewID(), Occurrence: at, Started: at, Finished: at, Verdict: v}, new(durable.Run))
	}
	for _, unmarshal := range []func([]byte) error{new(durable.State).UnmarshalText, new(durable.Verdict).UnmarshalText} {
		for _, s := range []string{"", "Canceled", "Verdict(9)"} {
			if err := unmarshal([]byte(s)); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "must be one of [") {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
}

// heap is a store with much to remove.
type heap struct {
	durable.Store
	left atomic.Int64
}

func (h *heap) Prune(ctx context.Context, r durable.Retention) (int, error) {
	n := min(h.left.Load(), 2000) // as much as a store removes in one call
	h.left.Add(-n)
	return int(n), nil
}

// However much has been kept for long enough, it is removed within some minutes.
func TestPruneGoesOnWhileThereIsMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &heap{Store: memory.New()}
		store.left.Store(1_000_000)
		start(t, newJobs(t, store))
		time.Sleep(5 * time.Minute)
		if n := store.left.Load(); n > 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}
