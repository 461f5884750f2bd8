package durable

import (
	"context"
	"maps"
	"slices"
	"time"
)

// PauseKind keeps all jobs of a kind from being begun, on all nodes, until ResumeKind: those that are there and those
// that are added meanwhile, whether this program handles them or not. Runs in progress go on. This program begins no
// more of them once PauseKind has returned; other nodes learn of it from their next heartbeat, at most three tenths of
// their lease later. Pausing a kind that is paused is no error.
//
// What a periodic job misses because of that is treated as OnMissed says.
func (j *Jobs) PauseKind(ctx context.Context, kind string) error {
	return j.pauseKind(ctx, kind, true)
}

// ResumeKind lets the jobs of a kind that PauseKind has stopped begin when they are due, or at once if that has passed.
// Nodes learn of it as of the pause. A job that was paused by itself, see Pause, stays so.
func (j *Jobs) ResumeKind(ctx context.Context, kind string) error {
	return j.pauseKind(ctx, kind, false)
}

// PausedKinds returns the kinds that are paused, in order.
func (j *Jobs) PausedKinds(ctx context.Context) ([]string, error) {
	mustContext(ctx)
	kinds, err := j.store.PausedKinds(ctx)
	slices.Sort(kinds)
	return kinds, failed("paused kinds", err)
}

func (j *Jobs) pauseKind(ctx context.Context, kind string, pause bool) error {
	mustContext(ctx)
	if err := checkName("kind", kind, MaxKind); err != nil {
		return err
	}
	what := "pause kind"
	if !pause {
		what = "resume kind"
	}
	if err := j.store.PauseKind(ctx, kind, pause); err != nil {
		return failed(what, err)
	}
	if n := j.node(); n != nil {
		n.pauseHere(kind, pause)
	}
	return nil
}

// pauseHere pauses or resumes a kind without waiting for the next heartbeat. Answers to what was asked of the store
// before do not count for the kind.
func (n *node) pauseHere(kind string, pause bool) {
	n.mu.Lock()
	n.mu.pausedHere[kind] = time.Now()
	kinds := maps.Clone(n.mu.paused)
	if delete(kinds, kind); pause {
		kinds[kind] = true
	}
	paused, resumed := n.pauseLocked(kinds)
	n.mu.Unlock()
	n.announcePaused(paused, resumed)
}

// hearPaused takes the answer to a question that was sent then, except for the kinds that were paused or resumed here
// since.
func (n *node) hearPaused(sent time.Time, names []string) {
	kinds := make(map[string]bool, len(names))
	for _, name := range names {
		kinds[name] = true
	}
	n.mu.Lock()
	for kind, at := range n.mu.pausedHere {
		if sent.After(at) {
			delete(n.mu.pausedHere, kind) // later answers know of it, too
		} else if delete(kinds, kind); n.mu.paused[kind] {
			kinds[kind] = true
		}
	}
	paused, resumed := n.pauseLocked(kinds)
	n.mu.Unlock()
	n.announcePaused(paused, resumed)
}

// pauseLocked makes kinds those that are paused, drops what has not begun of them, and returns what is new.
func (n *node) pauseLocked(kinds map[string]bool) (paused, resumed []string) {
	for kind := range kinds {
		if !n.mu.paused[kind] {
			paused = append(paused, kind)
		}
	}
	for kind := range n.mu.paused {
		if !kinds[kind] {
			resumed = append(resumed, kind)
		}
	}
	n.mu.paused = kinds
	if len(paused) > 0 {
		n.giveBackLocked(func(r *run) bool { return kinds[r.job.Kind] })
	}
	return paused, resumed
}

// announcePaused makes poll release what was dropped and claim what goes on, and logs it.
func (n *node) announcePaused(paused, resumed []string) {
	if len(paused)+len(resumed) == 0 {
		return
	}
	n.wake()
	for _, kind := range paused {
		n.jobs.log().Info("durable: jobs of a kind are paused", "kind", kind)
	}
	for _, kind := range resumed {
		n.jobs.log().Info("durable: jobs of a kind go on", "kind", kind)
	}
}
