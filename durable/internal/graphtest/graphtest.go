// Package graphtest has what the tests of the SQL stores share about jobs that wait for others.
package graphtest

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Lose adds jobs that wait for each other, has lose drop a table by which they do, and open the store again, and says
// what is wrong with what became of them: what was blocked is dead, and runs when it is revived, and others go on.
func Lose(t *testing.T, s durable.Store, lose func() durable.Store) {
	t.Helper()
	ctx := t.Context()
	add := func(kind string, after ...durable.ID) durable.ID {
		j := durable.NewJob{ID: durable.NewID(), Kind: kind, Schedule: store.Once, Delay: -time.Second, Attempts: 3}
		if j.After.Parents = after; after != nil {
			j.After.Need = len(after)
		}
		if _, err := s.Insert(ctx, []durable.NewJob{j}, store.Placement{}); err != nil {
			t.Fatal(err)
		}
		return j.ID
	}
	change := func(id durable.ID, op durable.Op) {
		if answer, err := s.Change(ctx, id, durable.Change{Op: op}); err != nil || answer != durable.Applied {
			t.Fatalf("change %d: %v, %v", op, answer, err)
		}
	}
	parent := add("parent")
	released := add("child", parent)
	change(released, durable.OpRunNow)
	canceled := add("child", parent)
	change(canceled, durable.OpCancel)
	child := add("child", parent)
	grandchild := add("child", child, parent)
	s = lose()
	for _, id := range []durable.ID{child, grandchild} {
		j, err := s.Get(ctx, id)
		if err != nil || j.State != durable.Dead || !strings.Contains(j.Error, "revive") || j.HasParents {
			t.Errorf("a job that was blocked is %+v, %v", j, err)
		}
	}
	for id, want := range map[durable.ID]durable.State{parent: durable.Waiting, released: durable.Waiting, canceled: durable.Canceled} {
		if j, err := s.Get(ctx, id); err != nil || j.State != want {
			t.Errorf("a job that was not blocked is %+v, %v, want it %v", j, err, want)
		}
	}
	for _, id := range []durable.ID{child, canceled} {
		change(id, durable.OpRevive)
		if j, err := s.Get(ctx, id); err != nil || j.State != durable.Waiting {
			t.Errorf("a job that was revived is %+v, %v", j, err)
		}
	}
	next := add("child", grandchild, parent) // of one that is dead
	if j, err := s.Get(ctx, next); err != nil || j.State != durable.Canceled {
		t.Errorf("the child of a dead job is %+v, %v", j, err)
	}
	if j, err := s.Get(ctx, add("child", parent)); err != nil || j.State != durable.Blocked {
		t.Errorf("a new child is %+v, %v", j, err)
	}
}
