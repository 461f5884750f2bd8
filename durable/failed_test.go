package durable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// downStore is one of which each call that a program makes fails.
type downStore struct{ durable.Store }

func (downStore) Now(context.Context) (t time.Time, err error) { return t, errDown }
func (downStore) Insert(context.Context, []durable.NewJob, store.Placement) (r []durable.InsertResult, err error) {
	return r, errDown
}
func (downStore) Change(context.Context, durable.ID, durable.Change) (a durable.Answer, err error) {
	return a, errDown
}
func (downStore) Get(context.Context, durable.ID) (j durable.Job, err error) { return j, errDown }
func (downStore) Find(context.Context, string) (j durable.Job, err error)    { return j, errDown }
func (downStore) List(context.Context, durable.Filter) (j []durable.Job, err error) {
	return j, errDown
}
func (downStore) Counts(context.Context, durable.Filter) (c []durable.Count, err error) {
	return c, errDown
}
func (downStore) Runs(context.Context, durable.ID, int64, int) ([]durable.Run, error) {
	return nil, errDown
}
func (downStore) PauseKind(context.Context, string, bool) error                  { return errDown }
func (downStore) PausedKinds(context.Context) ([]string, error)                  { return nil, errDown }
func (downStore) NoteAct(context.Context, durable.Act) error                     { return errDown }
func (downStore) Acts(context.Context, durable.ActFilter) ([]durable.Act, error) { return nil, errDown }
func (downStore) Nodes(context.Context) ([]durable.NodeInfo, error)              { return nil, errDown }
func (downStore) Progress(context.Context, []durable.ID) ([]durable.RunProgress, error) {
	return nil, errDown
}
func (downStore) Latest(context.Context, durable.LatestFilter) ([]durable.JobRun, error) {
	return nil, errDown
}
func (downStore) Output(context.Context, durable.ID, int64) ([]byte, error) { return nil, errDown }
func (downStore) Dead(context.Context, int) ([]store.DeadJob, error)        { return nil, errDown }

// The error of a call that the store could not answer begins with the name of this package and of the call, and matches
// the store's.
func TestJobsNameTheCallThatFailed(t *testing.T) {
	jobs, err := durable.New(durable.Config{Store: downStore{memory.New()}})
	if err != nil {
		t.Fatal(err)
	}
	k := durable.KindOf[int, int](jobs, "k")
	ctx, id := t.Context(), durable.NewID()
	second := func(_ any, err error) error { return err }
	_, _, tally := jobs.Tally(ctx, 0)
	for want, got := range map[string]error{
		"schedule":     second(k.Add(ctx, 1)),
		"await":        second(k.Await(ctx, id)),
		"cancel":       second(jobs.Cancel(ctx, id)),
		"pause":        second(jobs.Pause(ctx, id)),
		"resume":       second(jobs.Resume(ctx, id)),
		"reschedule":   second(jobs.Reschedule(ctx, id, time.Now())),
		"run now":      second(jobs.RunNow(ctx, id)),
		"revive":       second(jobs.Revive(ctx, id)),
		"delete":       second(jobs.Delete(ctx, id)),
		"get":          second(jobs.Get(ctx, id)),
		"find":         second(jobs.Find(ctx, "key")),
		"list":         second(jobs.List(ctx, durable.Filter{})),
		"counts":       tally,
		"history":      second(jobs.History(ctx, id, 0, 1)),
		"pause kind":   jobs.PauseKind(ctx, "k"),
		"pause kind ":  jobs.PauseKindUntil(ctx, "k", time.Now().Add(time.Hour)),
		"resume kind":  jobs.ResumeKind(ctx, "k"),
		"paused kinds": second(jobs.PausedKinds(ctx)),
		"note act":     jobs.NoteAct(ctx, durable.Act{}),
		"acts":         second(jobs.Acts(ctx, durable.ActFilter{})),
		"nodes":        second(jobs.Nodes(ctx)),
		"latest":       second(jobs.Latest(ctx, durable.LatestFilter{})),
		"dead groups":  second(jobs.DeadGroups(ctx)),
		"progress":     second(jobs.Progress(ctx, id)),
		"output":       second(jobs.Output(ctx, id, 1)),
	} {
		if got == nil || !strings.HasPrefix(got.Error(), "durable: "+strings.TrimSpace(want)+": ") || !errors.Is(got, errDown) {
			t.Errorf("%s: the error is %v", want, got)
		}
	}
}
