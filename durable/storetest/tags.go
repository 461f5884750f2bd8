package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

func tags(tags ...string) func(*durable.NewJob) {
	return func(j *durable.NewJob) { j.Tags = tags }
}

// listed are the jobs with all of the tags, by List.
func (b *bench) listed(tags ...string) []durable.Job {
	b.Helper()
	return must(b.store.List(b.Context(), store.Filter{Tags: tags}))
}

// A job has its tags wherever it is read, and is found by each of them, in which no character is special, and not by a
// part of one.
func tagsKept(b *bench) {
	node := b.node("a")
	all := []string{"a b", "customer=17", `it's "q" \ %_`, "übel", "\u00e9\U0001f600"}
	j := b.insert(job(-time.Second, tags(all...)), store.Placement{})
	plain := b.add(time.Hour)
	if !slices.Equal(j.Tags, all) || plain.Tags != nil {
		b.Fatalf("inserted with %q, and with %q", j.Tags, plain.Tags)
	}
	if claimed := b.claimOne(node); !slices.Equal(claimed.Tags, all) {
		b.Errorf("claimed with %q", claimed.Tags)
	}
	if got := b.get(j.ID); !slices.Equal(got.Tags, all) || b.get(plain.ID).Tags != nil {
		b.Errorf("read with %q", got.Tags)
	}
	for _, tag := range all {
		b.same(b.listed(tag), j.Job)
	}
	b.same(b.listed(all...), j.Job)
	b.same(b.listed(all[0], all[0]), j.Job)
	for _, tag := range []string{"customer=1", "customer=", "17", "a", "ÜBEL", "a b\ncustomer=17", "%"} {
		b.same(b.listed(tag))
	}
	b.same(b.listed(all[0], "another"))
}

// Of several jobs that are added together each has its own tags, and one that is added again has them once.
func tagsOfSeveral(b *bench) {
	var jobs []durable.NewJob
	for i := range 5 {
		jobs = append(jobs, job(time.Hour, tags("all", fmt.Sprint("n=", i))))
	}
	jobs = append(jobs, job(time.Hour))
	for range 2 {
		must(b.store.Insert(b.Context(), jobs, store.Placement{}))
	}
	if n := len(b.listed("all")); n != 5 {
		b.Errorf("%d jobs have the tag of all", n)
	}
	for i := range 5 {
		if got := b.listed(fmt.Sprint("n=", i)); len(got) != 1 || got[0].ID != jobs[i].ID {
			b.Errorf("job %d: found %v", i, ids(got))
		}
	}
}

// Jobs with a tag come in pages, in the order of their IDs.
func tagsInPages(b *bench) {
	var want []durable.ID
	for i := range 9 {
		j := b.add(time.Hour, tags("t", fmt.Sprint(i%2)))
		if b.add(time.Hour, tags("other", fmt.Sprint(i%2))); i%2 == 0 {
			want = append(want, j.ID)
		}
	}
	slices.SortFunc(want, func(x, y durable.ID) int { return slices.Compare(x[:], y[:]) })
	var got []durable.ID
	for f := (store.Filter{Tags: []string{"0", "t"}, Limit: 2}); len(got) <= len(want); f.After = got[len(got)-1] {
		page := must(b.store.List(b.Context(), f))
		if len(page) == 0 {
			break
		}
		got = append(got, ids(page)...)
	}
	if !slices.Equal(got, want) {
		b.Errorf("got %v, want %v", got, want)
	}
}

// A periodic job that is registered with other tags has these, and is found by them alone; one that is registered with
// the same has not changed.
func tagsOfPeriodicChange(b *bench) {
	register := func(all ...string) durable.InsertResult {
		return b.insert(job(time.Hour, key("key"), every("1h0m0s"), tags(all...)), store.Placement{})
	}
	first := register("a", "b")
	if again := register("a", "b"); again.Changed {
		b.Error("the same tags are a change")
	}
	if other := register("b", "c"); !other.Changed || !other.Due.Equal(first.Due) {
		b.Errorf("other tags: %+v", other)
	}
	b.same(b.listed("a"))
	b.same(b.listed("b", "c"), first.Job)
	if none := register(); !none.Changed || b.get(first.ID).Tags != nil {
		b.Errorf("no tags: %+v", none)
	}
	b.same(b.listed("b"))
}

// A job that is replaced takes on the tags of the new one.
func tagsReplaced(b *bench) {
	first := b.add(time.Hour, key("key"), tags("old"))
	b.insert(job(time.Hour, key("key"), tags("new"), func(j *durable.NewJob) { j.ReuseKey, j.Replace = true, true }), store.Placement{})
	b.same(b.listed("old"))
	b.same(b.listed("new"), first)
}

// A job without its key still has its tags.
func tagsOutlastKey(b *bench) {
	first := b.add(time.Hour, key("key"), tags("t"))
	b.change(first.ID, durable.OpCancel, durable.Applied)
	second := b.add(time.Hour, key("key"), tags("t"), func(j *durable.NewJob) { j.ReuseKey = true })
	b.same(b.listed("t"), first, second)
}

// What has ended, was freed or was changed is found by its tags as before.
func tagsOutlastRuns(b *bench) {
	node := b.node("a")
	j := b.running(node, key("key"), every("1h0m0s"), tags("t"))
	b.settle(node, next(j, j.Due.Add(time.Hour)))
	b.change(j.ID, durable.OpPause, durable.Applied)
	b.change(j.ID, durable.OpResume, durable.Applied)
	b.changeBy(j.ID, durable.Change{Op: durable.OpReschedule, Due: j.Due}, durable.Applied)
	held := b.claimOne(node)
	b.ok(b.store.Leave(b.Context(), node))
	if got := b.state(j.ID, durable.Waiting); held.ID != j.ID || !slices.Equal(got.Tags, []string{"t"}) {
		b.Errorf("job is %+v", got)
	}
	b.same(b.listed("t"), j)
}

// What is deleted or pruned is not found by its tags, and takes none from others.
func tagsGo(b *bench) {
	left := b.add(time.Hour, tags("t", "left"))
	deleted, pruned := b.add(time.Hour, tags("t")), b.add(time.Hour, tags("t", "u"))
	b.change(deleted.ID, durable.OpDelete, durable.Applied)
	b.change(pruned.ID, durable.OpCancel, durable.Applied)
	b.pass()
	must(b.store.Prune(b.Context(), durable.Retention{Dead: time.Nanosecond}))
	b.same(b.listed("t"), left)
	b.same(b.listed("u"))
}

// Jobs of a filter are counted, of each kind in each state, whatever its After and Limit.
func countsFiltered(b *bench) {
	var last durable.Job
	for i := range 6 {
		last = b.add(time.Duration(i)*time.Hour, tags("t", fmt.Sprint("n=", i%2)), func(j *durable.NewJob) { j.Kind = fmt.Sprint("k", i%2) })
		b.add(time.Hour)
	}
	b.change(last.ID, durable.OpCancel, durable.Applied)
	count := func(f store.Filter) (n [2]int) { // waiting and canceled
		f.After, f.Limit = last.ID, 1
		for _, c := range must(b.store.Counts(b.Context(), f)) {
			switch c.State {
			case durable.Waiting:
				n[0] += c.Jobs
			case durable.Canceled:
				n[1] += c.Jobs
			}
		}
		return n
	}
	for _, test := range []struct {
		filter store.Filter
		want   [2]int
	}{
		{store.Filter{Tags: []string{"t"}}, [2]int{5, 1}},
		{store.Filter{Tags: []string{"t", "n=1"}}, [2]int{2, 1}},
		{store.Filter{Tags: []string{"t"}, Kind: "k0"}, [2]int{3, 0}},
		{store.Filter{Kind: "k", States: []durable.State{durable.Waiting}}, [2]int{6, 0}},
		{store.Filter{Tags: []string{"nobody's"}}, [2]int{}},
	} {
		if got := count(test.filter); got != test.want {
			b.Errorf("%+v: %d wait and are canceled, want %d", test.filter, got, test.want)
		}
	}
}

// A job that is added in a transaction has its tags with the commit.
func scheduleTxTags(t *testing.T, open func(*testing.T) (durable.Store, DB)) {
	s, db := open(t)
	k := durable.KindOf[int, int](newJobs(t, s), "k")
	for _, commit := range []bool{false, true} {
		tx := must(db.Begin(t.Context()))
		must(k.AddTx(t.Context(), tx, time.Hour, 1, durable.WithTags("t", "u")))
		if commit {
			must(0, tx.Commit())
		} else {
			must(0, tx.Rollback())
		}
		found := must(s.List(t.Context(), store.Filter{Tags: []string{"t", "u"}}))
		if (len(found) == 1) != commit {
			t.Errorf("commit %v: %d jobs", commit, len(found))
		}
	}
}
