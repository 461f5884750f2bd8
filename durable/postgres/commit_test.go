package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// A transaction that is open on one job's row does not keep others of the same group from being confirmed and
// committed. The answer names that one, and it is done when the transaction is over.
func TestCommitSkipsLockedJobs(t *testing.T) {
	for what, ahead := range map[string]time.Duration{"confirm": time.Minute, "commit": 0} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t))
			jobs := claimed(t, store, "a", 3, ahead)
			end := leaveOpen(t, store, lockJob, uuidText(jobs[1]))
			b := durablestore.CommitRequest{Node: "a", History: 10}
			for _, j := range jobs {
				if what == "confirm" {
					b.Confirms = append(b.Confirms, durablestore.Confirm{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}})
				} else {
					b.Outcomes = append(b.Outcomes,
						durable.Outcome{Ref: durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded,
							Due: j.Due, Occurrence: j.Occurrence})
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
				if done != want.done || len(s.Locked) != want.locked || want.locked == 1 &&
					s.Locked[0].ID != jobs[1].ID {
					t.Errorf("done %v, locked %v, want %v", done, s.Locked, want)
				}
				end()
			}
		})
	}
}
