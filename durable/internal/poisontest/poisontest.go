// Package poisontest has rows that no program of ours would write: a restore that is older than the rest, an update by
// hand, or somebody who means harm. One of them must not stop the jobs of others.
package poisontest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A Case is what one column of one row has. Declined cases are those that the database itself must not take.
type Case struct {
	Column, Value string // of SQL
	Declined      bool
}

// Cases returns what is tried on each store.
func Cases() []Case {
	var cases []Case
	add := func(declined bool, values string, columns ...string) {
		for _, column := range columns {
			for value := range strings.FieldsSeq(values) {
				cases = append(cases, Case{column, value, declined})
			}
		}
	}
	add(true, "-1 7 200 300 32767", "state")
	add(true, "-1 3 300", "pending")
	add(true, "-100 2 300", "priority")
	add(true, "9223372036854775807 -1 -9223372036854775808", "epoch", "runs")
	add(true, "2147483647 -1", "attempt", "attempts", "lost")
	add(false, "0 1073741824", "attempt", "attempts", "lost")
	add(false, "4611686018427387904", "epoch", "runs")
	add(false, "9223372036854775807 -9223372036854775807 -1 0", "due", "anchor", "occurrence", "next_due", "created",
		"updated", "timeout")
	add(false, "'' 'nonsense'", "schedule", "missed", "error", "meta")
	add(false, "''", "key", "kind")
	add(true, "'nobody'", "owner")
	return cases
}

// String returns the case as a part of an update.
func (c Case) String() string { return c.Column + " = " + c.Value }

// Fill adds jobs of two kinds, and returns one of them that waits, and one that runs on a node which is about to be
// dead.
func Fill(t testing.TB, s durable.Store) (waits, runs durable.ID) {
	t.Helper()
	ctx := t.Context()
	var batch []durable.NewJob
	for i := range 20 {
		batch = append(batch, durable.NewJob{ID: durable.NewID(), Kind: fmt.Sprint("k", i%2), Payload: []byte(`""`),
			Schedule: "once", Delay: -time.Minute, Attempts: 3})
	}
	batch[1].Kind = "held"
	check(t, err(s.Insert(ctx, batch, store.Placement{})))
	check(t, err(s.Join(ctx, "dead", time.Hour)))
	c, e := s.Claim(ctx, store.ClaimRequest{Node: "dead", Limit: 10, Kinds: []store.KindLimit{{Kind: "held", Max: 10}}})
	if e != nil || len(c.Jobs) != 1 {
		t.Fatalf("claimed %+v: %v", c.Jobs, e)
	}
	return batch[0].ID, batch[1].ID
}

// Judge holds that all jobs but those that were poisoned are run, that a dead node is freed and the living keep their
// leases, that lists and counts have everything, and that these jobs can be removed.
func Judge(t testing.TB, s durable.Store, poisoned ...durable.ID) {
	t.Helper()
	ctx := t.Context()
	check(t, err(s.Join(ctx, "alive", time.Hour)))
	check(t, err(s.Heartbeat(ctx, "dead", -time.Second, store.Watch{})))
	kinds := []string{"k0", "k1", "held"}
	p, e := s.Heartbeat(ctx, "alive", time.Hour, store.Watch{Kinds: kinds, Ahead: time.Hour})
	if e != nil || !p.Alive {
		t.Errorf("the heartbeat failed: %+v, %v", p, e)
	}
	if _, e := s.Release(ctx, "alive", nil); e != nil {
		t.Errorf("release: %v", e)
	}
	r := store.ClaimRequest{Node: "alive", Limit: 7, Ahead: time.Minute}
	for _, kind := range kinds {
		r.Kinds = append(r.Kinds, store.KindLimit{Kind: kind, Max: 7})
	}
	done := make(map[durable.ID]bool)
	for range 10 {
		c, e := s.Claim(ctx, r)
		if e != nil {
			t.Fatalf("claim: %v", e)
		}
		b := store.CommitRequest{Node: "alive", History: 10}
		for _, j := range c.Jobs {
			o := durable.Outcome{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded, Due: j.Due,
				Occurrence: j.Occurrence, Attempt: j.Attempt + 1, Run: durable.Run{Occurrence: j.Occurrence}}
			b.Outcomes, b.Begun = append(b.Outcomes, o), append(b.Begun, store.Begin{Ref: o.Ref, Started: c.Now})
			if j.State == durable.Claimed {
				b.Confirms = append(b.Confirms, store.Confirm{Ref: o.Ref})
			}
			done[j.ID] = true
		}
		check(t, err(s.Commit(ctx, b)))
	}
	others := 20 - len(poisoned)
	for _, id := range poisoned {
		delete(done, id)
	}
	if len(done) != others {
		t.Errorf("%d of %d other jobs were run", len(done), others)
	}
	jobs, e := s.List(ctx, durable.Filter{})
	if e != nil || len(jobs) != 20 {
		t.Errorf("the list has %d of 20 jobs: %v", len(jobs), e)
	}
	counts, e := s.Counts(ctx, durable.Filter{})
	n := 0
	for _, c := range counts {
		n += c.Jobs
	}
	if e != nil || n != 20 {
		t.Errorf("%d of 20 jobs are counted: %v", n, e)
	}
	check(t, err(s.Kinds(ctx)))
	check(t, err(s.Prune(ctx, durable.Retention{Succeeded: time.Hour, Dead: time.Hour, History: time.Hour})))
	for _, j := range jobs {
		if _, e := j.Due.MarshalText(); e != nil {
			t.Errorf("job %+v can't be written as JSON: %v", j, e)
		}
		if done[j.ID] {
			continue
		}
		if !slices.Contains(poisoned, j.ID) && j.Error == "" {
			t.Errorf("nothing is said about job %+v", j)
		}
		if a, e := s.Change(ctx, j.ID, durable.Change{Op: durable.OpDelete}); a != durable.Applied {
			t.Errorf("removing job %+v was answered %v, %v", j, a, e)
		}
		if _, e := s.Get(ctx, j.ID); e == nil {
			t.Errorf("job %+v was not removed", j)
		}
	}
}

func err[T any](_ T, err error) error { return err }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Name returns the name of a test.
func Name(c Case, held bool) string {
	name := c.String()
	if held {
		name += " of a dead node's"
	}
	return name
}
