package durable

import (
	"context"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/text"
)

// maxNote is how many bytes are kept of the note of a Progress.
const maxNote = 200

// Progress reports how far the run that ctx belongs to has come: done of total, in a unit that the handler chooses. The
// note may be empty. A total of 0 means that the total is not known. Negative numbers count as 0, and 200 bytes of the
// note are kept. Jobs.Progress returns the last report, on each node, for as long as the run goes on.
//
// The report is kept in memory, so frequent calls are cheap. The next heartbeat writes it to the store; a heartbeat
// writes the reports of at most 1,000 runs. If ctx is not a handler's, Progress does nothing.
func Progress(ctx context.Context, done, total int64, note string) {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		h.Progress(max(done, 0), max(total, 0), text.Shorten(note, maxNote))
	}
}

// Progress returns the progress of each of these jobs that is running and has called the function [Progress]. For runs
// of this program it is the newest report, for runs of other nodes the report of the last heartbeat. Progress calls the
// store at most once.
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
