package subject_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// Every subject really runs, or cancels, all tasks of each kind of work that it
// claims to do.
func TestSubjectsDoTheirWork(t *testing.T) {
	small := workload.Params{Tasks: 200, Workers: 2, Submitters: 2, Pending: 50, Period: time.Millisecond}
	for _, s := range subject.All() {
		for kind, do := range s.Can {
			if do == nil || kind == workload.Lateness || kind == workload.Idle || kind == workload.Fire {
				continue // another program's, or a matter of real time
			}
			t.Run(s.ID+"/"+string(kind), func(t *testing.T) {
				r := do(small)
				if err := r.Check(); err != nil {
					t.Error(err)
				}
				if kind != workload.Pending && r.Want == 0 {
					t.Error("nothing was counted")
				}
			})
		}
	}
}

// Every subject says how it is used and, but for ours, when to choose it.
func TestSubjectsAreDescribed(t *testing.T) {
	for _, s := range subject.All() {
		if s.Title == "" || s.How == "" || s.Choose == "" && s.ID != subject.Ours {
			t.Errorf("%s lacks a description", s.ID)
		}
		if found, ok := subject.Find(s.ID); !ok || found.Title != s.Title {
			t.Errorf("%s is not found by its id", s.ID)
		}
	}
}
