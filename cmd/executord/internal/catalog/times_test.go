package catalog_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
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
