package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// The store's time is the same, for all callers.
func nowBetween(b *bench) {
	before := b.insert(job(0), durablestore.Placement{}).Now
	now := must(b.store.Now(b.Context()))
	after := b.insert(job(0), durablestore.Placement{}).Now
	if now.Before(before) || now.After(after) {
		b.Errorf("%v is not between %v and %v", now, before, after)
	}
}

// What is not there is not found.
func getUnknown(b *bench) {
	if _, err := b.store.Get(b.Context(), durable.NewID()); !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("Get: %v", err)
	}
	if _, err := b.store.Find(b.Context(), "nothing"); !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("Find: %v", err)
	}
	if runs := must(b.store.Runs(b.Context(), durable.NewID(), 0, 10)); len(runs) != 0 {
		b.Errorf("Runs gave %v", runs)
	}
}

// Pages that follow each other give every job once, in the order of the IDs, or the latest first.
func listPages(b *bench) {
	var want []durable.ID
	for range 7 {
		want = append(want, b.add(time.Hour).ID)
	}
	slices.SortFunc(want, func(x, y durable.ID) int { return slices.Compare(x[:], y[:]) })
	for _, f := range []durable.Filter{{Limit: 3}, {Limit: 3, LatestFirst: true}} {
		var got []durable.ID
		for len(got) <= len(want) { // one that does not get on would go on for ever
			page := must(b.store.List(b.Context(), f))
			if len(page) == 0 {
				break
			}
			got = append(got, ids(page)...)
			f.After = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			b.Errorf("latest first %v: got %v, want %v", f.LatestFirst, got, want)
		}
		slices.Reverse(want)
	}
}

// A filter selects by what it has: by kind, by state, and by the beginning of a key,
// in which no character is special.
func listFilters(b *bench) {
	var all []durable.Job
	for i, k := range []string{"a%c", "abc", "a_c", "A%c", ""} {
		all = append(all, b.add(time.Hour, key(k), func(j *durable.NewJob) { j.Kind = fmt.Sprint("kind", i%2) }))
	}
	b.change(all[1].ID, durable.OpCancel, durable.Applied)
	b.change(all[2].ID, durable.OpPause, durable.Applied)
	list := func(f durable.Filter) []durable.Job { return must(b.store.List(b.Context(), f)) }
	b.same(list(durable.Filter{Prefix: "a%"}), all[0])
	b.same(list(durable.Filter{Prefix: "a"}), all[:3]...)
	b.same(list(durable.Filter{Kind: "kind1"}), all[1], all[3])
	b.same(list(durable.Filter{States: []durable.State{durable.Canceled, durable.Paused}}), all[1], all[2])
	b.same(list(durable.Filter{Kind: "kind0", States: []durable.State{durable.Waiting}, Prefix: "a"}), all[0])
	b.same(list(durable.Filter{Kind: "nothing"}))
	b.same(list(durable.Filter{Limit: math.MaxInt}), all...)
}

// A list takes any time as a bound, also one beyond those that jobs can have.
func listAnyTime(b *bench) {
	past, future := time.Unix(-1<<62, 0), time.Unix(1<<62, 0)
	j := b.add(time.Hour)
	for _, c := range []struct {
		r    durablestore.TimeRange
		want int
	}{
		{durablestore.TimeRange{From: past}, 1}, {durablestore.TimeRange{Until: future}, 1}, {durablestore.TimeRange{From: past, Until: future}, 1},
		{durablestore.TimeRange{From: future}, 0}, {durablestore.TimeRange{Until: past}, 0},
		{durablestore.TimeRange{From: j.Due, Until: future}, 1}, {durablestore.TimeRange{From: j.Due.Add(time.Nanosecond)}, 0},
	} {
		if got := must(b.store.List(b.Context(), durable.Filter{Due: c.r})); len(got) != c.want {
			b.Errorf("due from %v until %v there are %d jobs, want %d", c.r.From, c.r.Until, len(got), c.want)
		}
	}
}

// A prefix is found whatever its last character is, and finds all keys that begin
// with it and no other.
func listPrefixes(b *bench) {
	prefixes := []string{"a", "a~", "\u00e9", "\u00ff", "\u07ff", "\ud7ff", "\ue000", "\uffff", "\U0001f600", "\U0010ffff", "a\U0010ffff", "\U0010ffff\U0010ffff"}
	keys := make(map[durable.ID]string)
	for _, p := range prefixes {
		for _, k := range []string{p, p + "!", p + "\U0010ffff!"} {
			keys[b.add(time.Hour, key(k)).ID] = k
		}
	}
	for _, p := range prefixes {
		var want []string
		for _, k := range keys {
			if strings.HasPrefix(k, p) {
				want = append(want, k)
			}
		}
		var got []string
		for _, j := range must(b.store.List(b.Context(), durable.Filter{Prefix: p})) {
			got = append(got, j.Key)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			b.Errorf("%q: got %q, want %q", p, got, want)
		}
	}
}

// What is confirmed and what runs are two states, in lists and counts.
func listBegun(b *bench) {
	node := b.node("a")
	runs := b.running(node)
	b.add(-time.Second)
	waits := b.claimOne(node)
	done := b.running(node)
	b.settle(node, outcome(done))
	counts := map[durable.State]int{}
	for _, c := range must(b.store.Counts(b.Context(), durable.Filter{})) {
		counts[c.State] = c.Jobs
	}
	for _, test := range []struct {
		states []durable.State
		want   []durable.Job
	}{
		{[]durable.State{durable.Running}, []durable.Job{runs}},
		{[]durable.State{durable.Confirmed}, []durable.Job{waits}},
		{[]durable.State{durable.Running, durable.Confirmed, durable.Running}, []durable.Job{runs, waits}},
		{[]durable.State{durable.Confirmed, durable.Succeeded}, []durable.Job{waits, done}},
		{slices.Repeat([]durable.State{durable.Succeeded}, 70_000), []durable.Job{done}},
		{[]durable.State{200}, nil},
	} {
		b.same(must(b.store.List(b.Context(), durable.Filter{States: test.states})), test.want...)
	}
	want := map[durable.State]int{durable.Running: 1, durable.Confirmed: 1, durable.Succeeded: 1}
	if !maps.Equal(counts, want) {
		b.Errorf("counts are %v", counts)
	}
}

// A prune forgets no run that goes on.
func pruneKeepsBegun(b *bench) {
	node := b.node("a")
	j := b.running(node)
	must(b.store.Prune(b.Context(), durable.Retention{Succeeded: 1, Dead: 1, History: 1}))
	if got := b.state(j.ID, durable.Running); got.Attempt != 1 {
		b.Errorf("job is %+v", got)
	}
}

// The kinds are those of jobs that wait.
func kindsWait(b *bench) {
	for _, k := range []string{"b", "a", "b", "c"} {
		j := b.add(time.Hour, func(j *durable.NewJob) { j.Kind = k })
		if k == "c" {
			b.change(j.ID, durable.OpCancel, durable.Applied)
		}
	}
	if got := must(b.store.Kinds(b.Context())); !slices.Equal(got, []string{"a", "b"}) {
		b.Errorf("kinds are %v", got)
	}
}

// Each job counts once, in its kind and state.
func countsAll(b *bench) {
	if got := must(b.store.Counts(b.Context(), durable.Filter{})); len(got) != 0 {
		b.Errorf("an empty store counts %+v", got)
	}
	b.add(2*time.Hour, key("key"))
	first := b.add(time.Hour)
	other := b.add(3*time.Hour, func(j *durable.NewJob) { j.Kind = "other" })
	canceled := b.add(time.Hour)
	b.change(canceled.ID, durable.OpCancel, durable.Applied)
	want := map[durable.Count]bool{
		{Kind: "k", State: durable.Waiting, Jobs: 2, Due: first.Due}:     true,
		{Kind: "k", State: durable.Canceled, Jobs: 1, Due: canceled.Due}: true,
		{Kind: "other", State: durable.Waiting, Jobs: 1, Due: other.Due}: true,
	}
	got := must(b.store.Counts(b.Context(), durable.Filter{}))
	for _, c := range got {
		if !want[c] {
			b.Errorf("counts %+v", c)
		}
		delete(want, c)
	}
	if len(want) > 0 {
		b.Errorf("counts %+v, without %+v", got, want)
	}
}

// What was kept for long enough goes, with its history; the rest stays. A key is
// free again then.
func prune(b *bench) {
	node := b.node("a")
	done := b.running(node, key("key"))
	b.settle(node, outcome(done))
	canceled, waiting := b.add(time.Hour), b.add(time.Hour)
	b.change(canceled.ID, durable.OpCancel, durable.Applied)

	if n := must(b.store.Prune(b.Context(), durable.Retention{})); n != 0 {
		b.Errorf("removed %d rows that are to be kept for ever", n)
	}
	b.ok(errOf(b.store.Prune(b.Context(), durable.Retention{Succeeded: time.Hour, Dead: time.Hour})))
	b.state(done.ID, durable.Succeeded)
	b.pass() // a clock may tick once in a millisecond
	b.ok(errOf(b.store.Prune(b.Context(), durable.Retention{Succeeded: time.Nanosecond, Dead: time.Hour})))
	if _, err := b.store.Get(b.Context(), done.ID); !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("the job that succeeded: %v", err)
	}
	if runs := must(b.store.Runs(b.Context(), done.ID, 0, 10)); len(runs) != 0 {
		b.Errorf("its history is %v", runs)
	}
	b.state(canceled.ID, durable.Canceled)
	b.state(waiting.ID, durable.Waiting)
	if again := b.add(time.Hour, key("key")); again.ID == done.ID {
		b.Error("the key was not free")
	}
}

// A prune returns how many jobs and runs it has removed, be it jobs of which no run was
// kept.
func pruneCounts(b *bench) {
	b.store.history() // what is removed of that is counted
	node := b.node("a")
	for range 3 {
		b.settle(node, outcome(b.running(node)))
	}
	j := b.running(node)
	b.ok(errOf(b.store.Commit(b.Context(), durablestore.CommitRequest{Node: node, Outcomes: []durable.Outcome{outcome(j)}})))
	b.change(b.add(time.Hour).ID, durable.OpCancel, durable.Applied)
	b.pass()
	for _, want := range []int{8, 0} {
		if n := must(b.store.Prune(b.Context(),
			durable.Retention{Succeeded: time.Microsecond, Dead: time.Microsecond})); n != want {
			b.Errorf("it says %d, want %d", n, want)
		}
	}
}

// What ended longer ago than the history is kept is removed from it, whenever it was
// added, and be the job there still; what ended later stays.
func pruneHistory(b *bench) {
	b.store.history() // what is removed of that is counted
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"))
	now := must(b.store.Now(b.Context()))
	for _, test := range []struct {
		ago  time.Duration
		left []int64
	}{
		{2 * time.Hour, nil}, {time.Hour, []int64{2}}, {3 * time.Hour, []int64{2}}, {0, []int64{4, 2}},
	} {
		o := next(j, j.Due)
		o.Run.Finished = now.Add(-test.ago)
		b.settle(node, o)
		j = b.claim(node)[0]
		removed := 1
		if test.ago < 90*time.Minute {
			removed = 0
		}
		if n := must(b.store.Prune(b.Context(), durable.Retention{History: 90 * time.Minute})); n != removed {
			b.Errorf("removed %d runs, want %d", n, removed)
		}
		var left []int64
		for _, run := range must(b.store.Runs(b.Context(), j.ID, 0, 10)) {
			left = append(left, run.Seq)
		}
		if !slices.Equal(left, test.left) {
			b.Errorf("runs %v are left, want %v", left, test.left)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }
