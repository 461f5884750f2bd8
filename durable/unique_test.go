package durable_test

import (
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
	k := durable.Client[payload, int](jobs, "k")
	other := durable.Client[payload, int](jobs, "other")
	add := func(k *durable.Kind[payload, int], p payload) durable.ID {
		return must(k.Schedule(t.Context(), time.Hour, p, durable.UniquePayload()))
	}
	first := add(k, payload{1, 2})
	if again := add(k, payload{1, 2}); again != first {
		t.Error("the same payload was added twice")
	}
	if add(k, payload{2, 1}) == first || add(other, payload{1, 2}) == first {
		t.Error("another payload or kind stands for the first")
	}
	ids := must(k.ScheduleAll(t.Context(), time.Hour, []payload{{3, 3}, {1, 2}}, durable.UniquePayload()))
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
				add := func() durable.ID { return must(kind.Schedule(t.Context(), 3*time.Hour, "x", opts...)) }
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
			must(kind.Schedule(t.Context(), time.Minute, "x", durable.UniquePayload(), durable.Replace()))
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
		_, err := kind.ScheduleAll(t.Context(), 0, payloads, opts...)
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
