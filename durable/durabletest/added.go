package durabletest

import (
	"context"
	"testing"

	"github.com/executor-go/executor/durable"
)

// list returns all jobs of a kind in the store, in the order of their IDs.
func list(t testing.TB, jobs *durable.Jobs, kind string) (all []durable.Job) {
	t.Helper()
	for f := (durable.Filter{Kind: kind, Limit: 1000}); ; f.After = all[len(all)-1].ID {
		page, err := jobs.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < f.Limit {
			return all
		}
	}
}

// payload returns that of a job, and fails the test if it is no P.
func payload[P any](t testing.TB, jobs *durable.Jobs, kind string, j durable.Job) P {
	t.Helper()
	p, err := durable.KindOf[P, any](jobs, kind).Payload(j)
	if err != nil {
		t.Fatalf("durabletest: kind %q: %v", kind, err)
	}
	return p
}

// Added returns the payloads of all jobs of a kind that are in the store, in any state. They are in the order in which
// they were added; jobs of the same millisecond are in any order. Added ends the test if a payload is not a P, or if
// the store returns an error.
func Added[P any](t testing.TB, jobs *durable.Jobs, kind string) []P {
	t.Helper()
	var payloads []P
	for _, j := range list(t, jobs, kind) {
		payloads = append(payloads, payload[P](t, jobs, kind, j))
	}
	return payloads
}

// AddedOne returns the only job of a kind that is in the store, in any state, and its payload. A test can look at the
// job's Key, Due, Queue, Tags and so on. AddedOne ends the test if there is no such job or more than one, if the
// payload is not a P, or if the store returns an error.
func AddedOne[P any](t testing.TB, jobs *durable.Jobs, kind string) (P, durable.Job) {
	t.Helper()
	all := list(t, jobs, kind)
	if len(all) != 1 {
		t.Fatalf("durabletest: there are %d jobs of kind %q, want one", len(all), kind)
	}
	return payload[P](t, jobs, kind, all[0]), all[0]
}
