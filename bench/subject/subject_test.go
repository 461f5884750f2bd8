package subject_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/bench/postgres"
	"github.com/executor-go/executor/bench/subject"
	"github.com/executor-go/executor/bench/workload"
)

// Every subject runs, or cancels, all tasks of each kind of work that it supports.
func TestSubjectRunsAllTasks(t *testing.T) {
	missing := usePostgres(t)
	small := workload.Params{Tasks: 200, Workers: 2, Submitters: 2, Pending: 50, Group: 2, Period: time.Millisecond}
	for _, s := range subject.All() {
		for kind, do := range s.Funcs {
			switch kind {
			case workload.Lateness, workload.Idle, workload.Fire, workload.DurableLateness, workload.DurableIdle,
				workload.DurablePeriodic, workload.Wait:
				continue // measured in real time
			}
			if do == nil || s.Of != "" {
				continue // in another program
			}
			t.Run(s.ID+"/"+string(kind), func(t *testing.T) {
				if s.Postgres && missing != nil {
					t.Skip(missing)
				}
				if s.Missing != nil {
					if err := s.Missing(); err != nil {
						t.Skip(err)
					}
				}
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

// usePostgres starts a server, which the subjects find by the environment. It returns an
// error if this machine has none.
func usePostgres(t *testing.T) error {
	server, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("CI") == "" {
		return err
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	name, value, _ := strings.Cut(server.Env(), "=")
	t.Setenv(name, value)
	return nil
}

// Every subject has a description and, if it is a rival, a reason to choose it.
func TestSubjectHasDescription(t *testing.T) {
	for _, s := range subject.All() {
		if s.Title == "" || s.How == "" || s.Choose == "" && !s.Own {
			t.Errorf("%s lacks a description", s.ID)
		}
		if found, ok := subject.Find(s.ID); !ok || found.Title != s.Title {
			t.Errorf("Find(%q) = %v, %v", s.ID, found.Title, ok)
		}
	}
}
