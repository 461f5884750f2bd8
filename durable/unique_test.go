package durable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Jobs of the same kind with the same payload exist once; those of another kind or payload are others.
func TestUniquePayload(t *testing.T) {
	jobs := newJobs(t, memory.New())
	type payload struct{ A, B int }
	k := durable.KindOf[payload, int](jobs, "k")
	other := durable.KindOf[payload, int](jobs, "other")
	add := func(k *durable.Kind[payload, int], p payload) durable.ID {
		return must(k.AddAfter(t.Context(), time.Hour, p, durable.UniquePayload()))
	}
	first := add(k, payload{1, 2})
	if again := add(k, payload{1, 2}); again != first {
		t.Error("the same payload was added twice")
	}
	if add(k, payload{2, 1}) == first || add(other, payload{1, 2}) == first {
		t.Error("another payload or kind stands for the first")
	}
	ids := must(k.AddAll(t.Context(), time.Hour, []payload{{3, 3}, {1, 2}}, durable.UniquePayload()))
	if ids[1] != first || len(must(jobs.List(t.Context(), durable.Filter{}))) != 4 {
		t.Errorf("of several, IDs are %v, want the second to be %v", ids, first)
	}
}

// A key is that of one job in each period of the store's clock, whenever that is due.
func TestUniqueFor(t *testing.T) {
	for name, opts := range map[string][]durable.Option{
		"key":     {durable.Key("report")},
		"payload": {durable.UniquePayload()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				store.Shift(10*time.Hour + 30*time.Minute)
				_, kind, _ := newNode(t, store)
				opts := append(opts, durable.UniqueFor(time.Hour))
				add := func() durable.ID { return must(kind.AddAfter(t.Context(), 3*time.Hour, "x", opts...)) }
				first := add()
				time.Sleep(30*time.Minute - time.Millisecond)
				if add() != first {
					t.Error("at the end of the period it was added again")
				}
				time.Sleep(time.Millisecond)
				second := add()
				if second == first {
					t.Error("in the next period it was not added")
				}
				time.Sleep(59 * time.Minute)
				if add() != second {
					t.Error("in that period it was added twice")
				}
			})
		})
	}
}

// What becomes of the second is up to the options that go with any key.
func TestUniquePayloadReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, kind, d := newNode(t, memory.New())
		start(t, jobs)
		begun := time.Now()
		for range 5 {
			must(kind.AddAfter(t.Context(), time.Minute, "x", durable.UniquePayload(), durable.Replace()))
			time.Sleep(30 * time.Second)
		}
		time.Sleep(time.Hour)
		d.wants(t, begun, 3*time.Minute)
	})
}

// Options that contradict each other are errors, and nothing is added.
func TestUniqueChecksOptions(t *testing.T) {
	jobs, kind, _ := newNode(t, memory.New())
	all := func(payloads []string, opts ...durable.Option) error {
		_, err := kind.AddAll(t.Context(), 0, payloads, opts...)
		return err
	}
	one := func(opts ...durable.Option) error { return all([]string{"x"}, opts...) }
	_, periodic := kind.AtFixedRate(t.Context(), "key", 0, time.Hour, "", durable.UniqueFor(time.Hour))
	for name, err := range map[string]error{
		"no key":       one(durable.UniqueFor(time.Hour)),
		"period":       one(durable.UniquePayload(), durable.UniqueFor(time.Microsecond)),
		"two keys":     one(durable.Key("a"), durable.UniquePayload()),
		"long":         one(durable.Key(strings.Repeat("x", durable.MaxKey)), durable.UniqueFor(time.Hour)),
		"periodic":     periodic,
		"same payload": all([]string{"x", "y", "x"}, durable.UniquePayload()),
	} {
		if !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if added := must(jobs.List(t.Context(), durable.Filter{})); len(added) > 0 {
		t.Errorf("added were %+v", added)
	}
}

// With UniqueAmong a job that is in none of the states loses its key to the next; with UniqueWithin so does one that
// has been over for long enough.
func TestUniqueAmong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(_ context.Context, fails bool) (string, error) {
			time.Sleep(time.Minute)
			if fails {
				return "", executor.Permanent(errors.New("no"))
			}
			return "", nil
		})
		start(t, jobs)
		add := func(fails bool, opts ...durable.Option) (changed bool) {
			var r durable.InsertResult
			opts = append(opts, durable.UniquePayload(), durable.WithResult(&r))
			must(k.Add(t.Context(), fails, opts...))
			return r.Changed
		}
		wants := func(what string, got, want bool) {
			t.Helper()
			if got != want {
				t.Errorf("%s: added %v, want %v", what, got, want)
			}
		}
		notFailed := durable.UniqueAmong(durable.Waiting, durable.Running, durable.Succeeded)
		wants("first", add(false), true)
		time.Sleep(time.Second)
		wants("while it runs", add(false, notFailed), false)
		wants("while it runs, among those that wait", add(false, durable.UniqueAmong(durable.Waiting)), true)
		time.Sleep(time.Hour)
		wants("after success", add(false, notFailed), false)
		wants("less than an hour after success", add(false, durable.UniqueWithin(time.Hour)), false)
		time.Sleep(time.Minute)
		wants("an hour after success", add(false, notFailed, durable.UniqueWithin(time.Hour)), true)
		wants("one that will fail", add(true), true)
		time.Sleep(2 * time.Minute)
		wants("after a failure", add(true, notFailed), true)
		time.Sleep(2 * time.Minute)
		wants("after a failure, among all states", add(true, durable.UniqueWithin(time.Hour)), false)
	})
}

// Of calls with ReplaceTime the first payload and the last time count.
func TestReplaceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, k, d := newNode(t, memory.New())
		start(t, jobs)
		begun := time.Now()
		var last durable.ID
		for _, payload := range []string{"first", "second", "third"} {
			last = must(k.AddAfter(t.Context(), time.Minute, payload, durable.Key("key"), durable.ReplaceTime()))
			time.Sleep(30 * time.Second)
		}
		must(k.Await(t.Context(), last))
		if job := must(jobs.Get(t.Context(), last)); d.count() != 1 || string(job.Payload) != `"first"` || time.Since(begun) < 2*time.Minute {
			t.Errorf("%d runs, after %v, of %+v", d.count(), time.Since(begun), job)
		}
	})
}

// A call with ReplacePayload makes a job that waits for a signal begin anew at the time of that call, and the signal
// that is sent to it then is not lost.
func TestReplacePayloadOfAJobThatWaitsForASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, payload string) (string, error) {
			by, err := durable.Wait[string](ctx, "go")
			return payload + by, err
		})
		start(t, jobs)
		ask := func(payload string) durable.ID {
			return must(k.AddAfter(t.Context(), time.Minute, payload, durable.Key("key"), durable.ReplacePayload()))
		}
		id := ask("old")
		time.Sleep(2 * time.Minute)
		ask("new")
		must(jobs.Signal(t.Context(), id, "go", ", ann"))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if got, err := k.Await(ctx, id); got != "new, ann" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// Uniqueness that can't be is an error of the call.
func TestUniqueAmongDeclinesMistakes(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[string, string](jobs, "k")
	for what, opts := range map[string][]durable.Option{
		"no Waiting":   {durable.Key("k"), durable.UniqueAmong(durable.Running)},
		"part":         {durable.Key("k"), durable.UniqueAmong(durable.Waiting, durable.Claimed)},
		"unknown":      {durable.Key("k"), durable.UniqueAmong(durable.Waiting, 99)},
		"no key":       {durable.UniqueAmong(durable.Waiting)},
		"no key still": {durable.UniqueWithin(time.Hour)},
		"no time":      {durable.Key("k"), durable.UniqueWithin(0)},
		"parents":      {durable.Key("k"), durable.UniqueWithin(time.Hour), durable.After(durable.NewID())},
	} {
		if _, err := k.Add(t.Context(), "", opts...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, opt := range []durable.Option{durable.UniqueAmong(durable.Waiting), durable.UniqueWithin(time.Hour), durable.ReplaceTime()} {
		if _, err := k.AtFixedRate(t.Context(), "rate", 0, time.Hour, "", opt); !errors.Is(err, executor.ErrInvalid) {
			t.Error(err)
		}
	}
}
