package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/text"
)

// maxNote is how many bytes are kept of the note of a Progress.
const maxNote = 200

// Progress notes how far the run that ctx belongs to has come: done of total, both in a unit of the handler's, with a
// note that may be empty. A total of 0 means that it is not known; negative numbers count as 0, and of the note 200
// bytes are kept. Jobs.Progress returns the last one, on each node, for as long as the run goes on.
//
// It is kept in memory, and goes to the store with the next heartbeats, of at most 1,000 runs each: so frequent calls
// are cheap. If ctx is not a handler's, Progress does nothing.
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
