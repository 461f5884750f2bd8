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
	d.lookAtStore(ctx)
	if d.Observer != nil {
		_, _ = d.ask(ctx) // so that each end is counted, also while nobody looks
	}
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
		is := e.Blocked()
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

// lookAtStore tells whether the store answers. If the store's clock was set back, it has runs and messages begin that wait
// by the clock as it was. It has jobs begin whose others have ended during a pause.
func (d *Daemon) lookAtStore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := d.Store.Now(ctx)
	if err == nil {
		d.catalog.Hasten(ctx, now) // if the store does not answer, the next look asks again
		d.notifier.Review()
		d.catalog.FollowUpAll(ctx)
	}
	if d.leaving.Err() == nil { // else ctx ends
		d.tellStore(cmp.Or(err, d.StoreError(ctx)))
	}
}
