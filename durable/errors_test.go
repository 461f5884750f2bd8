package durable_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/sqlite"
)

// The error of a job that was canceled before it ran has no more to say than that.
func TestJobErrorWithoutText(t *testing.T) {
	id := durable.NewID()
	err := &durable.JobError{ID: id, State: durable.Canceled}
	if got, want := err.Error(), "durable: job "+id.String()+" is canceled"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The text of an error about an argument says what is wrong, after the name of the package that was called.
func TestInvalidTextIsPlain(t *testing.T) {
	_, err := durable.New(durable.Config{})
	const want = "durable: Config.Store: it must not be nil; sqlite.Open returns one"
	if err.Error() != want || !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("%q, want %q", err, want)
	}
}

// Snoozed finds by how long a job is put off, below what is wrapped around it.
func TestSnoozedFindsTheTime(t *testing.T) {
	d, ok := durable.Snoozed(fmt.Errorf("busy: %w", durable.Snooze(time.Hour)))
	if !ok || d != time.Hour {
		t.Errorf("%v, %v", d, ok)
	}
	for _, err := range []error{nil, durable.ErrDead, executor.Permanent(durable.ErrDead)} {
		if d, ok := durable.Snoozed(err); ok || d != 0 {
			t.Errorf("%v: %v", err, d)
		}
	}
}

// RetryAfter keeps the error and its text, and has the next attempt wait no less than the kind's Backoff.
func TestRetryAfterSetsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		begun, busy := time.Now(), errors.New("busy")
		var at []time.Duration
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) {
			at = append(at, time.Since(begun))
			err := durable.RetryAfter(busy, []time.Duration{time.Hour, 0, time.Hour}[len(at)-1])
			if !errors.Is(err, busy) || err.Error() != "busy" {
				t.Errorf("it is %v", err)
			}
			return 0, err
		}, durable.WithBackoff(executor.Backoff(time.Minute, time.Minute)))
		start(t, jobs)
		id := must(k.Add(t.Context(), 0, durable.Attempts(3)))
		if job, err := jobs.Await(t.Context(), id); !errors.Is(err, durable.ErrDead) || job.Error != "busy" || job.Attempt != 3 {
			t.Errorf("the job is %+v, %v", job, err)
		}
		if len(at) != 3 || at[0] != 0 || at[1] != time.Hour || at[2] < at[1]+30*time.Second || at[2] > at[1]+time.Minute {
			t.Errorf("it was tried after %v", at)
		}
		defer func() {
			if recover() == nil {
				t.Error("a nil error is taken")
			}
		}()
		durable.RetryAfter(nil, 0)
	})
}

// A nil context panics in the call that gets it. The store has not seen it, and answers later calls.
func TestJobsPanicOnNilContext(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	k := durable.KindOf[int, int](jobs, "k")
	id, err := k.AddAfter(t.Context(), time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	for name, call := range map[string]func(){
		"Schedule":       func() { k.Add(none, 1, durable.Attempts(0)) }, // a mistake comes after that
		"AddAll":         func() { k.AddAll(none, 0, nil) },
		"AddTx":          func() { k.AddTx(none, nil, 0, 1) },
		"CompleteTx":     func() { durable.CompleteTx(none, nil, 1) },
		"At":             func() { k.AddAt(none, time.Time{}, 1) },
		"AtFixedRate":    func() { k.AtFixedRate(none, "rate", 0, time.Second, 1) },
		"WithFixedDelay": func() { k.WithFixedDelay(none, "delay", 0, time.Second, 1) },
		"On":             func() { k.On(none, "on", cron.MustParse("@daily"), 1) },
		"Await":          func() { k.Await(none, id) },
		"Run":            func() { jobs.Run(none) },
		"Cancel":         func() { jobs.Cancel(none, id) },
		"Reschedule":     func() { jobs.Reschedule(none, id, time.Time{}) },
		"Move":           func() { jobs.Move(none, id, "\n") },
		"ChangeAll":      func() { jobs.ChangeAll(none, durable.Change{Op: 99}, durable.Filter{}) },
		"Add":            func() { jobs.Add(none) },
		"Register":       func() { jobs.Register(none) },
		"Signal":         func() { jobs.Signal(none, id, "", 1) },
		"Steps":          func() { jobs.Steps(none, id) },
		"Step":           func() { durable.Step[int](none, "", nil) },
		"DrainNode":      func() { jobs.DrainNode(none, "") },
		"Parents":        func() { durable.Parents(none) },
		"ParentResults":  func() { durable.ParentResults[int](none) },
		"Current":        func() { durable.Current(none) },
		"FencingToken":   func() { durable.FencingToken(none) },
		"LeftOutBefore":  func() { durable.LeftOutBefore(none) },
		"LeftOutDuring":  func() { durable.LeftOutDuring(none) },
		"Get":            func() { jobs.Get(none, id) },
		"Find":           func() { jobs.Find(none, "key") },
		"List":           func() { jobs.List(none, durable.Filter{}) },
		"Counts":         func() { jobs.Counts(none, durable.Filter{}) },
		"History":        func() { jobs.History(none, id, 0, 1) },
		"PauseKind":      func() { jobs.PauseKind(none, "k") },
		"PauseKindUntil": func() { jobs.PauseKindUntil(none, "k", time.Now().Add(time.Hour)) },
		"PausedKinds":    func() { jobs.PausedKinds(none) },
		"Nodes":          func() { jobs.Nodes(none) },
		"Latest":         func() { jobs.Latest(none, durable.LatestFilter{}) },
		"Tally":          func() { jobs.Tally(none, time.Hour) },
		"DeadGroups":     func() { jobs.DeadGroups(none) },
		"Jobs.Progress":  func() { jobs.Progress(none, id) },
		"Jobs.Output":    func() { jobs.Output(none, id, 0) },
		"Progress":       func() { durable.Progress(none, 1, 2, "") },
		"Output":         func() { durable.Output(none) },
	} {
		func() {
			defer func() {
				if v := recover(); v != "durable: nil Context" {
					t.Errorf("%s: %v", name, v)
				}
			}()
			call()
		}()
	}
	all, err := jobs.List(t.Context(), durable.Filter{})
	if err != nil || len(all) != 1 || all[0].State != durable.Waiting {
		t.Errorf("%v, %v", all, err)
	}
}
