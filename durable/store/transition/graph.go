package transition

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// Graft gives a new job its parents. failed returns the first parent that has not succeeded, and its state.
func Graft(j *store.Job, c store.ParentCounts, failed func() (store.ID, store.State, error)) error {
	j.HasParents, j.State = true, store.Blocked
	_, err := settle(j, c, failed, time.Time{})
	return err
}

// Settle makes a Blocked job wait for its time if enough of its parents have ended, and cancels it if too many have
// failed. It reports whether it has changed the job. failed is as for Graft.
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

// Block makes a revived job wait for those of its parents that have not ended. If too many have failed, the job runs
// nevertheless, because somebody has revived it.
func Block(j *store.Job, c store.ParentCounts) {
	if !c.Enough() && !c.Hopeless() {
		j.State = store.Blocked
	}
}
