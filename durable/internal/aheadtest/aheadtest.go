// Package aheadtest tests that a store does not forget that its clock was ahead when the times of a schedule were found:
// while the schedule waits for such a time, nothing that nodes do puts its Updated back.
package aheadtest

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Step is by how much the clock is set back.
const Step = 30 * 24 * time.Hour

// Columns are the columns of a table of jobs with times that setBack of Run puts forward, where the clock can't be set.
// Those that are 0 stay so.
var Columns = []string{"due", "occurrence", "anchor", "updated", "next_due"}

// Run runs the tests on an empty store. setBack sets its clock back by Step or, which is the same, puts the times of all
// jobs forward.
func Run(t *testing.T, s store.Full, setBack func()) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	node := func(lease time.Duration) string {
		name := durable.NewID().String()
		_, err := s.Join(ctx, name, lease)
		must(err)
		return name
	}
	// taken returns a schedule that a node has claimed, and that is due after the delay.
	taken := func(node string, delay time.Duration) durable.Job {
		n := durable.NewJob{ID: durable.NewID(), Key: durable.NewID().String(), Kind: "k", Schedule: "rate 1h0m0s", Delay: delay, Attempts: 3}
		_, err := s.Insert(ctx, []durable.NewJob{n}, store.Placement{})
		must(err)
		c, err := s.Claim(ctx, store.ClaimRequest{Node: node, Ahead: time.Minute, Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}})
		must(err)
		if len(c.Jobs) != 1 || c.Jobs[0].ID != n.ID {
			t.Fatalf("claimed %+v", c.Jobs)
		}
		return c.Jobs[0]
	}
	commit := func(b store.CommitRequest) {
		_, err := s.Commit(ctx, b)
		must(err)
	}
	for name, free := range map[string]func(node string, j durable.Job){
		"release": func(node string, j durable.Job) {
			_, err := s.Release(ctx, node, nil)
			must(err)
		},
		"confirm and release": func(node string, j durable.Job) {
			commit(store.CommitRequest{Node: node, Confirms: []store.Confirm{{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}}}})
			_, err := s.Release(ctx, node, nil)
			must(err)
		},
		"leave": func(node string, j durable.Job) { must(s.Leave(ctx, node)) },
	} {
		t.Run(name, func(t *testing.T) {
			holder := node(time.Hour)
			j := taken(holder, 30*time.Second)
			setBack()
			free(holder, j)
			wantAhead(t, s, j.ID)
		})
	}
	t.Run("node is lost", func(t *testing.T) {
		j := taken(node(time.Millisecond), 30*time.Second)
		setBack()
		heir := node(time.Hour)
		for freed := 0; freed == 0; {
			pulse, err := s.Heartbeat(ctx, heir, time.Hour, store.Watch{})
			must(err)
			freed = pulse.Freed
		}
		wantAhead(t, s, j.ID)
	})
	t.Run("next time of a run", func(t *testing.T) {
		holder := node(time.Hour)
		j := taken(holder, -time.Second)
		now, err := s.Now(ctx)
		must(err)
		_, err = s.Change(ctx, j.ID, store.Change{Op: store.OpReschedule, Due: now.Add(time.Hour).Truncate(time.Microsecond)})
		must(err)
		setBack()
		commit(store.CommitRequest{Node: holder, Outcomes: []store.Outcome{{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch},
			Due: j.Due.Add(time.Hour), Occurrence: j.Due.Add(time.Hour), Run: store.Run{Started: j.Due, Finished: j.Due}}}})
		wantAhead(t, s, j.ID)
	})
	t.Run("run without one", func(t *testing.T) {
		holder := node(time.Hour)
		j := taken(holder, -time.Second)
		setBack()
		now, err := s.Now(ctx)
		must(err)
		next := now.Add(time.Hour).Truncate(time.Microsecond)
		commit(store.CommitRequest{Node: holder, Outcomes: []store.Outcome{{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch},
			Due: next, Occurrence: next, Run: store.Run{Started: j.Due, Finished: j.Due}}}})
		got, err := s.Get(ctx, j.ID)
		must(err)
		if got.State != durable.Waiting || got.Updated.After(now.Add(time.Hour)) {
			t.Errorf("it is %+v at %v", got, now)
		}
	})
}

// wantAhead fails the test unless a job waits for a time that is ahead, and was updated then.
func wantAhead(t *testing.T, s store.Full, id durable.ID) {
	t.Helper()
	j, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	least := now.Add(Step - time.Hour)
	if j.State != durable.Waiting || j.Due.Before(least) || j.Updated.Before(least) {
		t.Errorf("it is %v, due at %v, updated at %v, now is %v", j.State, j.Due, j.Updated, now)
	}
}
