package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// after makes a job wait for all of these.
func after(parents ...durable.ID) func(*durable.NewJob) {
	return func(j *durable.NewJob) { j.After = durablestore.After{Parents: parents, Need: len(parents)} }
}

// afterSome makes a job wait for need of these.
func afterSome(need int, parents ...durable.ID) func(*durable.NewJob) {
	return func(j *durable.NewJob) { j.After = durablestore.After{Parents: parents, Need: need} }
}

// anyway lets parents that failed count.
func anyway(j *durable.NewJob) { j.After.Anyway = true }

// child adds a job with parents.
func (b *bench) child(change ...func(*durable.NewJob)) durable.ID {
	b.Helper()
	b.store.graph()
	return b.add(-time.Second, change...).ID
}

// end ends a run in a state.
func (b *bench) end(node string, j durable.Job, state durable.State) {
	b.Helper()
	o := outcome(j)
	o.State = state
	if done := b.settle(node, o); !done[0] {
		b.Fatal("the outcome was refused")
	}
}

// counts holds how many parents of a job have ended.
func (b *bench) counts(id durable.ID, total, succeeded, failed int) {
	b.Helper()
	c := must(b.store.CountParents(b.Context(), id))
	if c.Total != total || c.Succeeded != succeeded || c.Failed != failed {
		b.Errorf("the counts are %+v, want %d, %d succeeded, %d failed", c, total, succeeded, failed)
	}
}

// A job with parents is blocked, and no node can claim it, until the last of them has succeeded. Then it is due at once
// if its time has passed, and knows the results of its parents in the order in which they were named.
func graphReleases(b *bench) {
	b.store.graph()
	node := b.node("a")
	parents := []durable.Job{b.running(node), b.running(node), b.running(node)}
	ids := []durable.ID{parents[2].ID, parents[0].ID, parents[1].ID}
	id := b.child(after(ids...))
	for i, p := range parents {
		if j := b.state(id, durable.Blocked); !j.HasParents || j.HasChildren || j.Owner != "" {
			b.Errorf("it is %+v", j)
		}
		if got := b.claim(node); len(got) > 0 {
			b.Fatalf("claimed %+v before its parents have ended", got)
		}
		b.counts(id, 3, i, 0)
		o := outcome(p)
		o.Result = fmt.Appendf(nil, "%d", i)
		s := must(b.store.Commit(b.Context(), durablestore.CommitRequest{Node: node, Outcomes: []durable.Outcome{o}, History: 5}))
		if s.Released != (i == 2) || !s.Committed[0] {
			b.Errorf("parent %d: the answer is %+v", i, s)
		}
	}
	b.counts(id, 3, 3, 0)
	j := b.state(id, durable.Waiting)
	if ended := b.get(parents[2].ID).Updated; j.Due.Before(ended) || !j.Occurrence.Equal(j.Due) {
		b.Errorf("it is due at %v for %v, and its last parent ended at %v", j.Due, j.Occurrence, ended)
	}
	if got := b.claimOne(node); got.ID != id || !got.HasParents {
		b.Errorf("claimed %+v", got)
	}
	page := must(b.store.Parents(b.Context(), id, 0, 10))
	var results []string
	for i, p := range page {
		if results = append(results, string(p.Result)); p.ID != ids[i] || p.State != durable.Succeeded || !p.HasChildren {
			b.Errorf("parent %d is %+v", i, p)
		}
	}
	if want := []string{"2", "0", "1"}; !slices.Equal(results, want) {
		b.Errorf("the results are %v, want %v", results, want)
	}
}

// Parents and children are read in pages. What has none has none.
func graphPages(b *bench) {
	b.store.graph()
	root := b.add(time.Hour).ID
	var kids []durable.ID
	for range 5 {
		kids = append(kids, b.child(after(root)))
	}
	last := b.child(after(kids...))
	var found []durable.ID
	for from := 0; ; from += 2 {
		page := must(b.store.Parents(b.Context(), last, from, 2))
		for _, p := range page {
			found = append(found, p.ID)
		}
		if len(page) < 2 {
			break
		}
	}
	if !slices.Equal(found, kids) {
		b.Errorf("the parents are %v, want %v", found, kids)
	}
	found = nil
	for after := (durable.ID{}); ; after = found[len(found)-1] {
		page := must(b.store.Children(b.Context(), root, after, 2))
		for _, c := range page {
			found = append(found, c.ID)
		}
		if len(page) < 2 {
			break
		}
	}
	if slices.SortFunc(kids, func(x, y durable.ID) int { return slices.Compare(x[:], y[:]) }); !slices.Equal(found, kids) {
		b.Errorf("the children are %v, want %v", found, kids)
	}
	for _, id := range []durable.ID{root, durable.NewID()} {
		if page := must(b.store.Parents(b.Context(), id, 0, 2)); len(page) > 0 {
			b.Errorf("it has the parents %v", page)
		}
		if _, err := b.store.CountParents(b.Context(), id); !errors.Is(err, durable.ErrNotFound) {
			b.Errorf("the counts of what has no parents: %v", err)
		}
	}
	if page := must(b.store.Children(b.Context(), last, durable.ID{}, 2)); len(page) > 0 {
		b.Errorf("it has the children %v", page)
	}
}

// The children of a job are counted by kind and state.
func countChildren(b *bench) {
	b.store.graph()
	root := b.add(time.Hour).ID
	other := func(j *durable.NewJob) { j.Kind = "other" }
	b.child(after(root))
	b.child(after(root))
	b.child(after(root), other)
	b.change(b.child(after(root)), durable.OpCancel, durable.Applied)
	b.child(after(b.add(time.Hour).ID)) // of another job
	got := make(map[string]int)
	for _, c := range must(b.store.CountChildren(b.Context(), root)) {
		if got[c.Kind+" "+c.State.String()] = c.Jobs; c.Due.IsZero() {
			b.Errorf("no time: %+v", c)
		}
	}
	if want := map[string]int{"k blocked": 2, "other blocked": 1, "k canceled": 1}; !maps.Equal(got, want) {
		b.Errorf("the counts are %v, want %v", got, want)
	}
	if c := must(b.store.CountChildren(b.Context(), durable.NewID())); len(c) > 0 {
		b.Errorf("a job that is not there has the children %v", c)
	}
}

// A job that needs some of its parents is released by as many, and the others count for nothing more.
func graphNeedsSome(b *bench) {
	b.store.graph()
	node := b.node("a")
	parents := []durable.Job{b.running(node), b.running(node), b.running(node)}
	id := b.child(afterSome(2, parents[0].ID, parents[1].ID, parents[2].ID))
	b.end(node, parents[0], durable.Succeeded)
	b.state(id, durable.Blocked)
	b.end(node, parents[1], durable.Succeeded)
	b.end(node, b.claimOne(node), durable.Succeeded)
	b.end(node, parents[2], durable.Dead)
	b.state(id, durable.Succeeded)
	b.counts(id, 3, 2, 1)
}

// A job that can't have enough parents any more is canceled, with an error that names one that has failed, and so are
// those that wait for it.
func graphCancels(b *bench) {
	b.store.graph()
	node := b.node("a")
	parents := []durable.Job{b.running(node), b.running(node), b.running(node)}
	id := b.child(afterSome(2, parents[0].ID, parents[1].ID, parents[2].ID))
	grandchild := b.child(after(id))
	b.end(node, parents[2], durable.Dead)
	b.state(id, durable.Blocked)
	b.end(node, parents[1], durable.Canceled)
	j := b.state(id, durable.Canceled)
	if want := durablestore.ParentFailed(parents[1].ID, durable.Canceled); j.Error != want {
		b.Errorf("the error is %q, want %q, of the first that has failed in the order of the parents", j.Error, want)
	}
	j = b.state(grandchild, durable.Canceled)
	if want := durablestore.ParentFailed(id, durable.Canceled); j.Error != want {
		b.Errorf("the error is %q, want %q", j.Error, want)
	}
	b.end(node, parents[0], durable.Succeeded)
	b.counts(id, 3, 1, 2)
	b.state(id, durable.Canceled)
}

// Where parents that failed count as well, the job runs once all have ended, however.
func graphAnyway(b *bench) {
	b.store.graph()
	node := b.node("a")
	parents := []durable.Job{b.running(node), b.running(node)}
	id := b.child(after(parents[0].ID, parents[1].ID), anyway)
	b.end(node, parents[0], durable.Dead)
	b.state(id, durable.Blocked)
	b.end(node, parents[1], durable.Succeeded)
	b.state(id, durable.Waiting)
	b.counts(id, 2, 1, 1)
}

// Whatever ends a parent, or removes it, is told to its children; and what does not end it, as an attempt that failed,
// is not.
func graphAllEnds(b *bench) {
	b.store.graph()
	release := func(node string) { must(b.store.Release(b.Context(), node, nil)) }
	die := func(node string) {
		must(b.store.Heartbeat(b.Context(), node, -time.Second, durablestore.Watch{}))
		must(b.store.Heartbeat(b.Context(), b.node("finder"), lease, durablestore.Watch{}))
	}
	for name, c := range map[string]struct {
		attempts int
		end      func(node string, j durable.Job)
		want     durable.State // of the child
	}{
		"outcome":         {3, func(node string, j durable.Job) { b.end(node, j, durable.Dead) }, durable.Canceled},
		"another attempt": {3, func(node string, j durable.Job) { b.settle(node, next(j, j.Due.Add(time.Hour))) }, durable.Blocked},
		"cancel after its run": {3, func(node string, j durable.Job) {
			b.change(j.ID, durable.OpCancel, durable.Deferred)
			b.state(j.ID, durable.Running)
			b.settle(node, next(j, j.Due.Add(time.Hour)))
		}, durable.Canceled},
		"cancel": {3, func(node string, j durable.Job) {
			release(node)
			b.change(j.ID, durable.OpCancel, durable.Applied)
		}, durable.Canceled},
		"delete": {3, func(node string, j durable.Job) {
			release(node)
			b.change(j.ID, durable.OpDelete, durable.Applied)
		}, durable.Canceled},
		"pause": {3, func(node string, j durable.Job) {
			release(node)
			b.change(j.ID, durable.OpPause, durable.Applied)
		}, durable.Blocked},
		"cancel and release": {3, func(node string, j durable.Job) {
			b.change(j.ID, durable.OpCancel, durable.Deferred)
			release(node)
		}, durable.Canceled},
		"cancel and leave": {3, func(node string, j durable.Job) {
			b.change(j.ID, durable.OpCancel, durable.Deferred)
			b.ok(b.store.Leave(b.Context(), node))
		}, durable.Canceled},
		"release":              {3, func(node string, _ durable.Job) { release(node) }, durable.Blocked},
		"lost":                 {3, func(node string, _ durable.Job) { die(node) }, durable.Blocked},
		"lost in last attempt": {1, func(node string, _ durable.Job) { die(node) }, durable.Canceled},
		"cancel and lost": {3, func(node string, j durable.Job) {
			b.change(j.ID, durable.OpCancel, durable.Deferred)
			die(node)
		}, durable.Canceled},
	} {
		node := b.node("of " + name)
		kind := func(j *durable.NewJob) { j.Kind, j.Attempts = name, c.attempts }
		parent := b.add(-time.Second, kind)
		claimed := b.claimBy(claimOf(node, name, 1))
		if len(claimed) != 1 {
			b.Fatalf("%s: claimed %+v", name, claimed)
		}
		child := b.child(kind, after(parent.ID))
		c.end(node, b.begin(node, claimed[0]))
		if j := b.get(child); j.State != c.want {
			b.Errorf("%s: the child is %v, want %v", name, j.State, c.want)
		}
		if c.want == durable.Blocked {
			continue
		}
		failed := durable.Canceled
		if p, err := b.store.Get(b.Context(), parent.ID); err == nil {
			failed = p.State
		}
		if got, want := b.get(child).Error, durablestore.ParentFailed(parent.ID, failed); got != want {
			b.Errorf("%s: the error is %q, want %q", name, got, want)
		}
	}
}

// Parents that have ended when a job is added count at once. One that is not there is an error, and nothing is added.
func graphAfterEnded(b *bench) {
	b.store.graph()
	node := b.node("a")
	succeeded, dead := b.running(node), b.running(node)
	b.end(node, succeeded, durable.Succeeded)
	b.end(node, dead, durable.Dead)
	ready := b.child(after(succeeded.ID))
	b.state(ready, durable.Waiting)
	b.counts(ready, 1, 1, 0)
	canceled := b.child(after(succeeded.ID, dead.ID))
	if j := b.state(canceled, durable.Canceled); j.Error != durablestore.ParentFailed(dead.ID, durable.Dead) {
		b.Errorf("the error is %q", j.Error)
	}
	b.state(b.child(after(succeeded.ID, dead.ID), anyway), durable.Waiting)
	b.state(b.child(after(canceled)), durable.Canceled)
	missing := durable.NewID()
	jobs := []durable.NewJob{job(0), job(0, after(succeeded.ID, missing))}
	placed, err := b.store.Insert(b.Context(), jobs, durablestore.Placement{})
	if len(placed) > 0 || !errors.Is(err, durable.ErrNotFound) || !strings.Contains(err.Error(), missing.String()) {
		b.Errorf("a parent that is not there: %+v, %v", placed, err)
	}
	for _, j := range jobs {
		if _, err := b.store.Get(b.Context(), j.ID); !errors.Is(err, durable.ErrNotFound) {
			b.Errorf("a job was added all the same: %v", err)
		}
	}
}

// Jobs are added together with their parents, which come before them in the list. Where a parent stands for a job that
// has its key, that is the parent. What is near enough for a node is not placed on it while it is blocked.
func graphInOneList(b *bench) {
	b.store.graph()
	node := b.node("a")
	dead, taken := b.running(node), b.running(node, key("taken"))
	b.end(node, dead, durable.Dead)
	root := job(0, key("root"))
	keyed := job(0, key("taken"))
	child := job(0, after(root.ID, keyed.ID))
	grandchild := job(0, after(child.ID))
	lost := job(0, after(dead.ID))
	more := job(0, after(lost.ID))
	jobs := []durable.NewJob{root, keyed, child, grandchild, lost, more}
	placed := must(b.store.Insert(b.Context(), jobs, durablestore.Placement{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 10}))
	for i, want := range []durable.State{placed[0].State, durable.Running, durable.Blocked, durable.Blocked, durable.Canceled, durable.Canceled} {
		got := b.get(placed[i].ID)
		if got.State != want || placed[i].State != want || placed[i].HasParents != got.HasParents || placed[i].HasChildren != got.HasChildren ||
			placed[i].Error != got.Error {
			b.Errorf("job %d is %+v, and the answer was %+v", i, got, placed[i].Job)
		}
	}
	b.end(node, taken, durable.Succeeded)
	b.counts(child.ID, 2, 1, 0)
	if page := must(b.store.Parents(b.Context(), child.ID, 0, 9)); len(page) != 2 || page[1].ID != taken.ID {
		b.Errorf("the parents are %+v", page)
	}
	if _, err := b.store.Insert(b.Context(), []durable.NewJob{job(0, after(root.ID)), job(0, after(durable.NewID())), root}, durablestore.Placement{}); !errors.Is(err, durable.ErrNotFound) {
		b.Errorf("a parent that is not before its child: %v", err)
	}
}

// An insert that is made again adds no parents, nor does one for which a job stands that has its key.
func graphOnce(b *bench) {
	b.store.graph()
	first, second := b.add(time.Hour).ID, b.add(time.Hour).ID
	child := job(0, key("child"), after(first))
	b.insert(child, durablestore.Placement{})
	b.insert(child, durablestore.Placement{})
	b.counts(child.ID, 1, 0, 0)
	if placed := b.insert(job(0, key("child"), after(second)), durablestore.Placement{}); placed.ID != child.ID || placed.Changed {
		b.Errorf("the answer is %+v", placed)
	}
	b.counts(child.ID, 1, 0, 0)
	b.change(first, durable.OpDelete, durable.Applied)
	b.insert(child, durablestore.Placement{}) // it was added before its parent was gone
	b.state(child.ID, durable.Canceled)
	b.change(second, durable.OpCancel, durable.Applied)
	b.counts(child.ID, 1, 0, 1)
}

// A job that is blocked can be changed: it can be paused before it waits, moved, canceled, removed, and made to run
// without its parents.
func graphChanges(b *bench) {
	b.store.graph()
	node := b.node("a")
	parent := b.running(node)
	ids := make(map[string]durable.ID)
	for _, name := range []string{"pause", "resume", "move", "cancel", "delete", "run", "replace", "replace payload"} {
		ids[name] = b.child(after(parent.ID), key(name))
	}
	b.change(ids["pause"], durable.OpPause, durable.Applied)
	if j := b.state(ids["pause"], durable.Blocked); j.Pending != durable.PendingPause {
		b.Errorf("it is %+v", j)
	}
	b.change(ids["resume"], durable.OpResume, durable.TooLate)
	b.change(ids["resume"], durable.OpPause, durable.Applied)
	b.change(ids["resume"], durable.OpResume, durable.Applied)
	later := must(b.store.Now(b.Context())).Add(time.Hour)
	b.changeBy(ids["move"], durable.Change{Op: durable.OpReschedule, Due: later}, durable.Applied)
	b.state(ids["move"], durable.Blocked)
	b.change(ids["cancel"], durable.OpCancel, durable.Applied)
	b.change(ids["delete"], durable.OpDelete, durable.Applied)
	b.change(ids["run"], durable.OpRunNow, durable.Applied)
	if got := b.claimOne(node); got.ID != ids["run"] {
		b.Errorf("claimed %+v", got)
	}
	for name, keeps := range map[string]bool{"replace": false, "replace payload": true} {
		b.insert(job(0, key(name), payload("2"), func(j *durable.NewJob) { j.ReuseKey, j.Replace, j.KeepTime = true, true, keeps }),
			durablestore.Placement{})
		if j := b.state(ids[name], durable.Blocked); string(j.Payload) != "2" {
			b.Errorf("%s: it is %+v", name, j)
		}
	}
	b.end(node, parent, durable.Succeeded)
	for name, want := range map[string]durable.State{
		"pause": durable.Paused, "resume": durable.Waiting, "move": durable.Waiting, "cancel": durable.Canceled, "run": durable.Confirmed,
		"replace": durable.Waiting, "replace payload": durable.Waiting,
	} {
		if j := b.get(ids[name]); j.State != want || j.Pending != durable.PendingNone || name == "move" && !j.Due.Equal(later) {
			b.Errorf("%s: it is %+v", name, j)
		}
	}
}

// A job that is revived waits for those of its parents that have not ended, as those that were revived before it; if
// they have all ended, it runs, whatever became of them.
func graphRevives(b *bench) {
	b.store.graph()
	node := b.node("a")
	parent := b.running(node)
	child := b.child(after(parent.ID))
	b.end(node, parent, durable.Dead)
	b.state(child, durable.Canceled)
	b.change(parent.ID, durable.OpRevive, durable.Applied)
	b.change(child, durable.OpRevive, durable.Applied)
	b.state(child, durable.Blocked)
	b.counts(child, 1, 0, 0)
	b.end(node, b.begin(node, b.claimOne(node)), durable.Dead)
	b.state(child, durable.Canceled)
	b.counts(child, 1, 0, 1)
	b.change(child, durable.OpRevive, durable.Applied)
	b.state(child, durable.Waiting)
}

// Lists and counts know what is blocked from what is paused.
func graphLists(b *bench) {
	b.store.graph()
	parent := b.add(time.Hour)
	blocked := b.child(after(parent.ID))
	paused := b.add(time.Hour).ID
	b.change(paused, durable.OpPause, durable.Applied)
	for _, c := range []struct {
		states []durable.State
		want   []durable.ID
	}{
		{[]durable.State{durable.Blocked}, []durable.ID{blocked}},
		{[]durable.State{durable.Paused}, []durable.ID{paused}},
		{[]durable.State{durable.Paused, durable.Blocked}, []durable.ID{blocked, paused}},
		{[]durable.State{durable.Waiting, durable.Blocked}, []durable.ID{parent.ID, blocked}},
	} {
		var got []durable.ID
		for _, j := range must(b.store.List(b.Context(), durable.Filter{States: c.states})) {
			got = append(got, j.ID)
		}
		if slices.SortFunc(c.want, func(x, y durable.ID) int { return slices.Compare(x[:], y[:]) }); !slices.Equal(got, c.want) {
			b.Errorf("%v: %v, want %v", c.states, got, c.want)
		}
	}
	for _, c := range must(b.store.Counts(b.Context(), durable.Filter{})) {
		if c.Jobs != 1 {
			b.Errorf("the count is %+v", c)
		}
	}
}

// What has ended is kept for as long as one of its children has not, with its result. A parent that was deleted counts
// as it had ended, and its result is lost.
func graphKeepsParents(b *bench) {
	b.store.graph()
	node := b.node("a")
	parent, other := b.running(node), b.running(node)
	child := b.child(after(parent.ID, other.ID))
	b.end(node, parent, durable.Succeeded)
	soon := durable.Retention{Succeeded: time.Microsecond, Dead: time.Microsecond}
	must(b.store.Prune(b.Context(), soon))
	if page := must(b.store.Parents(b.Context(), child, 0, 9)); len(page) != 2 || string(page[0].Result) != "1" {
		b.Errorf("the parents are %+v", page)
	}
	b.end(node, other, durable.Succeeded)
	b.change(other.ID, durable.OpDelete, durable.Applied)
	b.counts(child, 2, 2, 0)
	page := must(b.store.Parents(b.Context(), child, 0, 9))
	if want := (durable.Job{ID: other.ID, State: durable.Succeeded}); len(page) != 2 || page[1].ID != want.ID ||
		page[1].State != want.State || page[1].Kind != "" || page[1].Result != nil {
		b.Errorf("the parents are %+v", page)
	}
	b.end(node, b.claimOne(node), durable.Succeeded)
	b.wait()
	for range 2 {
		must(b.store.Prune(b.Context(), soon))
	}
	for _, id := range []durable.ID{parent.ID, child} {
		if _, err := b.store.Get(b.Context(), id); !errors.Is(err, durable.ErrNotFound) {
			b.Errorf("it was kept: %v", err)
		}
	}
	if page := must(b.store.Parents(b.Context(), child, 0, 9)); len(page) > 0 {
		b.Errorf("of a job that is gone there are the parents %+v", page)
	}
}

// What there is of a job beside its row goes with it, when it is deleted and when it is pruned.
func graphGoesWithTheJob(b *bench) {
	b.store.graph()
	parent := b.add(time.Hour)
	with := func(j *durable.NewJob) { j.Tags, j.Partition = []string{"tag"}, "part" }
	deleted, pruned := b.child(after(parent.ID), with), b.child(after(parent.ID), with)
	for _, id := range []durable.ID{deleted, pruned} {
		b.signal(id, "go", "1", durable.Applied)
		b.wantSteps(id, "signal go=1")
	}
	if found := b.listed("tag"); len(found) != 2 {
		b.Errorf("by the tag there are %v", found)
	}
	b.change(deleted, durable.OpDelete, durable.Applied)
	b.change(pruned, durable.OpCancel, durable.Applied)
	b.wait()
	must(b.store.Prune(b.Context(), durable.Retention{Dead: time.Microsecond}))
	for _, id := range []durable.ID{deleted, pruned} {
		b.wantSteps(id)
		if page := must(b.store.Parents(b.Context(), id, 0, 9)); len(page) > 0 {
			b.Errorf("there are the parents %+v", page)
		}
		if c, err := b.store.CountParents(b.Context(), id); !errors.Is(err, durable.ErrNotFound) {
			b.Errorf("there are the counts %+v, %v", c, err)
		}
	}
	if found := b.listed("tag"); len(found) > 0 {
		b.Errorf("by the tag there are %v", found)
	}
	if page := must(b.store.Children(b.Context(), parent.ID, durable.ID{}, 9)); len(page) > 0 {
		b.Errorf("there are the children %+v", page)
	}
}

// wait waits until the store's clock has gone on.
func (b *bench) wait() {
	for begun := must(b.store.Now(b.Context())); ; {
		if now := must(b.store.Now(b.Context())); now.Sub(begun) > 2*time.Microsecond {
			return
		}
	}
}

// Parents that end at the same time, by many nodes, release their one child, and are counted once each.
func graphTogether(b *bench) {
	b.store.graph()
	const nodes, each = 8, 5
	runs := make([][]durable.Job, nodes)
	var ids []durable.ID
	for i := range runs {
		node := b.node(fmt.Sprint("n", i))
		for range each {
			j := b.running(node)
			runs[i], ids = append(runs[i], j), append(ids, j.ID)
		}
	}
	all, first := b.child(after(ids...)), b.child(afterSome(1, ids...))
	var group sync.WaitGroup
	for i, jobs := range runs {
		group.Go(func() {
			for _, j := range jobs {
				r := durablestore.CommitRequest{Node: fmt.Sprint("n", i), Outcomes: []durable.Outcome{outcome(j)}, History: 5}
				commit := soon(func() (durablestore.CommitResult, error) {
					return b.store.Commit(context.WithoutCancel(b.Context()), r)
				},
					func(c durablestore.CommitResult) bool { return len(c.Locked) == 0 })
				if a, err := commit(); err != nil || !a.(durablestore.CommitResult).Committed[0] {
					b.Errorf("%+v, %v", a, err)
				}
			}
		})
	}
	group.Wait()
	must(b.store.Prune(b.Context(), durable.Retention{})) // counts what was locked all the time
	for _, id := range []durable.ID{all, first} {
		b.state(id, durable.Waiting)
		b.counts(id, nodes*each, nodes*each, 0)
	}
}
