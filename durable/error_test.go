package durable_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A nil pointer that a handler returns as an error, whose methods panic, or panics
// with, fails the run as any error does, and the job says what it was.
func TestNilPointerAsErrorOfHandler(t *testing.T) {
	var err *fs.PathError
	for want, handler := range map[string]func(context.Context, int) (int, error){
		"*fs.PathError": func(context.Context, int) (int, error) { return 0, err },
		"task panicked": func(context.Context, int) (int, error) { panic(err) },
	} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, memory.New())
			k := durable.Handle(jobs, "k", handler)
			start(t, jobs)
			id := must(k.Schedule(t.Context(), 0, 1, durable.Attempts(2)))
			time.Sleep(time.Minute)
			j := must(jobs.Get(t.Context(), id))
			if j.State != durable.Dead || j.Runs != 2 || !strings.Contains(j.Error, want) {
				t.Errorf("%v after %d runs: %s", j.State, j.Runs, j.Error)
			}
		})
	}
}
