package transition

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// Graft makes a new job one that has these parents, of which failed returns the first that has not succeeded, and its
// state.
func Graft(j *store.Job, c store.ParentCounts, failed func() (store.ID, store.State, error)) error {
	j.HasParents, j.State = true, store.Blocked
	_, err := settle(j, c, failed, time.Time{})
	return err
}

// Settle lets a job that is Blocked wait for its time, or cancels it, if its parents say so. It reports whether it has
// changed the job. failed is that of Graft.
func Settle(j *store.Job, c store.ParentCounts, failed func() (store.ID, store.State, error), now time.Time) (bool, error) {
	if j.State != store.Blocked {
		return false, nil
	}
	return settle(j, c, failed, now)
}

func settle(j *store.Job, c store.ParentCounts, failed func() (store.ID, store.State, error), now time.Time) (bool, error) {
	switch {
	case c.Enough():
		j.State = store.Waiting
		if j.Pending == store.PendingPause {
			j.State = store.Paused
		}
		if j.Due.Before(now) {
			j.Due, j.Occurrence = now, now
		}
	case c.Hopeless():
		id, state, err := failed()
		if err != nil {
			return false, err
		}
		j.State, j.Error = store.Canceled, store.ParentFailed(id, state)
	default:
		return false, nil
	}
	j.Pending = store.PendingNone
	if !now.IsZero() {
		j.Updated = now
	}
	return true, nil
}

// Block makes a job that was revived wait for those of its parents that have not ended. If too many have failed, it
// runs all the same, as it was asked to.
func Block(j *store.Job, c store.ParentCounts) {
	if !c.Enough() && !c.Hopeless() {
		j.State = store.Blocked
	}
}
