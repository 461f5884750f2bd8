package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Tags that can't be kept are an error that names what is wrong, and the job is not added.
func TestWithTagsDeclinesWhatCannotBeKept(t *testing.T) {
	jobs := newJobs(t, memory.New())
	k := durable.KindOf[int, int](jobs, "k")
	var many []string
	for i := range durable.MaxTags + 1 {
		many = append(many, fmt.Sprint("n=", i))
	}
	for says, tags := range map[string][]string{
		"tags: the job has 33; at most 32 are allowed":  many,
		"tag: it must not be empty":                     {"a", ""},
		"it has 129 bytes; at most 128 are allowed":     {strings.Repeat("x", durable.MaxTag+1)},
		`tag "\xff": it must be valid UTF-8`:            {"\xff"},
		`tag "a\nb": it must have no control character`: {"a\nb"},
	} {
		_, err := k.Add(t.Context(), 1, durable.WithTags(tags...))
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if all := must(jobs.List(t.Context(), durable.Filter{})); len(all) > 0 {
		t.Errorf("there are %d jobs", len(all))
	}
	most := append(many[:durable.MaxTags], many[0])
	id := must(k.AddAfter(t.Context(), time.Hour, 1, durable.WithTags(most...)))
	if got := must(jobs.Get(t.Context(), id)).Tags; len(got) != durable.MaxTags {
		t.Errorf("the most: %q", got)
	}
}

// The tags of several options are in order, each once, also in the handler, where those that are name=value have
// values.
func TestWithTagsReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var seen durable.Job
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			seen, _ = durable.Current(ctx)
			return 0, nil
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), 1, durable.WithTags("night", "customer=17"), durable.WithTags("customer=17", "a=")))
		must(k.Await(t.Context(), id))
		if want := []string{"a=", "customer=17", "night"}; !slices.Equal(seen.Tags, want) {
			t.Errorf("the handler has %q, want %q", seen.Tags, want)
		}
		for name, want := range map[string]string{"customer": "17", "a": "", "night": "no", "custom": "no", "": "no"} {
			value, ok := seen.Tag(name)
			if !ok {
				value = "no"
			}
			if value != want {
				t.Errorf("tag %q is %q, want %q", name, value, want)
			}
		}
	})
}

// What Adding sets as Tags is with the job, in order, each once; what can't be kept is the error of the call.
func TestHooksAddingSetsTags(t *testing.T) {
	more := "tenant=b"
	jobs := newJobs(t, memory.New(), withHooks(durable.Hooks{
		Adding: func(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
			for i := range jobs {
				jobs[i].Tags = append(jobs[i].Tags, more, "a")
			}
			return add(ctx)
		},
	}))
	k := durable.KindOf[int, int](jobs, "k")
	id := must(k.AddAfter(t.Context(), time.Hour, 1, durable.WithTags("x", "a")))
	if got := must(jobs.Get(t.Context(), id)).Tags; !slices.Equal(got, []string{"a", "tenant=b", "x"}) {
		t.Errorf("the tags are %q", got)
	}
	more = "\n"
	if _, err := k.AddAfter(t.Context(), time.Hour, 1); !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("a tag that can't be kept: %v", err)
	}
}

// The same filter lists, counts and changes the same jobs: here those of a customer that died since a time, by their
// error.
func TestFilterIsTheSameForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		text := "connection refused"
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
			return 0, executor.Permanent(errors.New(text))
		})
		start(t, jobs)
		die := func(tags ...string) durable.ID {
			id := must(k.Add(t.Context(), 1, durable.WithTags(tags...)))
			k.Await(t.Context(), id)
			return id
		}
		die("customer=17")
		time.Sleep(time.Hour)
		synctest.Wait()
		since := time.Now()
		want := []durable.ID{die("customer=17"), die("customer=17", "night")}
		die("customer=18")
		text = "no such user"
		die("customer=17")
		must(k.AddAfter(t.Context(), time.Hour, 1, durable.WithTags("customer=17")))
		f := durable.Filter{Kind: "k", States: []durable.State{durable.Dead}, Tags: []string{"customer=17"}, Error: "refused",
			Updated: durable.TimeRange{From: since}}
		counts := must(jobs.Counts(t.Context(), f))
		if len(counts) != 1 || counts[0].Jobs != len(want) || counts[0].State != durable.Dead {
			t.Errorf("counts are %+v", counts)
		}
		var got []durable.ID
		for _, j := range must(jobs.List(t.Context(), f)) {
			got = append(got, j.ID)
		}
		slices.SortFunc(want, func(a, b durable.ID) int { return bytes.Compare(a[:], b[:]) })
		if !slices.Equal(got, want) {
			t.Errorf("the list has %v, want %v", got, want)
		}
		if done := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpDelete}, f)); done.Applied != len(want) || done.More {
			t.Errorf("deleted %+v", done)
		}
		if left := must(jobs.Counts(t.Context(), f)); len(left) > 0 {
			t.Errorf("%+v are left", left)
		}
	})
}

// A filter with a text that no job can have selects none, of whatever else it has.
func TestFilterOfImpossibleTextSelectsNone(t *testing.T) {
	jobs := newJobs(t, memory.New())
	must(durable.KindOf[int, int](jobs, "k").AddAfter(t.Context(), time.Hour, 1, durable.WithTags("a")))
	for _, f := range []durable.Filter{{Tags: []string{"a", ""}}, {Tags: []string{"a\x00"}}, {Tags: []string{"\xff"}},
		{Error: "\x00"}, {Error: "\xff"}} {
		if got := must(jobs.List(t.Context(), f)); len(got) > 0 {
			t.Errorf("%+v: %d jobs", f, len(got))
		}
		if got := must(jobs.Counts(t.Context(), f)); len(got) > 0 {
			t.Errorf("%+v: counts are %+v", f, got)
		}
		if done := must(jobs.ChangeAll(t.Context(), durable.Change{Op: durable.OpDelete}, f)); done.Jobs() > 0 {
			t.Errorf("%+v: changed %+v", f, done)
		}
	}
}
