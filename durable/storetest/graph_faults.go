package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	durablestore "github.com/executor-go/executor/durable/store"
)

// withParents returns two jobs with two parents that are there.
func (b *faulted) withParents() []durablestore.NewJob {
	parents := these(2)
	b.store.graph()
	must(b.store.Insert(b.Context(), parents, durablestore.Placement{}))
	ids := []durablestore.ID{parents[0].ID, parents[1].ID}
	return these(2, func(_ int, j *durablestore.NewJob) { after(ids...)(j) })
}

// family is a parent that a node holds, its child and its grandchild.
type family struct {
	*faulted
	node              string
	parent            durablestore.Job
	child, grandchild durablestore.ID
}

func (b *faulted) family() family {
	b.store.graph()
	node, jobs := b.given(1)
	child := b.child(after(jobs[0].ID))
	return family{b, node, jobs[0], child, b.child(after(child))}
}

// wrong returns what is wrong unless the child and its child are in these states, and the parent counts once.
func (f family) wrong(child, grandchild durablestore.State) string {
	for id, want := range map[durablestore.ID]durablestore.State{f.child: child, f.grandchild: grandchild} {
		if got := f.get(id); got.State != want {
			return fmt.Sprintf("a job after it is %+v, want %v", got, want)
		}
	}
	if c := must(f.store.CountParents(f.Context(), f.child)); c.Total != 1 || c.Succeeded+c.Failed > 1 || !f.get(f.child).HasParents {
		return fmt.Sprintf("the counts are %+v", c)
	}
	return ""
}

// committing returns the call that commits the end of the parent.
func (f family) committing(state durablestore.State, child, grandchild durablestore.State,
	commit func(context.Context, durablestore.CommitRequest) (durablestore.CommitResult, error)) told {
	o := outcome(f.parent)
	o.State = state
	r := durablestore.CommitRequest{Node: f.node, Outcomes: []durablestore.Outcome{o}, History: 5}
	return told{
		call: soon(func() (durablestore.CommitResult, error) { return commit(f.Context(), r) },
			func(c durablestore.CommitResult) bool { return len(c.Locked) == 0 }),
		wrong: func(a any) string {
			if c := a.(durablestore.CommitResult); !slices.Equal(c.Committed, []bool{true}) || f.get(f.parent.ID).State != state {
				return "the run is to be over"
			}
			// Prune tells the child of a transaction that was committed.
			must(f.store.Prune(f.Context(), durablestore.Retention{}))
			return f.wrong(child, grandchild)
		},
	}
}

func (b *faulted) committingParent() told {
	return b.family().committing(durablestore.Succeeded, durablestore.Waiting, durablestore.Blocked, b.store.Commit)
}

func (b *faulted) committingFailedParent() told {
	return b.family().committing(durablestore.Dead, durablestore.Canceled, durablestore.Canceled, b.store.Commit)
}

func (b *faulted) completingParent() told {
	return b.family().committing(durablestore.Succeeded, durablestore.Waiting, durablestore.Blocked,
		func(ctx context.Context, r durablestore.CommitRequest) (durablestore.CommitResult, error) {
			return inTx(b, func(s durablestore.TxStore, tx durablestore.Tx) (durablestore.CommitResult, error) {
				return s.CompleteTx(ctx, tx, r)
			})
		})
}

// changingParent returns the call that changes the parent, which waits.
func (b *faulted) changingParent(op durablestore.Op) told {
	f := b.family()
	must(b.store.Release(b.Context(), f.node, nil))
	return told{
		call: func() (any, error) {
			a, err := b.store.Change(b.Context(), f.parent.ID, durablestore.Change{Op: op})
			if err == nil && a != durablestore.Applied { // it was applied by the call whose answer was lost
				a = durablestore.Applied
			}
			return a, err
		},
		wrong: func(any) string { return f.wrong(durablestore.Canceled, durablestore.Canceled) },
	}
}

// revivingChild returns the call that revives the child, whose parent was revived before.
func (b *faulted) revivingChild() told {
	f := b.family()
	o := outcome(f.parent)
	o.State = durablestore.Dead
	b.settle(f.node, o)
	b.change(f.parent.ID, durablestore.OpRevive, durablestore.Applied)
	return told{
		call: func() (any, error) {
			a, err := b.store.Change(b.Context(), f.child, durablestore.Change{Op: durablestore.OpRevive})
			if err == nil {
				a = durablestore.Applied // by the call whose answer was lost
			}
			return a, err
		},
		wrong: func(any) string { return f.wrong(durablestore.Blocked, durablestore.Canceled) },
	}
}

// releasingParent returns the call that releases a parent which was to be canceled.
func (b *faulted) releasingParent() told {
	f := b.family()
	b.change(f.parent.ID, durablestore.OpCancel, durablestore.Deferred)
	return told{
		call: soon(func() (bool, error) { return b.store.Release(b.Context(), f.node, nil) }, func(left bool) bool { return !left }),
		wrong: func(any) string {
			must(b.store.Prune(b.Context(), durablestore.Retention{})) // tells what was locked
			return f.wrong(durablestore.Canceled, durablestore.Canceled)
		},
	}
}

// losingParent returns the call that finds the node of a parent dead, in its last attempt.
func (b *faulted) losingParent() told {
	f := b.family()
	b.begin(f.node, f.parent)
	b.change(f.parent.ID, durablestore.OpCancel, durablestore.Deferred)
	name := b.node(fresh("node"))
	must(b.store.Heartbeat(b.Context(), f.node, -time.Second, durablestore.Watch{}))
	return told{
		call: soon(func() (durablestore.HeartbeatResult, error) {
			return b.store.Heartbeat(b.Context(), name, lease, durablestore.Watch{})
		}, func(durablestore.HeartbeatResult) bool {
			got, err := b.store.Get(b.Context(), f.parent.ID)
			return err == nil && got.State == durablestore.Canceled
		}),
		wrong: func(any) string {
			must(b.store.Prune(b.Context(), durablestore.Retention{})) // tells what was locked
			return f.wrong(durablestore.Canceled, durablestore.Canceled)
		},
	}
}

// readingGraph is reading, of a job with a parent and a child.
func readingGraph[T any](f func(b *faulted, f family) (T, error)) func(b *faulted) told {
	return func(b *faulted) told {
		family := b.family()
		return reading(func(b *faulted, _ string, _ durablestore.Job) func() (T, error) {
			return func() (T, error) { return f(b, family) }
		})(b)
	}
}
