package catalog_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// each is a trigger for every full minute.
type each struct{}

func (each) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

// Times between two others are counted, and the next one is found.
func TestPassedCountsTimesBetween(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	for _, test := range []struct {
		after, before time.Time
		n             int
		next          time.Time
	}{
		{at(0), at(0).Add(time.Second), 0, at(1)},
		{at(0), at(1), 0, at(1)},
		{at(0), at(1).Add(1), 1, at(2)},
		{at(0).Add(1), at(10), 9, at(10)},
		{at(0), at(0).Add(-time.Hour), 0, at(1)},
	} {
		if n, next := catalog.Passed(each{}, test.after, test.before); n != test.n || !next.Equal(test.next) {
			t.Errorf("after %v, before %v: %d and %v, want %d and %v", test.after, test.before, n, next, test.n, test.next)
		}
	}
	if n, next := catalog.Passed(each{}, at(0), at(0).AddDate(10, 0, 0)); n != 100_000 ||
		!next.Equal(at(1).AddDate(10, 0, 0)) {
		t.Errorf("in ten years: %d and %v", n, next)
	}
	if n, next := catalog.Passed(nil, at(0), at(10)); n != 0 || !next.IsZero() {
		t.Errorf("without a schedule: %d and %v", n, next)
	}
}

// The next times of a job are in its zone, without those that do not count, up to its end.
func TestEntryUpcoming(t *testing.T) {
	now := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	e := catalog.Entry{Name: "backup", Job: durable.Job{
		Schedule: "cron CRON_TZ=Europe/Berlin 30 2 * * *", State: durable.Waiting, Due: time.Date(2026, 11, 28, 1, 30, 0, 0, time.UTC),
	}}
	e.Spec.Zone, e.Spec.Except, e.Spec.Until = "Europe/Berlin", []string{"2026-11-29"}, "2026-12-02"
	texts := func(n int) (all []string) {
		for _, at := range e.Upcoming(now, n) {
			all = append(all, at.Format("2 15:04 MST"))
		}
		return all
	}
	if got, want := texts(9), []string{"28 02:30 CET", "30 02:30 CET", "1 02:30 CET", "2 02:30 CET"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if got := texts(2); len(got) != 2 {
		t.Errorf("two times are %q", got)
	}
	far := e
	far.Spec.Except, far.Spec.Until, far.Schedule = nil, "", "cron CRON_TZ=UTC @extended 0 0 0 1 1 ? 2099"
	far.Due = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := far.Next(now); !got.Equal(far.Due) || far.Status(now).State != catalog.StateWaiting {
		t.Errorf("of a schedule for 2099: %v, %v; want %v", got, far.Status(now), far.Due)
	}
	after := jobs(t, "# name: a\n@daily true\n# name: b\n# after: a\n@after true\n")
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, false)
		defer b.stopped()
		if err := b.Apply(t.Context(), after, func(catalog.Step) {}); err != nil {
			t.Fatal(err)
		}
		for _, passed := range []time.Duration{0, 60 * 365 * 24 * time.Hour} { // as for a clock that was behind
			if e := b.job("b"); !e.Next(time.Now().Add(passed)).IsZero() || e.Status(time.Now()).State != catalog.StateWaiting {
				t.Errorf("of a job after others, %v later: %v", passed, e.Next(time.Now().Add(passed)))
			}
		}
	})
	if e.State = durable.Paused; len(texts(9)) != 0 {
		t.Errorf("of a paused job: %q", texts(9))
	}
	e.State, e.Schedule, e.Spec.Until = durable.Waiting, "once", ""
	if got := texts(9); !slices.Equal(got, []string{"28 02:30 CET"}) {
		t.Errorf("without a schedule: %q", got)
	}
}
