package durable

import (
	"context"
	"slices"
)

// PauseKind keeps all jobs of a kind from beginning, on all nodes, until ResumeKind: existing jobs and those that are
// added meanwhile, whether this program handles the kind or not. Runs in progress go on. This program begins no more of
// these jobs once PauseKind has returned; other nodes learn of the pause from their next heartbeat, at most three
// tenths of their lease later. Pausing a kind that is already paused is not an error.
//
// OnMissed decides what happens to the occurrences that a periodic job misses because of the pause.
func (j *Jobs) PauseKind(ctx context.Context, kind string) error {
	return j.pauseKind(ctx, kind, true)
}

// ResumeKind ends the effect of PauseKind: the jobs of the kind begin when they are due, or at once if that time has
// passed. Nodes learn of it as they learn of the pause. A job that Pause has paused stays paused.
func (j *Jobs) ResumeKind(ctx context.Context, kind string) error {
	return j.pauseKind(ctx, kind, false)
}

// PausedKinds returns the kinds that are paused, in order.
func (j *Jobs) PausedKinds(ctx context.Context) ([]string, error) {
	mustContext(ctx)
	if j.parts.Pauses == nil {
		return nil, j.lacks("paused kinds", "Pauses")
	}
	kinds, err := j.parts.Pauses.PausedKinds(ctx)
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
	if j.parts.Pauses == nil {
		return j.lacks("pause kind", "Pauses")
	}
	if err := j.parts.Pauses.PauseKind(ctx, kind, pause); err != nil {
		return failed(what, err)
	}
	if n := j.node(); n != nil {
		n.PauseHere(kind, pause)
	}
	return nil
}
