package rows

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// Pack takes jobs from the store and puts a parcel in their place.
func (s *Store) Pack(ctx context.Context, r store.PackRequest) (n int, err error) {
	err = s.home.Transact(ctx, func(t *Tx) error {
		p := transition.NewPacking(r)
		for _, id := range r.Jobs {
			if j, ok := t.jobs.get(id); ok && p.Takes(&j) {
				p.Add(append(append([]store.Row{{Job: &j}}, t.exportRuns(id)...), t.exportSteps(id)...), t.now)
				t.remove(&j)
			}
		}
		var parcel store.Job
		if n, parcel, err = p.Parcel(t.now); n > 0 && err == nil {
			t.jobs.put(parcel.ID, parcel)
		}
		return err
	})
	return n, err
}

// Unpack adds the jobs of a parcel.
func (s *Store) Unpack(ctx context.Context, parcel store.Job) error {
	rows, err := transition.Unpacked(parcel)
	if err != nil {
		return err
	}
	return s.home.Transact(ctx, func(t *Tx) error {
		if _, done := t.jobs.get(parcel.ID); done {
			return nil
		}
		for _, row := range rows {
			if row.Job != nil {
				_, there := t.jobs.get(row.Job.ID)
				_, taken := t.keys.get(row.Job.Key)
				if there || taken && row.Job.Key != "" {
					return fmt.Errorf("%w: %s, with key %q", store.ErrThere, row.Job.ID, row.Job.Key)
				}
			}
			t.Add(row)
		}
		return nil
	})
}
