package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/text"
)

// maxNote is how many bytes are kept of the note of a Progress.
const maxNote = 200

// Progress reports how far the run that ctx belongs to has come: done of total, in a unit that the handler chooses,
// with a note that may be empty. A total of 0 means that the total is not known. Negative numbers count as 0, and 200
// bytes of the note are kept. Jobs.Progress returns the last report, on each node, for as long as the run goes on.
//
// The report is kept in memory, and written to the store with the next heartbeat, which takes those of at most 1,000
// runs: so frequent calls are cheap. If ctx is not a handler's, Progress does nothing.
func Progress(ctx context.Context, done, total int64, note string) {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		h.Progress(max(done, 0), max(total, 0), text.Shorten(note, maxNote))
	}
}

// Progress returns the progress of those of the jobs that are running and have called [Progress]: the newest for runs
// of this program, and that of the last heartbeat for runs of other nodes. The store is called once, if at all.
func (j *Jobs) Progress(ctx context.Context, ids ...ID) (map[ID]RunProgress, error) {
	mustContext(ctx)
	all := make(map[ID]RunProgress)
	rest := make([]ID, 0, len(ids))
	n := j.node()
	for _, id := range ids {
		if p, here := n.Progress(id); !here {
			rest = append(rest, id)
		} else if p != nil {
			all[id] = *p
		}
	}
	if len(rest) == 0 {
		return all, nil
	}
	if j.parts.Reports == nil {
		return nil, j.lacks("progress", "Reports")
	}
	found, err := j.parts.Reports.Progress(ctx, rest)
	if err != nil {
		return nil, failed("progress", err)
	}
	for _, p := range found {
		all[p.Job] = p
	}
	return all, nil
}
