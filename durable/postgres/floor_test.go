package postgres_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/sqlrow"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
)

var hit = regexp.MustCompile(`shared hit=(\d+)`)

// pages returns how many pages a statement has read.
func pages(t *testing.T, store *postgres.Store, statement string, args ...any) int {
	t.Helper()
	rows, err := store.DB().Query("explain (analyze, buffers, timing off) "+statement, args...)
	plan := strings.Join(must(sqlrow.Strings(rows, err)), "\n")
	return must(strconv.Atoi(hit.FindStringSubmatch(plan)[1])) // of the whole, which comes first
}

// While a transaction is open, what was claimed since its begin stays in the index. A look passes it once, and not
// again for as long as that would take a good part of the time: neither a claim nor a heartbeat.
func TestLookPassesDeadRowsOnce(t *testing.T) {
	same := dsn(t)
	store := open(t, same)
	must(store.Join(t.Context(), "a", time.Hour))
	tx := must(store.DB().BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(tx.Exec("set transaction isolation level repeatable read; select from executor_job"))
	const n = 10_000
	var batch []durable.NewJob
	for range n {
		batch = append(batch, durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: -time.Minute, Attempts: 3})
	}
	must(store.Insert(t.Context(), batch, durablestore.Placement{}))
	r := durablestore.ClaimRequest{Node: "a", Ahead: time.Second, Limit: n, Kinds: []durablestore.KindLimit{{Kind: "k", Max: n}}}
	for claimed := 0; claimed < n; {
		claimed += len(must(store.Claim(t.Context(), r)).Jobs)
	}
	must(store.Claim(t.Context(), r)) // nothing is left
	full := []any{"a", r.Ahead.Microseconds(), 0, r.Limit, []string{"k"}, []int64{n}, []int64{0}, []int64{0}, []int64{0}}
	high, normal, low := store.Floors("k")
	if normal[0] < 0 {
		t.Fatal("the next look begins anew, though the last took long")
	}
	floored := append(full[:6:6], high, normal, low)
	passed, skipped := pages(t, store, postgres.ClaimPlenty, full...), pages(t, store, postgres.ClaimPlenty, floored...)
	if passed < 100 || skipped > passed/10 {
		t.Errorf("a look reads %d pages, and %d without a floor", skipped, passed)
	}
	beat := []any{"a", time.Hour.Microseconds(), []string{"k"}, r.Ahead.Microseconds()}
	passed, skipped = pages(t, store, postgres.Heartbeat, append(beat[:4:4], full[6:]...)...),
		pages(t, store, postgres.Heartbeat, append(beat[:4:4], floored[6:]...)...)
	if passed-skipped < 100 {
		t.Errorf("a heartbeat reads %d pages, and %d without a floor", skipped, passed)
	}

	// What is due is found all the same; so is what was due before, by this store at once, and by others a little
	// later.
	late := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Delay: -time.Hour, Attempts: 3}
	soon := late
	soon.ID, soon.Delay = durable.NewID(), 0
	must(store.Insert(t.Context(), []durable.NewJob{late, soon}, durablestore.Placement{}))
	if c := must(store.Claim(t.Context(), r)); len(c.Jobs) != 2 {
		t.Errorf("%d of 2 jobs were found", len(c.Jobs))
	}
	late.ID = durable.NewID()
	must(open(t, same).Insert(t.Context(), []durable.NewJob{late}, durablestore.Placement{}))
	for begun, found := time.Now(), 0; found == 0; found = len(must(store.Claim(t.Context(), r)).Jobs) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("what another store has added was not found")
		}
	}
}

// Looks that find more than they may take begin the next time where they have ended, by kind and priority.
func TestLookGoesOnWhereItEnded(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	var batch []durable.NewJob
	for i := range 30 {
		batch = append(batch, durable.NewJob{ID: durable.NewID(), Kind: []string{"k", "l"}[i%2], Schedule: "once",
			Priority: durable.Priority(i%3 - 1), Delay: time.Duration(i-100) * time.Second, Attempts: 3})
	}
	must(store.Insert(t.Context(), batch, durablestore.Placement{}))
	seen := make(map[durable.ID]bool)
	for range 20 {
		c := must(store.Claim(t.Context(), durablestore.ClaimRequest{Node: "a", Limit: 4,
			Kinds: []durablestore.KindLimit{{Kind: "k", Max: 2}, {Kind: "l", Max: 4}}}))
		for _, j := range c.Jobs {
			seen[j.ID] = true
		}
	}
	if len(seen) != len(batch) {
		t.Errorf("%d of %d jobs were claimed", len(seen), len(batch))
	}
}

// A look passes no job that was due before 1970.
func TestFloorsKnowTimesBefore1970(t *testing.T) {
	store := open(t, dsn(t))
	must(store.Join(t.Context(), "a", time.Hour))
	for year := range 2 {
		n := durable.NewJob{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1, Due: time.Date(1960+year, 1, 1, 0, 0, 0, 0, time.UTC)}
		must(store.Insert(t.Context(), []durable.NewJob{n}, durablestore.Placement{}))
	}
	for range 2 {
		c := must(store.Claim(t.Context(), durablestore.ClaimRequest{Node: "a", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}))
		if _, floor, _ := store.Floors("k"); len(c.Jobs) != 1 || floor[0] > c.Jobs[0].Due.UnixMicro() {
			t.Errorf("claimed %+v, and the next look begins at %v", c.Jobs, time.UnixMicro(floor[0]))
		}
	}
}
