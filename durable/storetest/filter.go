package storetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Of random filters each selects what it says, in pages and in counts.
func filtersAgree(b *bench) {
	all := b.zoo()
	r := rand.New(rand.NewPCG(1, 2))
	some := 0 // filters that select some of the jobs
	for range 300 {
		f := filterOf(choose(r), all)
		if problem := judge(b, b.store, all, f); problem != "" {
			b.Error(problem)
		}
		f.After, f.Limit = durable.ID{}, len(all)
		if n := len(must(b.store.List(b.Context(), f))); n > 0 && n < len(all) {
			some++
		}
	}
	if some < 50 {
		b.Errorf("%d of 300 filters select some of the jobs and not all: they are no test", some)
	}
}

// FuzzFilters is the body of a fuzz test, which compares List and Counts of a store with a plain predicate for each
// field of a Filter. s must be empty. FuzzFilters adds jobs to it, and uses it for all inputs.
func FuzzFilters(f *testing.F, s store.Store) {
	b := &bench{TB: f, store: newPartial(s)}
	all := b.zoo()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f.Add(choose(r))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		defer unexpected(t)
		if problem := judge(t, newPartial(s), all, filterOf(choices, all)); problem != "" {
			t.Error(problem)
		}
	})
}

// choose returns bytes for filterOf.
func choose(r *rand.Rand) []byte {
	choices := make([]byte, 50)
	for i := range choices {
		choices[i] = byte(r.Uint32())
		if r.IntN(3) == 0 {
			choices[i] = 0 // a filter that says something of everything selects nothing
		}
	}
	return choices
}

// What the jobs of a zoo have, and some that none has.
var (
	zooKinds    = []string{"k0", "k1", "k%"}
	zooPrefixes = []string{"a", "a/", "a/1", "b%", "é", "\U0010ffff"}
	zooTags     = []string{"all", "even", "n=1", "n=2", "n=10", "a'b\\", "é"}
	zooErrors   = []string{"boom", "a line\nand 100%", "É'\"\\"}
)

// zoo adds jobs of all sorts, and returns them in the order of their IDs.
func (b *bench) zoo() (all []durable.Job) {
	node := b.node("zoo")
	for i := range 60 {
		sort := func(j *durable.NewJob) {
			if j.Kind = zooKinds[i%2]; i%4 > 0 {
				j.Key = zooPrefixes[i%len(zooPrefixes)] + "/" + fmt.Sprint(i)
			}
			if i%3 > 0 {
				j.Tags = []string{"all", fmt.Sprint("n=", i%12)}
				if i%2 == 0 {
					j.Tags = []string{"a'b\\", "all", "even", fmt.Sprint("n=", i%12), "é"}
				}
				slices.Sort(j.Tags)
			}
			j.Priority = durable.Priority(i%3 - 1)
			j.Due = time.Date(2020, 1, 1+i/7, 0, 0, 0, 0, time.UTC)
			if i%10 == 0 { // is not claimed
				j.Due = j.Due.AddDate(30, 0, 0)
			}
		}
		j := b.add(0, sort)
		how := i % 10
		if how == 0 {
			continue
		}
		lead := time.Duration(0)
		if how == 9 {
			lead = -time.Duration(1<<62) + 1 // it is claimed, and not confirmed
		}
		jobs := b.claimBy(store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: lead, Limit: 1, Kinds: []store.KindLimit{{Kind: j.Kind, Max: 1}}})
		if len(jobs) != 1 || jobs[0].ID != j.ID {
			b.Fatalf("claimed %v, want %v", ids(jobs), j.ID)
		}
		j = jobs[0]
		end := outcome(j)
		switch how {
		case 1, 2:
			end.State, end.Error, end.Attempt = durable.Dead, "it went "+zooErrors[i%3]+" again", 3
		case 3:
			end.State, end.Error = durable.Canceled, zooErrors[i%3]
		case 4: // it waits for another attempt
			end.State, end.Error, end.Due = durable.Waiting, zooErrors[i%3], j.Due.AddDate(40, 0, 0)
		case 5:
			end.State, end.Due = durable.Waiting, j.Due.AddDate(40, 0, 0)
			b.settle(node, end)
			b.change(j.ID, durable.OpPause, durable.Applied)
			continue
		case 6:
			b.begin(node, j)
			continue
		case 7, 9:
			continue // it is confirmed, or claimed
		}
		b.settle(node, end)
	}
	all = must(b.store.List(b.Context(), store.Filter{}))
	states := make(map[durable.State]int)
	for _, j := range all {
		states[j.State]++
	}
	if len(all) != 60 || len(states) < 7 {
		b.Fatalf("%d jobs, in the states %v", len(all), states)
	}
	return all
}

// filterOf returns the filter that some bytes choose, which selects some of the jobs, mostly.
func filterOf(choices []byte, all []durable.Job) (f store.Filter) {
	choice := func(n int) int { // 0, or 1 to n
		if len(choices) == 0 {
			return 0
		}
		c := int(choices[0]) % (n + 1)
		choices = choices[1:]
		return c
	}
	one := func(of []string) string {
		if c := choice(len(of)); c > 0 {
			return of[c-1]
		}
		return ""
	}
	f.Kind, f.Prefix = one(zooKinds), one(zooPrefixes)
	for range choice(3) {
		if s := choice(9); s > 0 {
			f.States = append(f.States, durable.State(s-1))
		}
	}
	for range choice(3) {
		if tag := one(zooTags); tag != "" {
			f.Tags = append(f.Tags, tag)
		}
	}
	if f.Error = one(zooErrors); f.Error != "" && choice(1) == 1 {
		f.Error = f.Error[1:] // may be no UTF-8
		if strings.ToValidUTF8(f.Error, "") != f.Error {
			f.Error = ""
		}
	}
	near := func(of func(durable.Job) time.Time) (t time.Time) {
		if c := choice(len(all)); c > 0 {
			t = of(all[c-1]).Add([]time.Duration{0, 1, time.Microsecond, -1}[choice(3)])
		}
		return t
	}
	for _, times := range []struct {
		r  *store.TimeRange
		of func(durable.Job) time.Time
	}{
		{&f.Due, func(j durable.Job) time.Time { return j.Due }},
		{&f.Created, func(j durable.Job) time.Time { return j.Created }},
		{&f.Updated, func(j durable.Job) time.Time { return j.Updated }},
	} {
		if choice(3) == 1 {
			times.r.From = near(times.of)
		}
		if choice(3) == 1 {
			times.r.Until = near(times.of)
		}
	}
	if c := choice(len(all)); c > 0 {
		f.After = all[c-1].ID
	}
	f.Limit = choice(9)
	if n := choice(9); n > 6 {
		for range n {
			if c := choice(len(all)); c > 0 {
				f.Keys = append(f.Keys, all[c-1].Key)
			}
		}
		f.Keys = append(f.Keys, "no job has this")
		f.Keys = slices.DeleteFunc(f.Keys, func(key string) bool { return key == "" })
	}
	f.LatestFirst = choice(1) == 1
	return f
}

// judge returns what is wrong with what a filter selects of all jobs, which are in the order of their IDs.
func judge(tb testing.TB, s partial, all []durable.Job, f store.Filter) (problem string) {
	tb.Helper()
	type count struct {
		kind  string
		state durable.State
		jobs  int
		due   time.Time
	}
	counted := func(counts map[[2]string]count, kind string, state durable.State, jobs int, due time.Time) {
		at := [2]string{kind, state.String()}
		c, ok := counts[at]
		if !ok || due.Before(c.due) {
			c.due = due
		}
		counts[at] = count{kind, state, c.jobs + jobs, c.due}
	}
	var want []durable.ID
	wantCounts, counts := make(map[[2]string]count), make(map[[2]string]count)
	limit := f.Limit
	if limit == 0 {
		limit = 100
	}
	for _, j := range all {
		if !selected(f, j) {
			continue
		}
		counted(wantCounts, j.Kind, j.State, 1, j.Due)
		behind := bytes.Compare(j.ID[:], f.After[:]) > 0
		if f.LatestFirst {
			behind = f.After == durable.ID{} || bytes.Compare(j.ID[:], f.After[:]) < 0
		}
		if behind {
			want = append(want, j.ID)
		}
	}
	if f.LatestFirst {
		slices.Reverse(want)
	}
	want = want[:min(len(want), limit)]
	if got := ids(must(s.List(tb.Context(), f))); !slices.Equal(got, want) {
		problem = fmt.Sprintf("%+v: got %v, want %v\n", f, got, want)
	}
	if s.parts.Counter == nil {
		return problem
	}
	for _, c := range must(s.Counts(tb.Context(), f)) {
		counted(counts, c.Kind, c.State, c.Jobs, c.Due)
	}
	if !maps.Equal(counts, wantCounts) {
		problem += fmt.Sprintf("%+v: counts are %+v, want %+v", f, counts, wantCounts)
	}
	return problem
}

// selected reports whether a filter selects a job, field by field as their comments say.
func selected(f store.Filter, j durable.Job) bool {
	for _, tag := range f.Tags {
		found := false
		for _, has := range j.Tags {
			found = found || has == tag
		}
		if !found {
			return false
		}
	}
	if len(f.Keys) > 0 && !slices.Contains(f.Keys, j.Key) {
		return false
	}
	state := len(f.States) == 0
	for _, s := range f.States {
		state = state || s == j.State
	}
	if !state || f.Kind != "" && f.Kind != j.Kind || len(j.Key) < len(f.Prefix) || j.Key[:len(f.Prefix)] != f.Prefix ||
		!strings.Contains(j.Error, f.Error) {
		return false
	}
	for _, c := range []struct {
		r store.TimeRange
		t time.Time
	}{{f.Due, j.Due}, {f.Created, j.Created}, {f.Updated, j.Updated}} {
		if early := !c.r.From.IsZero() && c.t.Before(c.r.From); early {
			return false
		}
		if late := !c.r.Until.IsZero() && !c.t.Before(c.r.Until); late {
			return false
		}
	}
	return true
}
