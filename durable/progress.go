package durable

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// maxNote is how many bytes are kept of the note of a Progress.
const maxNote = 200

// Progress notes how far the run that ctx belongs to has come: done of total, both in a unit of the handler's, with a
// note that may be empty. A total of 0 means that it is not known; negative numbers count as 0, and of the note 200
// bytes are kept. Jobs.Progress returns the last one, on each node, for as long as the run goes on.
//
// It is kept in memory, and goes to the store with the next heartbeats, of at most 1,000 runs each: so it may be called
// as often as one likes. If ctx is not a handler's, Progress does nothing.
func Progress(ctx context.Context, done, total int64, note string) {
	mustContext(ctx)
	c, ok := ctx.Value(currentKey{}).(current)
	if !ok {
		return
	}
	c.progress.Store(&RunProgress{Job: c.job.ID, Epoch: c.job.Epoch, Done: max(done, 0), Total: max(total, 0),
		Note: shorten(note, maxNote), At: c.n.clock.now().Truncate(time.Microsecond)})
}

// shorten returns up to limit bytes of a text, fit for any database.
func shorten(text string, limit int) string {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// Progress returns how far those of the jobs have come that are running and have called Progress. Of runs of this
// program it is the newest, of those of others as of their nodes' last heartbeats. The store is called once, if at all.
func (j *Jobs) Progress(ctx context.Context, ids ...ID) (map[ID]RunProgress, error) {
	mustContext(ctx)
	all := make(map[ID]RunProgress)
	rest := make([]ID, 0, len(ids))
	n := j.node()
	for _, id := range ids {
		if p, here := n.progress(id); !here {
			rest = append(rest, id)
		} else if p != nil {
			all[id] = *p
		}
	}
	if len(rest) == 0 {
		return all, nil
	}
	found, err := j.store.Progress(ctx, rest)
	if err != nil {
		return nil, failed("progress", err)
	}
	for _, p := range found {
		all[p.Job] = p
	}
	return all, nil
}

// progress returns that of a run that this node has begun, nil if it has none. It reports false if there is no such
// run.
func (n *node) progress(id ID) (p *RunProgress, here bool) {
	if n == nil {
		return nil, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.mu.held[id]
	if r == nil || r.state != begun {
		return nil, false
	}
	return r.progress.Load(), true
}
