package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// slow is a store that takes its time to add a job.
type slow struct {
	durable.Store
	takes time.Duration
}

func (s *slow) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	select {
	case <-time.After(s.takes):
		return s.Store.Insert(ctx, jobs, p)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A file is brought to a store however many jobs it has, and however slow that is, as
// long as it answers; one that does not is given up.
func TestApplyOnSlowStore(t *testing.T) {
	var tab strings.Builder
	for i := range 100 {
		fmt.Fprintf(&tab, "# name: job%d\n0 0 * * * true\n", i)
	}
	for takes, want := range map[time.Duration]error{20 * time.Second: nil, time.Hour: context.DeadlineExceeded} {
		t.Run(takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBenchOn(t, &slow{memory.New(), takes}, false)
				defer b.stopped()
				n := 0
				err := b.Apply(t.Context(), jobs(t, tab.String()), func(catalog.Step) { n++ })
				if !errors.Is(err, want) || (n == 100) != (want == nil) {
					t.Errorf("%d of 100 jobs are in the store, error %v", n, err)
				}
			})
		})
	}
}
