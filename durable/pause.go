package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/timetable"
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
	if err := j.mayPause(kind); err != nil {
		return err
	}
	if err := j.forgetEnds(ctx, "pause kind", endKey(pauseEnd{Kind: kind})); err != nil {
		return err
	}
	return j.pauseKind(ctx, kind, true)
}

// PauseKindUntil is PauseKind until the time t on the store's clock, in the years 1 to 9999. The latest call counts. It
// is an error, and nothing is changed, if t has passed.
//
// A job of the kind ResumingKind ends the pause. Each node with a handler handles it, whatever the kinds; while there is
// none, the kind stays paused. With an error that does not match executor.ErrInvalid, either both may have been done or
// the job alone, which does no harm; the call can be repeated.
func (j *Jobs) PauseKindUntil(ctx context.Context, kind string, t time.Time) error {
	mustContext(ctx)
	if err := j.mayPause(kind); err != nil {
		return err
	}
	if err := j.placeEnd(ctx, pauseEnd{Kind: kind}, t); err != nil {
		return err
	}
	return j.pauseKind(ctx, kind, true)
}

// PauseUntil is Pause until the time t on the store's clock, as PauseKindUntil is PauseKind: the job goes on as by Resume
// then. If it is resumed before and paused again, the latest call counts.
func (j *Jobs) PauseUntil(ctx context.Context, id ID, t time.Time) (Answer, error) {
	mustContext(ctx)
	if err := j.placeEnd(ctx, pauseEnd{Job: id}, t); err != nil {
		return NotFound, err
	}
	answers, err := j.changeEach(ctx, []ID{id}, Change{Op: OpPause})
	if err != nil {
		return NotFound, err
	}
	return answers[0], nil
}

// PausedUntil returns when the pauses of those of the jobs end that are paused until a time. Whether a job is paused, it
// does not look at.
func (j *Jobs) PausedUntil(ctx context.Context, ids ...ID) (map[ID]time.Time, error) {
	mustContext(ctx)
	found := make(map[ID]time.Time)
	ends, err := j.ends(ctx, endKeys(ids))
	for _, end := range ends {
		var e pauseEnd
		if json.Unmarshal(end.Payload, &e) == nil {
			found[e.Job] = end.Due
		}
	}
	return found, failed("paused until", err)
}

// ResumingKind is the kind of the jobs that end pauses, see PauseKindUntil and PauseUntil.
const ResumingKind = "durable/resume"

// pauseEnd is the payload of a job that ends a pause: that of a kind or of a job.
type pauseEnd struct {
	Kind string `json:"kind,omitempty"`
	Job  ID     `json:"job,omitzero"`
}

// what returns what an error calls the pause.
func (e pauseEnd) what() string {
	if e.Kind != "" {
		return "pause kind"
	}
	return "pause"
}

// endKey returns the key of the job that ends a pause.
func endKey(e pauseEnd) string {
	if e.Kind != "" {
		return ResumingKind + "/" + e.Kind
	}
	return ResumingKind + "-job/" + e.Job.String()
}

// ResumingKey returns the key of the job of ResumingKind that ends the pause of a job, if PauseUntil has paused it.
func ResumingKey(id ID) string { return endKey(pauseEnd{Job: id}) }

func endKeys(ids []ID) (keys []string) {
	for _, id := range ids {
		keys = append(keys, ResumingKey(id))
	}
	return keys
}

// placeEnd adds the job that ends a pause at a time, or gives it that time.
func (j *Jobs) placeEnd(ctx context.Context, e pauseEnd, t time.Time) error {
	if err := checkTime(t); err != nil {
		return err
	}
	now, err := j.store.Now(ctx)
	if err != nil {
		return failed(e.what(), err)
	}
	if !t.After(now) {
		return invalid("%s %s until %v: the time has passed; the store's clock shows %v", e.what(), cmp.Or(e.Kind, e.Job.String()),
			t.Format(time.RFC3339), now.In(t.Location()).Format(time.RFC3339))
	}
	payload, _ := json.Marshal(e) // never fails
	placed, err := j.place(ctx, []NewJob{{ID: NewID(), Key: endKey(e), Kind: ResumingKind, Payload: payload,
		Schedule: store.Once, Due: timetable.Ceil(t), Attempts: maxAttempts, ReuseKey: true, Replace: true}})
	if err == nil && placed[0].KindTaken {
		err = fmt.Errorf("%w: %q belongs to a job of kind %q", ErrKeyTaken, endKey(e), placed[0].Kind)
	}
	return err
}

// resumingKind is the kind of the jobs that end pauses.
func (j *Jobs) resumingKind() *node.Kind {
	return &node.Kind{Name: ResumingKind, Internal: true, Backoff: executor.Backoff(100*time.Millisecond, 10*time.Second),
		Handle: func(ctx context.Context, payload []byte) ([]byte, error) {
			var e pauseEnd
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, executor.Permanent(fmt.Errorf("durable: end of a pause: %w", err))
			}
			if e.Kind != "" {
				return nil, j.pauseKind(ctx, e.Kind, false)
			}
			_, err := j.Resume(ctx, e.Job) // it may be resumed, or deleted, already
			return nil, err
		}}
}

// ends returns those of the jobs with these keys that are to end pauses.
func (j *Jobs) ends(ctx context.Context, keys []string) (found []Job, err error) {
	for some := range slices.Chunk(keys, changeMost) {
		jobs, err := j.store.List(ctx, Filter{Keys: some, Limit: len(some)})
		if err != nil {
			return nil, err
		}
		for _, job := range jobs {
			if job.Kind == ResumingKind && !job.State.Done() {
				found = append(found, job)
			}
		}
	}
	return found, nil
}

// forgetEnds removes the jobs that would end pauses. One that is about to do so does it first, so that what is paused
// afterwards stays so.
func (j *Jobs) forgetEnds(ctx context.Context, what string, keys ...string) error {
	mustContext(ctx)
	for {
		ends, err := j.ends(ctx, keys)
		if err != nil {
			return failed(what, err)
		}
		busy := false
		for _, end := range ends {
			answer, err := j.Delete(ctx, end.ID)
			if err != nil {
				return err
			}
			busy = busy || answer == TooLate
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(endPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endPause is how long forgetEnds waits for a job that ends a pause just now, until it looks again.
const endPause = 20 * time.Millisecond

// ResumeKind ends the effect of PauseKind: the jobs of the kind begin when they are due, or at once if that time has
// passed. Nodes learn of it as they learn of the pause. A job that Pause has paused stays paused.
func (j *Jobs) ResumeKind(ctx context.Context, kind string) error {
	if err := j.pauseKind(ctx, kind, false); err != nil {
		return err
	}
	return j.forgetEnds(ctx, "resume kind", endKey(pauseEnd{Kind: kind}))
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
