package sqlrow

import (
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// The parts of the column family. A job that has neither parents nor children has none of the first three: what
// concerns them is done only for what has.
const (
	hasChildren = 1 // stored: do not change
	hasParents  = 2 // stored: do not change
	isBlocked   = 4 // stored: do not change
	isAbsent    = 8 // stored: do not change
)

// family returns the column of that name.
func family(j *durable.Job) (f int64) {
	if j.HasChildren {
		f |= hasChildren
	}
	if j.HasParents {
		f |= hasParents
	}
	if j.State == durable.Blocked {
		f |= isBlocked
	}
	if j.Absent {
		f |= isAbsent
	}
	return f
}

// HasChildren reports whether a job has children by its column family.
func HasChildren(family int64) bool { return family&hasChildren != 0 }

// HasParents reports whether a job has parents by its column family.
func HasParents(family int64) bool { return family&hasParents != 0 }

// A Parent is a row of executor_parent.
type Parent struct {
	ID    durable.ID
	State durable.State // as it was counted: Waiting until it has ended
}

// ScanParents reads and closes rows of a parent's ID and state.
var ScanParents = all(func(row Scanner) (p Parent, err error) {
	var id []byte
	var state int64
	if err = row.Scan(&id, &state); err != nil {
		return p, err
	}
	p.ID, err = ID(id)
	p.State = durable.State(state)
	return p, err
})

// A Child is a job that is to be told of the end of a parent.
type Child struct {
	ID     durable.ID
	Locked bool
}

// ScanChildren reads and closes rows of a child's ID and whether it is locked.
var ScanChildren = all(func(row Scanner) (c Child, err error) {
	var id []byte
	if err = row.Scan(&id, &c.Locked); err != nil {
		return c, err
	}
	c.ID, err = ID(id)
	return c, err
})

// ScanIDs reads and closes rows of one ID.
var ScanIDs = all(func(row Scanner) (durable.ID, error) {
	var id []byte
	if err := row.Scan(&id); err != nil {
		return durable.ID{}, err
	}
	return ID(id)
})

// CountColumns are what ScanCount reads of executor_after.
const CountColumns = "total, succeeded, failed, need, anyway"

// ScanCount reads a row of CountColumns.
func ScanCount(row Scanner) (c store.ParentCounts, err error) {
	if err := row.Scan(&c.Total, &c.Succeeded, &c.Failed, &c.Need, &c.Anyway); err != nil {
		return store.ParentCounts{}, err
	}
	return c, nil
}

// ScanParentCounts reads and closes rows of CountColumns.
var ScanParentCounts = all(ScanCount)

// FillParents returns the jobs of a page of parents, by those of them that are there.
func FillParents(page []Parent, there []durable.Job) []durable.Job {
	by := make(map[durable.ID]*durable.Job, len(there))
	for i := range there {
		by[there[i].ID] = &there[i]
	}
	jobs := make([]durable.Job, 0, len(page))
	for _, p := range page {
		j := durable.Job{ID: p.ID, State: p.State}
		if of := by[p.ID]; of != nil {
			j = *of
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// LostParents are the statements that have jobs go on without what they wait for, where a table of that was made anew.
// What is blocked would wait for ever: it is dead, as it must not run before its parents have succeeded, and runs if it
// is revived. now selects the time.
func LostParents(now string) string {
	return SQL(`update executor_job set state = {Dead}, pending = {PendingNone}, updated = ` + now + `,
	error = 'durable: what the job waits for was lost with a table of the database; revive it to run it all the same'
	where state = {Paused} and (family & {IsBlocked}) <> 0;
update executor_job set family = family & {HasChildren} where family > {HasChildren};
delete from executor_parent;
delete from executor_after`)
}
