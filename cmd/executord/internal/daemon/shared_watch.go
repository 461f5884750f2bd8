package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// Between two looks at what others have done to the jobs of the file, so many
// leases go by: a minute, if the lease is what it is by default. It is documented.
const leasesPerLook = 12

// lookEvery gives the time between two looks.
func (n *node) lookEvery() time.Duration {
	return leasesPerLook * min(n.daemon.Shared.Lease, time.Hour)
}

// namesakes is what to do if daemons with different files remove each other's
// jobs. They can't know: it may be one file, of which one has a newer version.
const namesakes = "if that was another file of the same name, give each a --namespace of its own"

const removed = "removed"

// held says what keeps a job from running, "" for nothing: that it was removed, or
// its state, or the one that it will be in when the run has ended that goes on.
func held(e catalog.Entry) string {
	switch {
	case e.Removed():
		return removed
	case e.State.Done(), e.State == durable.Paused:
		return e.State.String()
	case e.Pending == durable.PendingPause:
		return durable.Paused.String()
	case e.Pending == durable.PendingCancel:
		return durable.Canceled.String()
	}
	return ""
}

// look tells which jobs of the file others have kept from running, since the last
// look or since the file was brought: there is no other sign of it, as nobody is
// told of a job that is not due.
//
// It asks for one job after the other, by its key. A list of the jobs that do not
// run would be one question, and one about all rows of the store. What a slow store
// leaves no time for comes first the next time, also if it was asked for: one look
// may be as long as the other, and end at the same job.
func (n *node) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := slices.Sorted(maps.Keys(n.told))
	next, found := slices.BinarySearch(names, n.asked)
	if found {
		next++
	}
	for i, name := range slices.Concat(names[next:], names[:next]) {
		row, err := n.catalog.Store.Find(ctx, catalog.Key(n.catalog.Namespace, name))
		if i == 0 || ctx.Err() == nil { // the first had all the time there is
			n.asked = name
		}
		if errors.Is(err, durable.ErrNotFound) {
			continue
		}
		if err != nil {
			return // package durable says that the store does not answer
		}
		e, _ := catalog.Read(row)
		if e.Spec.Off && !e.State.Done() {
			continue // it is about to be removed, or put back
		}
		is := held(e)
		if is == n.told[name] {
			continue
		}
		n.told[name] = is
		switch log := n.entry(name).log; is {
		case "":
		case removed:
			log.Warn("job removed", "reason", "another daemon has brought a file without it", "hint", namesakes)
		default:
			log.Warn("job does not run", "state", is, "hint", n.resume(name))
		}
	}
}
