package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// PauseKind keeps all jobs of a kind from beginning, on all nodes, until ResumeKind: existing jobs and those that are
// added meanwhile, whether this program handles the kind or not. Runs in progress go on. This program begins no more of
// these jobs once PauseKind has returned; other nodes learn of the pause from their next heartbeat, at most three
// tenths of their lease later. Pausing a kind that is already paused is not an error.
//
// OnMissed decides what happens to the occurrences that a periodic job misses because of the pause.
//
// If the kind is paused until a time, it is paused without one from then on.
func (j *Jobs) PauseKind(ctx context.Context, kind string) error {
	if err := j.pauseKind(ctx, kind, true); err != nil {
		return err
	}
	return j.forgetResume(ctx, kind)
}

// PauseKindUntil is PauseKind until the time t on the store's clock, in the years 1 to 9999. The latest call counts. It
// is an error, and nothing is changed, if t has passed.
//
// A job of the kind ResumingKind ends the pause. Each node with a handler handles it, whatever the kinds; while there is
// none, the kind stays paused. With an error that does not match executor.ErrInvalid, either both may have been done or
// the job alone, which does no harm; the call can be repeated.
func (j *Jobs) PauseKindUntil(ctx context.Context, kind string, t time.Time) error {
	mustContext(ctx)
	if err := cmp.Or(j.mayPause(kind), checkTime(t)); err != nil {
		return err
	}
	now, err := j.store.Now(ctx)
	if err != nil {
		return failed("pause kind", err)
	}
	if !t.After(now) {
		return invalid("pause kind %q until %v: the time has passed; the store's clock shows %v", kind,
			t.Format(time.RFC3339), now.In(t.Location()).Format(time.RFC3339))
	}
	placed, err := j.place(ctx, []NewJob{{ID: NewID(), Key: resumeKey(kind), Kind: ResumingKind, Payload: []byte(kind),
		Schedule: store.Once, Due: t, Attempts: maxAttempts, ReuseKey: true, Replace: true}})
	if err != nil {
		return err
	}
	if placed[0].KindTaken {
		return fmt.Errorf("%w: %q belongs to a job of kind %q", ErrKeyTaken, resumeKey(kind), placed[0].Kind)
	}
	return j.pauseKind(ctx, kind, true)
}

// ResumingKind is the kind of the jobs that end pauses, see PauseKindUntil. Their payload is the paused kind, and their
// key that name with ResumingKind and a slash before it.
const ResumingKind = "durable/resume"

func resumeKey(kind string) string { return ResumingKind + "/" + kind }

// resumingKind is the kind of the jobs that end pauses.
func (j *Jobs) resumingKind() *node.Kind {
	return &node.Kind{Name: ResumingKind, Internal: true, First: 100 * time.Millisecond, Max: 10 * time.Second,
		Handle: func(ctx context.Context, kind []byte) ([]byte, error) {
			return nil, j.pauseKind(ctx, string(kind), false)
		}}
}

// forgetResume removes the job that would end the pause of a kind, if there is one.
func (j *Jobs) forgetResume(ctx context.Context, kind string) error {
	job, err := j.store.Find(ctx, resumeKey(kind))
	if errors.Is(err, ErrNotFound) || err == nil && (job.Kind != ResumingKind || job.State.Done()) {
		return nil
	}
	if err != nil {
		return failed("pause kind", err)
	}
	_, err = j.Delete(ctx, job.ID)
	return err
}

// ResumeKind ends the effect of PauseKind: the jobs of the kind begin when they are due, or at once if that time has
// passed. Nodes learn of it as they learn of the pause. A job that Pause has paused stays paused.
func (j *Jobs) ResumeKind(ctx context.Context, kind string) error {
	if err := j.pauseKind(ctx, kind, false); err != nil {
		return err
	}
	return j.forgetResume(ctx, kind)
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

// mayPause returns why a kind can't be paused or resumed, nil if it can.
func (j *Jobs) mayPause(kind string) error {
	if err := checkName("kind", kind, MaxKind); err != nil {
		return err
	}
	if j.parts.Pauses == nil {
		return j.lacks("pause kind", "Pauses")
	}
	return nil
}

func (j *Jobs) pauseKind(ctx context.Context, kind string, pause bool) error {
	mustContext(ctx)
	if err := j.mayPause(kind); err != nil {
		return err
	}
	what := "pause kind"
	if !pause {
		what = "resume kind"
	}
	if err := j.parts.Pauses.PauseKind(ctx, kind, pause); err != nil {
		return failed(what, err)
	}
	if n := j.node(); n != nil {
		n.PauseHere(kind, pause)
	}
	return nil
}
