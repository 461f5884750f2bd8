package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
)

// listens listens until the end of the test, and gives a function that waits until
// something was heard.
func listens(t *testing.T, store *postgres.Store) (hears func(what string)) {
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- store.Listen(ctx, func() { heard <- struct{}{} }) }()
	t.Cleanup(func() { cancel(); <-ended })
	hears = func(what string) {
		t.Helper()
		select {
		case <-heard:
		case <-soon(t).Done():
			t.Fatalf("nothing was heard of %s", what)
		}
	}
	hears("the beginning")
	return hears
}

// Who listens hears of each job that becomes due, and of each run that is to be
// canceled: be it added, asked for, given back, or freed since its node is dead.
func TestListenHearsOfAllThatIsToBeDone(t *testing.T) {
	store := open(t, dsn(t))
	hears := listens(t, store)
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
	must(store.Heartbeat(t.Context(), "a", -time.Second, durable.Watch{}))
	must(store.Join(t.Context(), "b", time.Hour))
	must(store.Heartbeat(t.Context(), "b", time.Hour, durable.Watch{}))
	hears("what a dead node held")
}

// Who listens hears of a job that is registered again and is to be run soon for that:
// it has got another schedule, or was taken from the node that had claimed it as it was.
func TestListenHearsOfWhatIsRegisteredAgain(t *testing.T) {
	store := open(t, dsn(t))
	hears := listens(t, store)
	j := durable.NewJob{Key: "key", Kind: "k", Schedule: "rate 1h0m0s", Delay: time.Hour, Attempts: 1}
	register := func() {
		j.ID = durable.NewID()
		must(store.Insert(t.Context(), []durable.NewJob{j}, durable.Placement{}))
	}
	register() // nobody has to look at it yet
	j.Schedule, j.Delay = "rate 1m0s", 0
	register()
	hears("a schedule that begins anew")
	must(store.Join(t.Context(), "a", time.Hour))
	c := must(store.Claim(t.Context(), durable.ClaimRequest{
		Node: "a", Ahead: time.Hour, Lead: -time.Hour, Limit: 1, Kinds: []durable.KindLimit{{Kind: "k", Max: 1}},
	}))
	if len(c.Jobs) != 1 || c.Jobs[0].State != durable.Claimed {
		t.Fatalf("claimed %+v", c)
	}
	j.Payload = []byte("1")
	register()
	hears("what was taken from its node")
}
