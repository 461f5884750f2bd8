package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A transaction that is open on a job of a dead node does not keep the others of its jobs from being freed, nor nodes
// from renewing their leases; that job is freed when the transaction is over, however long that takes.
func TestHeartbeatSkipsLockedJobs(t *testing.T) {
	for _, departure := range []string{"dies", "leaves"} {
		t.Run(departure, func(t *testing.T) {
			store := open(t, dsn(t))
			jobs := claimed(t, store, "dead", 3, 0)
			must(store.Join(t.Context(), "alive", time.Hour))
			end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
			if departure == "dies" {
				must(store.Heartbeat(t.Context(), "dead", -time.Second, durablestore.Watch{}))
				if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durablestore.Watch{}); err != nil || !p.Alive ||
					p.Freed != 2 {
					t.Fatalf("answer is %+v: %v", p, err)
				}
			} else if err := store.Leave(soon(t), "dead"); err != nil {
				t.Fatal(err)
			}
			if c := must(store.Claim(t.Context(),
				durablestore.ClaimRequest{Node: "dead", Limit: 9,
					Kinds: []durablestore.KindLimit{{Kind: "k", Max: 9}}})); len(c.Jobs) != 0 {
				t.Errorf("the dead node claimed %d jobs", len(c.Jobs))
			}
			if p, err := store.Heartbeat(soon(t), "dead", time.Hour, durablestore.Watch{}); err != nil || p.Alive {
				t.Errorf("the dead node's answer is %+v: %v", p, err)
			}
			if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durablestore.Watch{}); err != nil || p.Freed != 0 {
				t.Errorf("answer is %+v: %v", p, err)
			}
			end()
			if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durablestore.Watch{}); err != nil || p.Freed != 1 {
				t.Errorf("answer is %+v: %v", p, err)
			}
			if got := must(store.Get(t.Context(), jobs[1].ID)); got.State != durable.Waiting || got.Owner != "" {
				t.Errorf("job is %+v", got)
			}
		})
	}
}

// A transaction that is open on a dead node's own row, as of a claim whose client was stopped, does not keep nodes from
// renewing their leases.
func TestHeartbeatSkipsLockedNode(t *testing.T) {
	store := open(t, dsn(t))
	claimed(t, store, "dead", 1, 0)
	must(store.Join(t.Context(), "alive", time.Hour))
	must(store.Heartbeat(t.Context(), "dead", -time.Second, durablestore.Watch{}))
	end := leaveOpen(t, store, "select from executor_node where id = 'dead' for key share")
	if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durablestore.Watch{}); err != nil || !p.Alive || p.Freed != 0 {
		t.Errorf("answer is %+v: %v", p, err)
	}
	end()
	if p, err := store.Heartbeat(soon(t), "alive", time.Hour, durablestore.Watch{}); err != nil || p.Freed != 1 {
		t.Errorf("answer is %+v: %v", p, err)
	}
}

// Release reports that it could not free a job, since a transaction is open on its row, and frees all others.
func TestReleaseSkipsLockedJobs(t *testing.T) {
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
	for i, want := range []durable.State{durable.Confirmed, durable.Waiting, durable.Waiting} {
		if got := must(store.Get(t.Context(), jobs[i].ID)); got.State != want {
			t.Errorf("job %d is %v, want %v", i, got.State, want)
		}
	}
}

// A release that comes before the commit of a claim or an insert, for which its node has given up waiting, reports that
// something is left, and the next one frees it.
func TestReleaseReportsCallsUnderWay(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	j := must(store.Insert(t.Context(),
		[]durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}}, durablestore.Placement{}))[0].Job
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(tx.Exec("select from executor_node where id = 'a' for key share"))
	must(tx.Exec(sqlrow.SQL("update executor_job set state = {Granted}, owner = 'a', epoch = 1 where id = $1"), uuidText(j)))
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

// A heartbeat finds by indexes whether a job is due, and a child to be told of the end of a parent: it does not cost
// more where more jobs wait, or have parents, also before the server has statistics of these.
func TestHeartbeatUsesIndex(t *testing.T) {
	store := open(t, dsn(t))
	later := time.Now().Add(24 * time.Hour).UnixMicro()
	must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, $1::bigint + i, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 20000) i`, later))
	must(store.DB().Exec("analyze executor_job"))
	must(store.DB().Exec(`insert into executor_parent (child, ord, parent, state, late)
		select gen_random_uuid(), 0, gen_random_uuid(), 0, false from generate_series(1, 20000)`))
	must(store.Join(t.Context(), "a", time.Hour))
	rows := must(store.DB().Query("explain (analyze, timing off) "+postgres.Heartbeat, "a", time.Hour.Microseconds(),
		[]string{"k", "other"}, time.Minute.Microseconds(), []int64{0, 0}, []int64{0, 0}, []int64{0, 0}))
	plan := strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
	if !strings.Contains(plan, "using executor_job_due") || !strings.Contains(plan, "using executor_parent_late") ||
		strings.Contains(plan, "Seq Scan on executor_job ") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// A lease that ends later than it can, since the server's clock was put back, is cut down by the next heartbeat of
// another node: its owner may be dead.
func TestHeartbeatCutsLeaseAfterClockWasPutBack(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "dead", time.Minute))
	must(store.Join(t.Context(), "alive", time.Minute))
	must(store.DB().Exec("update executor_node set lease_until = lease_until + 3600000000"))
	p := must(store.Heartbeat(t.Context(), "alive", time.Minute, durablestore.Watch{}))
	var until int64
	if err := store.DB().QueryRow("select lease_until from executor_node where id = 'dead'").Scan(&until); err != nil {
		t.Fatal(err)
	}
	if left := time.UnixMicro(until).Sub(p.Now); left != time.Minute {
		t.Errorf("the lease ends in %v", left)
	}
}

// A heartbeat that can't say which kinds are paused says that it has renewed the lease.
func TestHeartbeatFailsAfterRenewal(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	if err := store.PauseKind(t.Context(), "k", true); err != nil {
		t.Fatal(err)
	}
	must(store.DB().Exec("alter table executor_pause rename column kind to other"))
	_, err := store.Heartbeat(t.Context(), "a", time.Hour, durablestore.Watch{})
	must(store.DB().Exec("alter table executor_pause rename column other to kind"))
	if renewed := (*durablestore.RenewedError)(nil); !errors.As(err, &renewed) || renewed.Now.IsZero() {
		t.Errorf("the error is %v", err)
	}
}

// What is asked of a job at the moment in which its node is found dead is done, though that was its last attempt.
func TestHeartbeatObeysWhatIsAskedMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		ask  func(t *testing.T, store *postgres.Store, j durable.Job)
		want durable.State
	}{
		"cancel": {func(t *testing.T, store *postgres.Store, j durable.Job) {
			if a := must(store.Change(t.Context(), j.ID, durable.Change{Op: durable.OpCancel})); a != durable.Deferred {
				t.Errorf("the cancel was answered %v", a)
			}
		}, durable.Canceled},
		"run again": {func(t *testing.T, store *postgres.Store, j durable.Job) {
			again := durable.NewJob{ID: durable.NewID(), Key: j.Key, ReuseKey: true, Kind: j.Kind, Schedule: "once", Attempts: 1}
			if p := must(store.Insert(t.Context(), []durable.NewJob{again}, durablestore.Placement{})); !p[0].Changed || p[0].ID != j.ID {
				t.Errorf("the insert was answered %+v", p)
			}
		}, durable.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, dsn(t))
			must(store.Join(t.Context(), "dead", time.Hour))
			must(store.Join(t.Context(), "alive", time.Hour))
			n := durable.NewJob{ID: durable.NewID(), Key: "key", Kind: "k", Schedule: "once", Attempts: 1}
			j := must(store.Insert(t.Context(), []durable.NewJob{n}, durablestore.Placement{Node: "dead", Limit: 1}))[0]
			begin := durablestore.Begin{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, Started: j.Now}
			must(store.Commit(t.Context(), durablestore.CommitRequest{Node: "dead", Begun: []durablestore.Begin{begin}}))
			must(store.Heartbeat(t.Context(), "dead", -time.Second, durablestore.Watch{}))
			goOn := stall(t, store, "executor_begun", "for update of j skip locked")
			var wg sync.WaitGroup
			wg.Go(func() { must(store.Heartbeat(t.Context(), "alive", time.Hour, durablestore.Watch{})) })
			waitForWaiting(t, store, 1)
			test.ask(t, store, j.Job)
			goOn()
			wg.Wait()
			must(store.Heartbeat(t.Context(), "alive", time.Hour, durablestore.Watch{}))
			if got := must(store.Get(t.Context(), j.ID)); got.State != test.want {
				t.Errorf("it is %v, want %v", got.State, test.want)
			}
		})
	}
}
