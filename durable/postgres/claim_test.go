package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A kind with a limit for all nodes is claimed also if its row was lost while nodes run, as at a failover to a server
// that does not have the newest commits.
func TestClaimMakesLostLimitAgain(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	claim := func() durablestore.ClaimResult {
		return must(store.Claim(t.Context(), durablestore.ClaimRequest{
			Node: "a", Ahead: time.Minute, Limit: 10, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 10, Global: 3}},
		}))
	}
	claim()
	must(store.DB().Exec("truncate executor_limit"))
	must(store.Insert(t.Context(), []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3}},
		durablestore.Placement{}))
	for n := 0; ; n++ {
		c := claim()
		if len(c.Jobs) == 1 {
			break
		}
		if n == 10 {
			t.Fatalf("nothing was claimed, busy is %v", c.Busy)
		}
	}
}

// A claim does not wait for a job whose row an open transaction has locked: it takes the others.
func TestClaimSkipsLockedJobs(t *testing.T) {
	store := open(t, dsn(t))
	jobs := claimed(t, store, "a", 3, 0)
	must(store.Release(t.Context(), "a", nil))
	leaveOpen(t, store, lockJob, uuidText(jobs[0]))
	for _, limit := range []int{3, 2} { // with a kind's limit, and without
		c := must(store.Claim(soon(t),
			durablestore.ClaimRequest{Node: "a", Limit: 3, Kinds: []durablestore.KindLimit{{Kind: "k", Max: limit}}}))
		if len(c.Jobs) != 2 || c.Jobs[0].ID == jobs[0].ID || c.Jobs[1].ID == jobs[0].ID {
			t.Errorf("claimed %+v", c.Jobs)
		}
		must(store.Release(t.Context(), "a", nil))
	}
}

// A claim does not wait for the row of its node, which a transaction has locked, nor does an insert for the node: they
// give it nothing, and a claim says that there may be more in a moment.
func TestClaimSkipsLockedNode(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	one := func(queue string) durable.NewJob {
		return durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 3, Queue: queue}
	}
	must(store.Insert(t.Context(), []durable.NewJob{one(""), one("q")}, durablestore.Placement{}))
	end := leaveOpen(t, store, "select from executor_node where id = 'a' for update")
	kinds := map[string]durablestore.KindLimit{
		"plain": {Kind: "k", Max: 10}, "one": {Kind: "k", Max: 1}, "global": {Kind: "k", Max: 10, Global: 5},
		"rate": {Kind: "k", Max: 10, Rate: durablestore.Rate{Every: time.Second, Burst: 5}}, "parts": {Kind: "k", Max: 10, PerPartition: 5},
	}
	for name, kind := range kinds {
		r := durablestore.ClaimRequest{Node: "a", Limit: 10, Kinds: []durablestore.KindLimit{kind}}
		claim := store.Claim
		if kind.Limited() {
			claim = store.ClaimLimited
		}
		if c := must(claim(soon(t), r)); len(c.Jobs) > 0 || !c.Busy {
			t.Errorf("%s: claimed %+v", name, c)
		}
		if c := must(store.ClaimQueue(soon(t), "q", r)); len(c.Jobs) > 0 || !c.Busy {
			t.Errorf("%s: of a queue claimed %+v", name, c)
		}
	}
	p := durablestore.Placement{Node: "a", Ahead: time.Minute, Limit: 1}
	if placed := must(store.Insert(soon(t), []durable.NewJob{one("")}, p)); placed[0].Held {
		t.Errorf("placed %+v", placed[0])
	}
	end()
	r := durablestore.ClaimRequest{Node: "a", Limit: 10, Kinds: []durablestore.KindLimit{kinds["plain"]}}
	if c := must(store.Claim(t.Context(), r)); len(c.Jobs) != 2 || c.Busy {
		t.Errorf("claimed %+v, want both of the default queue", c)
	}
	r.Node = "none"
	if c := must(store.Claim(t.Context(), r)); len(c.Jobs) > 0 || c.Busy {
		t.Errorf("a node that is not there claimed %+v", c)
	}
}

// The server plans a claim once, not each time, however many jobs wait: a plan takes longer than a claim.
func TestClaimIsPlannedOnce(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	must(store.DB().Exec(`insert into executor_job (`+sqlrow.Columns+`)
		select gen_random_uuid(), null, 'k', '', 0, 'once', '', 0, $1::bigint + i * 1000, 0, 0, 0, 0, 0, '', 0, 1, 0, 0, 0, '', null, 0, 0, false, '', '', '', '', 0, ''
		from generate_series(1, 100000) i`, time.Now().Add(time.Hour).UnixMicro()))
	must(store.DB().Exec("analyze"))
	conn := must(store.DB().Conn(t.Context()))
	defer conn.Close()
	for name, with := range map[string]struct{ statement, types, arguments string }{
		"plenty":  {postgres.ClaimPlenty, "", ""},
		"bounded": {postgres.ClaimBounded, ", bigint[]", ", '{0}'"},
		"limited": {postgres.ClaimLimited, ", bigint[], bigint[], bigint[], bigint[]", ", '{0}', '{0}', '{0}', '{0}'"},
		"queue":   {postgres.ClaimQueued, ", text", ", 'q'"},
	} {
		must(conn.ExecContext(t.Context(), fmt.Sprintf("prepare claim_%s (text, bigint, bigint, bigint, text[], bigint[], bigint[], bigint[], bigint[]%s) as %s",
			name, with.types, with.statement)))
		plan := ""
		for range 8 { // five for the values, to compare
			rows := must(conn.QueryContext(t.Context(), fmt.Sprintf("explain execute claim_%s ('a', 1000000, 1000000, 20, '{k}', '{20}', '{0}', '{0}', '{0}'%s)",
				name, with.arguments)))
			plan = strings.Join(must(sqlrow.Strings(rows, nil)), "\n")
		}
		if !strings.Contains(plan, "(id = $1)") {
			t.Errorf("%s: the plan is for the values of the arguments\n%s", name, plan)
		}
	}
}
