package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
)

// must gives v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// soon gives a context that ends before a node would lose its lease: after two
// seconds, in steps that count no more than their length, however long they take. So
// it does not end because the machine stands still.
func soon(t *testing.T) context.Context {
	const step = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		for range 2 * time.Second / step {
			select {
			case <-time.After(step):
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-over })
	return ctx
}

// claimed gives jobs that are the node's, due when they are Running, else ahead.
func claimed(t *testing.T, store *postgres.Store, node string, n int, ahead time.Duration) []durable.Job {
	t.Helper()
	must(store.Join(t.Context(), node, time.Hour))
	var jobs []durable.NewJob
	for range n {
		jobs = append(jobs, durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: ahead, Attempts: 3})
	}
	must(store.Insert(t.Context(), jobs, durable.Placement{}))
	c := must(store.Claim(t.Context(), durable.ClaimRequest{Node: node, Ahead: time.Hour, Limit: n, Kinds: []durable.KindLimit{{Kind: "k", Max: n}}}))
	if len(c.Jobs) != n {
		t.Fatalf("claimed %d jobs, want %d", len(c.Jobs), n)
	}
	return c.Jobs
}

// leave opens a transaction that has locked a row and does nothing more, until
// the function returned is called.
func leaveOpen(t *testing.T, store *postgres.Store, query string, args ...any) (end func()) {
	t.Helper()
	tx := must(store.DB().BeginTx(context.WithoutCancel(t.Context()), nil))
	if _, err := tx.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
	end = func() { tx.Rollback() }
	t.Cleanup(end)
	return end
}

const lockJob = "select from executor_job where id = $1 for update"

func uuidText(j durable.Job) string { return j.ID.String() }

// A claim does not wait for a job whose row a transaction has that was left open: it
// takes the others.
func TestClaimPassesLockedJobsOver(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 3, 0)
	must(store.Release(t.Context(), "a", nil))
	leaveOpen(t, store, lockJob, uuidText(jobs[0]))
	for _, limit := range []int{3, 2} { // with a kind's limit, and without
		c := must(store.Claim(soon(t), durable.ClaimRequest{Node: "a", Limit: 3, Kinds: []durable.KindLimit{{Kind: "k", Max: limit}}}))
		if len(c.Jobs) != 2 || c.Jobs[0].ID == jobs[0].ID || c.Jobs[1].ID == jobs[0].ID {
			t.Errorf("claimed %+v", c.Jobs)
		}
		must(store.Release(t.Context(), "a", nil))
	}
}

// A transaction that was left open on one job's row does not keep others of the
// same group from being confirmed and committed; that one is told apart, and is
// done when the transaction is over.
func TestLockedJobIsSettledLater(t *testing.T) {
	for what, ahead := range map[string]time.Duration{"confirm": time.Minute, "commit": 0} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			jobs := claimed(t, store, "a", 3, ahead)
			end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
			b := durable.CommitRequest{Node: "a", History: 10}
			for _, j := range jobs {
				if what == "confirm" {
					b.Confirms = append(b.Confirms, durable.Confirm{Ref: durable.Ref{ID: j.ID, Epoch: j.Epoch}})
				} else {
					b.Outcomes = append(b.Outcomes, durable.Outcome{Ref: durable.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded, Due: j.Due, Occurrence: j.Occurrence})
				}
			}
			for _, want := range []struct {
				done   string
				locked int
			}{{"[true false true]", 1}, {"[true true true]", 0}} {
				s, err := store.Commit(soon(t), b)
				if err != nil {
					t.Fatal(err)
				}
				done := fmt.Sprint(append(s.Confirmed, s.Committed...))
				if done != want.done || len(s.Locked) != want.locked || want.locked == 1 && s.Locked[0].ID != jobs[1].ID {
					t.Errorf("done %v, locked %v, want %v", done, s.Locked, want)
				}
				end()
			}
		})
	}
}

// A transaction that was left open on a job of a dead node does not keep the
// others of its jobs from being freed, nor nodes from renewing their leases; that
// job is freed when the transaction is over, however long that takes.
func TestLockedJobOfDeadNodeIsFreedLater(t *testing.T) {
	for _, departure := range []string{"dies", "leaves"} {
		t.Run(departure, func(t *testing.T) {
			store := open(t, dsn(t))
			jobs := claimed(t, store, "dead", 3, 0)
			must(store.Join(t.Context(), "alive", time.Hour))
			end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
			if departure == "dies" {
				must(store.Heartbeat(t.Context(), "dead", -time.Second, durable.Watch{}))
				if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durable.Watch{}); err != nil || !p.Alive || p.Freed != 2 {
					t.Fatalf("pulse is %+v: %v", p, err)
				}
			} else if err := store.Leave(soon(t), "dead"); err != nil {
				t.Fatal(err)
			}
			if c := must(store.Claim(t.Context(), durable.ClaimRequest{Node: "dead", Limit: 9, Kinds: []durable.KindLimit{{Kind: "k", Max: 9}}})); len(c.Jobs) != 0 {
				t.Errorf("the dead node claimed %d jobs", len(c.Jobs))
			}
			if p, err := store.Heartbeat(soon(t), "dead", time.Hour, durable.Watch{}); err != nil || p.Alive {
				t.Errorf("the dead node's pulse is %+v: %v", p, err)
			}
			if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durable.Watch{}); err != nil || p.Freed != 0 {
				t.Errorf("pulse is %+v: %v", p, err)
			}
			end()
			if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durable.Watch{}); err != nil || p.Freed != 1 {
				t.Errorf("pulse is %+v: %v", p, err)
			}
			if got := must(store.Get(t.Context(), jobs[1].ID)); got.State != durable.Waiting || got.Owner != "" {
				t.Errorf("job is %+v", got)
			}
		})
	}
}

// A transaction that was left open on a dead node's own row, as of a claim whose
// client was stopped, does not keep nodes from renewing their leases.
func TestLockedDeadNodeIsBuriedLater(t *testing.T) {
	store := open(t, dsn(t))
	claimed(t, store, "dead", 1, 0)
	must(store.Join(t.Context(), "alive", time.Hour))
	must(store.Heartbeat(t.Context(), "dead", -time.Second, durable.Watch{}))
	end := leaveOpen(t, store, "select from executor_node where id = 'dead' for key share")
	if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durable.Watch{}); err != nil || !p.Alive || p.Freed != 0 {
		t.Errorf("pulse is %+v: %v", p, err)
	}
	end()
	if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durable.Watch{}); err != nil || p.Freed != 1 {
		t.Errorf("pulse is %+v: %v", p, err)
	}
}

// What can't be given back, since a transaction was left open on its row, is told;
// all else is given back.
func TestLockedJobIsReleasedLater(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 3, 0)
	end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
	for _, want := range []bool{true, false} {
		left, err := store.Release(soon(t), "a", []durable.ID{jobs[0].ID})
		if err != nil || left != want {
			t.Errorf("left %v, want %v: %v", left, want, err)
		}
		end()
	}
	for i, want := range []durable.State{durable.Running, durable.Waiting, durable.Waiting} {
		if got := must(store.Get(t.Context(), jobs[i].ID)); got.State != want {
			t.Errorf("job %d is %v, want %v", i, got.State, want)
		}
	}
}

// A job that a claim or an insert gives to a node, which has given up waiting for
// it, is not overlooked by a release that comes before the commit: it says that
// there is something left, and the next one frees it.
func TestReleaseKnowsWhatIsStillUnderWay(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	j := must(store.Insert(t.Context(), []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}}, durable.Placement{}))[0].Job
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(tx.Exec("select from executor_node where id = 'a' for key share"))
	must(tx.Exec(sqlrow.SQL("update executor_job set state = {Running}, owner = 'a', epoch = 1, attempt = 1 where id = $1"), uuidText(j)))
	if left, err := store.Release(soon(t), "a", nil); err != nil || !left {
		t.Errorf("before the commit left is %v: %v", left, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if left, err := store.Release(soon(t), "a", nil); err != nil || left {
		t.Errorf("after the commit left is %v: %v", left, err)
	}
	if got := must(store.Get(t.Context(), j.ID)); got.State != durable.Waiting || got.Attempt != 0 {
		t.Errorf("job is %+v", got)
	}
}

// Transactions of handlers take no connection from the store, however many are
// open: a node must be able to renew its lease.
func TestHandlersTransactionsLeaveTheStoreAlone(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	for range 20 {
		leaveOpen(t, store, "select 1")
	}
	if p, err := store.Heartbeat(soon(t), "a", time.Hour, durable.Watch{}); err != nil || !p.Alive {
		t.Errorf("pulse is %+v: %v", p, err)
	}
}
