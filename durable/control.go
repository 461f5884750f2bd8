package durable

import (
	"container/list"
	"context"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"

	"github.com/executor-go/executor/durable/store"
)

// Cancel cancels a job: it does not run again. Applied means that it does not begin. Deferred means that it is running:
// the context of its handler is canceled at the node's next heartbeat, or at once on this node. The job ends with this
// run: as canceled if the run fails, as succeeded if the run returns nil and was the last one.
func (j *Jobs) Cancel(ctx context.Context, id ID) (Answer, error) {
	return j.change(ctx, id, Change{Op: OpCancel})
}

// Pause keeps a job from running until Resume. Deferred means that the job is running: it is paused after this run,
// unless the run ends the job. If it is paused until a time, it is paused without one from then on.
func (j *Jobs) Pause(ctx context.Context, id ID) (Answer, error) {
	return j.change(ctx, id, Change{Op: OpPause})
}

// Resume lets a paused job go on: at its time, or at once if that has passed. TooLate means that the job was not
// paused. A schedule goes on at its next time for the latest, also if its own was found while the store's clock was
// ahead.
func (j *Jobs) Resume(ctx context.Context, id ID) (Answer, error) {
	answer, err := j.change(ctx, id, Change{Op: OpResume})
	if err != nil || answer != Applied {
		return answer, err
	}
	job, err := j.store.Get(ctx, id)
	if err != nil || !job.Periodic() {
		return answer, nil // it may be gone already
	}
	now, err := j.store.Now(ctx)
	if err != nil {
		return answer, failed("resume", err)
	}
	return answer, j.setBack(ctx, []InsertResult{{Job: job, Now: now}})
}

// Reschedule moves the next occurrence of a job that waits or is paused to t, in the years 1 to 9999; the schedule of a
// periodic job continues from t. If a periodic job is running, the answer is Deferred, and the next run is at t, unless
// the present run ends the job with executor.ErrStop. TooLate means that the job has ended or is to be canceled after its
// run, or that it runs once and is running.
func (j *Jobs) Reschedule(ctx context.Context, id ID, t time.Time) (Answer, error) {
	mustContext(ctx)
	if err := checkTime(t); err != nil {
		return NotFound, err
	}
	return j.change(ctx, id, Change{Op: OpReschedule, Due: timetable.Ceil(t)})
}

// RunNow makes a waiting or paused job due at once. Its schedule goes on afterwards. TooLate means that the job is
// running, or has ended; see Revive.
func (j *Jobs) RunNow(ctx context.Context, id ID) (Answer, error) {
	return j.change(ctx, id, Change{Op: OpRunNow})
}

// Revive makes a job that is dead or canceled due at once, with all its attempts. TooLate means that the job is
// neither, or is a schedule that has lost its key to a job with ReuseKey.
func (j *Jobs) Revive(ctx context.Context, id ID) (Answer, error) {
	return j.change(ctx, id, Change{Op: OpRevive})
}

// ReviveAt is Revive for a job that is due at t, in the years 1 to 9999.
func (j *Jobs) ReviveAt(ctx context.Context, id ID, t time.Time) (Answer, error) {
	mustContext(ctx)
	if err := checkTime(t); err != nil {
		return NotFound, err
	}
	return j.change(ctx, id, Change{Op: OpRevive, Due: timetable.Ceil(t)})
}

// Delete removes a job and its history. TooLate means that the job is running, or is about to run: Cancel it first.
func (j *Jobs) Delete(ctx context.Context, id ID) (Answer, error) {
	return j.change(ctx, id, Change{Op: OpDelete})
}

// Move puts a job into another queue, see Queue, or with DefaultQueue into the queue of jobs without one. From then on
// the nodes that serve that queue claim the job. Deferred means that the job is running, and is in the queue from its
// next run on. TooLate means that the job has ended, or has a Partition, which a job in a queue can't have. If a
// schedule is registered again, it moves to the queue of its registration.
func (j *Jobs) Move(ctx context.Context, id ID, queue string) (Answer, error) {
	mustContext(ctx)
	if err := j.checkMove(queue); err != nil {
		return NotFound, err
	}
	return j.change(ctx, id, Change{Op: OpMove, Queue: queue})
}

// checkMove returns what is wrong with moving jobs to a queue.
func (j *Jobs) checkMove(queue string) error {
	if j.parts.Queues == nil {
		return j.lacks("move", "Queues")
	}
	if queue == DefaultQueue {
		return nil
	}
	return checkName("queue", queue, MaxKind)
}

// opNames are what errors call the changes.
var opNames = [...]string{
	OpCancel: "cancel", OpPause: "pause", OpResume: "resume", OpReschedule: "reschedule",
	OpRunNow: "run now", OpRevive: "revive", OpDelete: "delete", OpMove: "move", store.OpNote: "note",
}

func (j *Jobs) change(ctx context.Context, id ID, c Change) (Answer, error) {
	answers, err := j.changeAs(ctx, []ID{id}, c)
	if err != nil {
		return NotFound, err
	}
	return answers[0], nil
}

// changeAs is changeEach for a change that somebody asks for: a pause has no end any more.
func (j *Jobs) changeAs(ctx context.Context, ids []ID, c Change) ([]Answer, error) {
	if c.Op == OpPause {
		if err := j.forgetEnds(ctx, opNames[c.Op], endKeys(ids)...); err != nil {
			return nil, err
		}
	}
	return j.changeEach(ctx, ids, c)
}

// changeEach makes a change to each of the jobs, in one step if the store can. With an error, the answers are those for
// the first jobs, which were changed before.
func (j *Jobs) changeEach(ctx context.Context, ids []ID, c Change) (answers []Answer, err error) {
	mustContext(ctx)
	n := j.node()
	var here []store.Ref // the runs that a cancellation is about, if this node has them
	for _, id := range ids {
		if n != nil && c.Op == OpCancel {
			here = append(here, n.HeldRef(id))
		}
	}
	if j.parts.Changer != nil && len(ids) > 1 {
		answers, err = j.parts.Changer.ChangeEach(ctx, ids, c)
	} else {
		for i := 0; i < len(ids) && err == nil; i++ {
			var a Answer
			if a, err = j.store.Change(ctx, ids[i], c); err == nil {
				answers = append(answers, a)
			}
		}
	}
	var canceled []store.Ref
	there := false
	for i, a := range answers {
		j.notify(ids[i])
		there = there || a != NotFound
		if here != nil && a == Deferred {
			canceled = append(canceled, here[i])
		}
	}
	if n != nil && there {
		n.CancelRuns(canceled) // without waiting for the next heartbeat
		n.Wake()
	}
	return answers, failed(opNames[c.Op], err)
}

// Now returns the time of the store, by which jobs are due. While Run runs, the node knows it; otherwise the store is
// asked.
func (j *Jobs) Now(ctx context.Context) (time.Time, error) {
	mustContext(ctx)
	if now, ok := j.node().Now(); ok {
		return now, nil
	}
	now, err := j.store.Now(ctx)
	return now, failed("now", err)
}

// Get returns the job with that ID, or ErrNotFound.
func (j *Jobs) Get(ctx context.Context, id ID) (Job, error) {
	mustContext(ctx)
	job, err := j.store.Get(ctx, id)
	return job, failed("get", err)
}

// Find returns the job with that key, or ErrNotFound.
func (j *Jobs) Find(ctx context.Context, key string) (Job, error) {
	mustContext(ctx)
	if checkName("key", key, MaxKey) != nil {
		return Job{}, ErrNotFound // nor can there be one; a database may decline the text
	}
	job, err := j.store.Find(ctx, key)
	return job, failed("find", err)
}

// History returns up to limit of a job's runs, the latest first. For the next page set before to the last Seq of this
// one; 0 begins with the latest. A job that does not exist has none.
func (j *Jobs) History(ctx context.Context, id ID, before int64, limit int) ([]Run, error) {
	mustContext(ctx)
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	if j.parts.History == nil {
		return nil, j.lacks("history", "History")
	}
	runs, err := j.parts.History.Runs(ctx, id, before, limit)
	return runs, failed("history", err)
}

func checkLimit(n int) error {
	if n < 0 {
		return invalid("limit %d: it must not be negative", n)
	}
	return nil
}

// Await waits until the job is done and returns it as it is then, together with a *JobError if it is dead or canceled;
// see Kind.Await for the errors. Await returns at once if the job ends in this program, and within half a second if it
// ends elsewhere.
func (j *Jobs) Await(ctx context.Context, id ID) (Job, error) {
	mustContext(ctx)
	done, unsubscribe := j.subscribe(id)
	defer unsubscribe()
	for pause := 10 * time.Millisecond; ; pause = min(pause*2, 500*time.Millisecond) {
		job, err := j.store.Get(ctx, id)
		switch {
		case err != nil && ctx.Err() != nil:
			return Job{}, ctx.Err() // a database may call that otherwise
		case err != nil:
			return Job{}, failed("await", err)
		case job.State == Succeeded:
			return job, nil
		case job.State.Done():
			return job, &JobError{ID: id, State: job.State, Text: job.Error, Label: job.Label}
		}
		t := time.NewTimer(pause)
		select {
		case <-done:
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
		if ctx.Err() != nil {
			return Job{}, ctx.Err()
		}
	}
}

// subscribe returns a channel with one slot that gets something when the job's row was changed by this program, until
// unsubscribe is called. The channels of one job are a list: a thousand callers may wait for it, and all of them leave
// when it is done.
func (j *Jobs) subscribe(id ID) (changed <-chan struct{}, unsubscribe func()) {
	c := make(chan struct{}, 1)
	j.mu.Lock()
	defer j.mu.Unlock()
	all := j.mu.waiters[id]
	if all == nil {
		all = list.New()
		j.mu.waiters[id] = all
	}
	own := all.PushBack(c)
	return c, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if all.Remove(own); all.Len() == 0 {
			delete(j.mu.waiters, id)
		}
	}
}

// notify sends to the channels that wait for that job.
func (j *Jobs) notify(id ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := j.mu.waiters[id]
	if all == nil {
		return
	}
	for e := all.Front(); e != nil; e = e.Next() {
		select {
		case e.Value.(chan struct{}) <- struct{}{}:
		default:
		}
	}
}
