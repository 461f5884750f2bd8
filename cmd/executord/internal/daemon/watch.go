package daemon

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// leasesPerLook is how many leases go by between two looks, but no more than a minute. It is documented.
const leasesPerLook = 12

// lookEvery returns the time between two looks.
func (d *Daemon) lookEvery() time.Duration {
	return min(leasesPerLook*min(d.Store.Lease, time.Minute), time.Minute)
}

// look logs which jobs of the file others have kept from running since the last look, or since the file was applied:
// there is no other sign of it, as a job that is not due runs nothing.
//
// It asks for one job after the other, by its key. A list of the jobs that do not run would be one question, and
// one about all rows of the store. The jobs for which a slow store leaves no time come first at the next look,
// which may be as slow and would otherwise end at the same job.
func (d *Daemon) look(ctx context.Context) {
	d.renewAsks(ctx)
	if !d.Store.shared() {
		return // there are no others
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w := &d.watcher
	names := slices.Sorted(maps.Keys(w.reported))
	next, found := slices.BinarySearch(names, w.last)
	if found {
		next++
	}
	for i, name := range slices.Concat(names[next:], names[:next]) {
		row, err := d.Store.Find(ctx, catalog.Key(d.catalog.Namespace, name))
		if i == 0 || ctx.Err() == nil { // the first had all the time there is
			w.last = name
		}
		if errors.Is(err, durable.ErrNotFound) {
			continue
		}
		if err != nil {
			return // package durable logs that the store does not answer
		}
		e, _ := catalog.Read(row)
		if e.Spec.Off && !e.State.Done() && e.State != durable.Paused {
			continue // it is about to be removed, or put back
		}
		if entry := d.entry(name); entry.runsHere() {
			entry.change(e) // another daemon may have
		}
		is := blockedBy(e)
		if is == w.reported[name] {
			continue
		}
		w.reported[name] = is
		switch log := d.entry(name).log; is {
		case "":
		case catalog.StateRemoved:
			log.Warn("job removed", "reason", "another daemon has applied a file without it", "hint", hintSameName)
		default:
			log.Warn("job does not run", "state", string(is), "hint", d.resume(name))
		}
	}
}

// renewAsks makes the jobs due for which somebody had asked when the store's clock was ahead, which was set back since.
// That their schedules go on from the present, package durable sees to.
func (d *Daemon) renewAsks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := d.Store.Now(ctx)
	if d.leaving.Err() == nil { // else ctx ends
		d.tellStore(cmp.Or(err, d.StoreError(ctx)))
	}
	if err != nil {
		return // package durable logs that the store does not answer
	}
	d.catalog.RenewAsks(ctx, now) // if the store does not answer, the next look asks again
}
