package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/timetable"
)

// changeLimit is how many jobs ChangeAll changes if its filter has no Limit.
const changeLimit = 1000

// Changed is the result of ChangeAll.
type Changed struct {
	// Applied, Deferred, TooLate and NotFound are how many jobs had each answer.
	Applied, Deferred, TooLate, NotFound int
	// After is the ID of the last job that was changed, or the Filter.After of the call if there was none. Set
	// Filter.After to it in the next call.
	After ID
	// More reports that the filter may select more jobs.
	More bool
}

// Jobs returns how many jobs were changed or tried: the sum of the four answers.
func (c *Changed) Jobs() int { return c.Applied + c.Deferred + c.TooLate + c.NotFound }

// ChangeAll makes a change to the jobs that f selects, in the order in which List returns them, up to f.Limit of them,
// where 0 means 1,000. Each job is changed as by the method that c.Op names, such as Cancel for OpCancel, and has the
// answer of that method. Up to 500 jobs are changed in one transaction, in a store that is not a store.Changer each by
// itself, so other programs may see some jobs changed and some not. A job that is added or changes its state meanwhile
// may be changed or not.
//
// If More is set, call ChangeAll again with f.After set to After. Do the same after an error: Changed then says what
// was done before the error. The zero Filter selects all jobs of the store.
func (j *Jobs) ChangeAll(ctx context.Context, c Change, f Filter) (Changed, error) {
	mustContext(ctx)
	done := Changed{After: f.After}
	if int(c.Op) >= len(opNames) {
		return done, invalid("change %d: it must be one of OpCancel to OpMove", c.Op)
	}
	if c.Op == OpReschedule {
		if err := checkTime(c.Due); err != nil {
			return done, err
		}
		c.Due = timetable.Ceil(c.Due)
	}
	if c.Op == OpMove {
		if err := j.checkMove(c.Queue); err != nil {
			return done, err
		}
	}
	if err := checkLimit(f.Limit); err != nil {
		return done, err
	}
	left := f.Limit
	if left == 0 {
		left = changeLimit
	}
	for {
		ids, more, err := j.selected(ctx, f, done.After, left)
		if err != nil {
			return done, err
		}
		answers, err := j.changeAs(ctx, ids, c)
		for i, answer := range answers {
			switch answer {
			case Applied:
				done.Applied++
			case Deferred:
				done.Deferred++
			case TooLate:
				done.TooLate++
			case NotFound:
				done.NotFound++
			}
			done.After = ids[i]
		}
		if err != nil {
			done.More = true
			return done, err
		}
		left -= len(ids)
		if done.More = more; !more || left == 0 {
			return done, nil
		}
	}
}

// changeMost is the most jobs that are changed in one step.
const changeMost = 500

// selected returns the IDs of the first jobs after one that f selects, no more than limit or changeMost, and whether
// there may be more.
func (j *Jobs) selected(ctx context.Context, f Filter, after ID, limit int) (ids []ID, more bool, err error) {
	limit = min(limit, changeMost)
	for more = true; more && len(ids) < limit; {
		f.After, f.Limit = after, min(limit-len(ids), 100) // rows have payloads
		page, err := j.List(ctx, f)
		if err != nil {
			return nil, false, err
		}
		for i := range page {
			ids = append(ids, page[i].ID)
			after = page[i].ID
		}
		more = len(page) == f.Limit
	}
	return ids, more, nil
}
