package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// far is a store that takes its time to show the history of a job.
type far struct {
	durable.Store
	fails durable.ID
}

var errFar = errors.New("lost on its way")

func (s *far) Runs(ctx context.Context, id durable.ID, before int64, limit int) ([]durable.Run, error) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if id == s.fails {
		return nil, errFar
	}
	if before != 0 {
		return nil, nil
	}
	return []durable.Run{{Job: id, Seq: 1}}, nil
}

// someJobs returns a client of a store that is far away, with n jobs.
func someJobs(t *testing.T, n int) (Client, *far, []catalog.Entry) {
	store := &far{Store: memory.New()}
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	entries := make([]catalog.Entry, n)
	for i := range entries {
		entries[i] = catalog.Entry{Job: durable.Job{ID: durable.NewID()}, Last: durable.Job{ID: durable.NewID(), Runs: 1}, Name: fmt.Sprint(i)}
	}
	return Client{Store: store, Jobs: jobs}, store, entries
}

// The history of each of thousands of jobs is there in time, though the store is far
// away, and in the order of the jobs.
func TestClientHistoriesOfManyJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _, jobs := someJobs(t, 5000)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		runs, err := v.Lasts(ctx, jobs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			if runs[i] == nil || runs[i].Job != jobs[i].Last.ID {
				t.Fatalf("job %d has the runs %v", i, runs[i])
			}
		}
	})
}

// If the history of one job can't be had, the error is given, and nothing more is asked.
func TestClientHistoriesEndWithError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, store, jobs := someJobs(t, 5000)
		store.fails = jobs[3].Last.ID
		began := time.Now()
		if _, err := v.Lasts(t.Context(), jobs); !errors.Is(err, errFar) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v to give up", took)
		}
	})
}

// Who asks for as many runs as there can be gets those that there are.
func TestClientRunsOfAnyNumber(t *testing.T) {
	v, _, jobs := someJobs(t, 1)
	if runs, err := v.Runs(t.Context(), jobs, math.MaxInt); err != nil || len(runs) != 0 {
		t.Errorf("%d runs: %v", len(runs), err)
	}
}

// A name is found whether its accents are characters of their own or not.
func TestChooseFindsNameInEachForm(t *testing.T) {
	const name = "\u00e9t\u00e9"
	for _, form := range []string{name, "e\u0301te\u0301", name + "/e\u0301te\u0301", "e\u0301*"} {
		if found, wrong := Choose([]Named{{Namespace: "a", Name: "b"}, {Namespace: name, Name: name}}, []string{form}, ""); len(found) != 1 || found[0] != 1 || wrong != nil {
			t.Errorf("%q: %v, %q", form, found, wrong)
		}
	}
}
