package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// Who listens hears of each job that becomes due, and of each run that is to be
// canceled: be it added, asked for, given back, or freed since its node is dead.
func TestListenHearsOfAllThatIsToBeDone(t *testing.T) {
	store := open(t, dsn(t))
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- store.Listen(ctx, func() { heard <- struct{}{} }) }()
	defer func() { cancel(); <-ended }()
	hears := func(what string) {
		t.Helper()
		select {
		case <-heard:
		case <-soon(t).Done():
			t.Fatalf("nothing was heard of %s", what)
		}
	}
	hears("the beginning")
	id := claimed(t, store, "a", 1, 0)[0].ID
	hears("a new job")
	must(store.Change(t.Context(), id, durable.Change{Op: durable.OpCancel}))
	hears("a run that is to be canceled")
	must(store.Release(t.Context(), "a", nil))
	hears("what was given back")
	must(store.Change(t.Context(), id, durable.Change{Op: durable.OpRevive}))
	hears("a job that was made due")
	r := durable.ClaimRequest{Node: "a", Limit: 1, Kinds: []durable.KindLimit{{Kind: "k", Max: 1}}}
	if c := must(store.Claim(t.Context(), r)); len(c.Jobs) != 1 {
		t.Fatalf("claimed %+v", c)
	}
	must(store.Beat(t.Context(), "a", -time.Second, durable.Watch{}))
	must(store.Join(t.Context(), "b", time.Hour))
	must(store.Beat(t.Context(), "b", time.Hour, durable.Watch{}))
	hears("what a dead node held")
}
