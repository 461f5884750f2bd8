package howto

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A queue without a node is found, its job runs as soon as there is one, and a host that drains takes no more.
func TestQueuesKeepJobsToMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		program := func(hasCard bool) (*durable.Jobs, *durable.Kind[Film, string]) {
			jobs, films, err := newEncoder(store, hasCard, func(_ context.Context, f Film) (string, error) { return f.Name + ".mp4", nil })
			if err != nil {
				t.Fatal(err)
			}
			return jobs, films
		}
		jobs, films := program(false)
		runJobs(t, jobs)
		id, err := addFilm(t.Context(), films, Film{Name: "Sunrise"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if queues, err := unserved(t.Context(), jobs); err != nil || len(queues) != 1 || queues[0].Name != "gpu" || queues[0].Jobs != 1 {
			t.Errorf("unserved are %+v, %v", queues, err)
		}
		with, _ := program(true)
		runJobs(t, with)
		if name, err := films.Await(t.Context(), id); err != nil || name != "Sunrise.mp4" {
			t.Errorf("encoded %q, %v", name, err)
		}
		time.Sleep(2 * time.Second) // until the nodes have said what they serve
		if queues, err := unserved(t.Context(), jobs); err != nil || len(queues) != 0 {
			t.Errorf("unserved are %+v, %v", queues, err)
		}
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		if running, err := drainHost(t.Context(), jobs, host); err != nil || running != 0 {
			t.Errorf("drain: %d running, %v", running, err)
		}
		time.Sleep(time.Second)
		id, err = addFilm(t.Context(), films, Film{Name: "Sunset"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if job, err := jobs.Get(t.Context(), id); err != nil || job.State != durable.Waiting {
			t.Errorf("the job is %v, %v", job.State, err)
		}
	})
}
