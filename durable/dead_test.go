package durable_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Dead jobs whose errors differ in numbers alone have failed for the same reason.
func TestDeadGroupsByReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(_ context.Context, text string) (int, error) {
			return 0, executor.Permanent(errors.New(text))
		})
		start(t, jobs)
		var ids []durable.ID
		for _, text := range []string{
			"mailbox 17 of 0xdead is full\nat line 3", "no route", "mailbox 4 of 0xbeef is full",
			"request 01a211a8-96f5-7217-a7a9-861bd7de7d60 timed out after 3.5s", "mailbox 5 of 0x1 is full",
			"request 01a211a896f57217a7a9861bd7de7d61 timed out after 10.25s",
		} {
			ids = append(ids, must(k.Add(t.Context(), text)))
			k.Await(t.Context(), ids[len(ids)-1])
			time.Sleep(time.Second)
		}
		groups := must(jobs.DeadGroups(t.Context()))
		want := []struct {
			reason      string
			n           int
			first, last durable.ID
		}{
			{"mailbox # of # is full", 3, ids[0], ids[4]}, {"request # timed out after #.#s", 2, ids[3], ids[5]},
			{"no route", 1, ids[1], ids[1]},
		}
		if len(groups) != len(want) {
			t.Fatalf("groups are %+v", groups)
		}
		for i, g := range groups {
			w := want[i]
			if g.Kind != "k" || g.Reason != w.reason || g.Jobs != w.n || len(g.IDs) != w.n || g.IDs[0] != w.last ||
				g.IDs[w.n-1] != w.first || !g.Last.Equal(must(jobs.Get(t.Context(), w.last)).Updated) ||
				!g.First.Equal(must(jobs.Get(t.Context(), w.first)).Updated) {
				t.Errorf("group %d is %+v, want %+v", i, g, w)
			}
		}
	})
}
