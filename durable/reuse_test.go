package durable_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// After each call with ReuseKey a run begins, however the calls and the runs cross; those of the same key never
// overlap.
func TestReuseKeyDropsNoWish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var begun []time.Time
		runs := 0
		k := durable.Handle(jobs, "k", func(context.Context, string) (string, error) {
			if runs++; runs > 1 {
				t.Error("two run at once")
			}
			begun = append(begun, time.Now())
			time.Sleep(70 * time.Millisecond)
			runs--
			return "", nil
		})
		start(t, jobs)
		var asked []time.Time
		var last durable.ID
		for i := range 500 {
			last = must(k.Add(t.Context(), "", durable.Key("key"), durable.ReuseKey()))
			asked = append(asked, time.Now())
			time.Sleep(time.Duration(i*7919%101) * time.Millisecond)
			synctest.Wait()
		}
		must(k.Await(t.Context(), last))
		for _, at := range asked {
			if !slices.ContainsFunc(begun, func(b time.Time) bool { return !b.Before(at) }) {
				t.Fatalf("no run began after the call at %v", at)
			}
		}
		if len(begun) < 50 || len(begun) > 400 {
			t.Errorf("%d runs for %d calls", len(begun), len(asked))
		}
	})
}

// A job that is replaced again and again runs once it has not been for as long as its delay, with the last payload.
func TestReplaceDebounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var payloads []int
		var ran time.Time
		k := durable.Handle(jobs, "k", func(_ context.Context, n int) (int, error) {
			payloads, ran = append(payloads, n), time.Now()
			return n, nil
		})
		start(t, jobs)
		var last time.Time
		var id durable.ID
		for i := range 20 {
			id = must(k.AddAfter(t.Context(), time.Second, i, durable.Key("key"), durable.Replace()))
			last = time.Now()
			time.Sleep(900 * time.Millisecond)
			synctest.Wait()
		}
		if got := must(k.Await(t.Context(), id)); got != 19 || len(payloads) != 1 || ran.Sub(last) != time.Second {
			t.Errorf("it has run with %v, %v after the last call", payloads, ran.Sub(last))
		}
		if _, err := k.AtFixedRate(t.Context(), "other", 0, time.Hour, 0, durable.Replace()); !errors.Is(err,
			executor.ErrInvalid) {
			t.Errorf("a periodic job takes it: %v", err)
		}
	})
}

// A job whose payload is replaced again and again runs once for each delay, with the last payload until then.
func TestReplacePayloadThrottles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var payloads []int
		var ran []time.Duration
		begun := time.Now()
		k := durable.Handle(jobs, "k", func(_ context.Context, n int) (int, error) {
			payloads, ran = append(payloads, n), append(ran, time.Since(begun))
			return n, nil
		})
		start(t, jobs)
		for i := range 8 { // after 0 s, 0.4 s, and so on
			must(k.AddAfter(t.Context(), time.Second, i, durable.Key("key"), durable.ReplacePayload()))
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []int{2, 5, 7}; !slices.Equal(payloads, want) {
			t.Errorf("it has run with %v after %v, want %v", payloads, ran, want)
		}
		if want := []time.Duration{time.Second, 2200 * time.Millisecond, 3400 * time.Millisecond}; !slices.Equal(ran, want) {
			t.Errorf("it has run after %v, want %v", ran, want)
		}
		if _, err := k.AtFixedRate(t.Context(), "other", 0, time.Hour, 0, durable.ReplacePayload()); !errors.Is(err,
			executor.ErrInvalid) {
			t.Errorf("a periodic job takes it: %v", err)
		}
	})
}

// What is gathered while a job waits is in its payload, also after a snooze, and none of it is in two jobs: once an
// attempt has begun, a call says what the job has got and changes nothing, while it runs, before its retry, and after its
// end.
func TestReplaceUntriedGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var got []int
		var ran []time.Duration
		begun := time.Now()
		k := durable.Handle(jobs, "k", func(ctx context.Context, n int) (int, error) {
			got, ran = append(got, n), append(ran, time.Since(begun))
			switch len(got) {
			case 1:
				return 0, durable.Snooze(time.Minute)
			case 2:
				time.Sleep(10 * time.Second)
				return 0, durable.RetryAfter(errors.New("busy"), time.Minute)
			}
			return n, nil
		})
		start(t, jobs)
		var id durable.ID
		for i, at := range []time.Duration{0, 20, 40, 80, 95, 120, 200} {
			time.Sleep(time.Until(begun.Add(at * time.Second)))
			synctest.Wait()
			var r durable.InsertResult
			gathered := must(k.AddAfter(t.Context(), 30*time.Second, i, durable.Key("key"), durable.ReplaceUntried(),
				durable.WithResult(&r)))
			if id = gathered; r.Changed != (i < 4) || must(k.Payload(r.Job)) != min(i, 3) {
				t.Errorf("call %d: changed is %v, and the job has %d", i, r.Changed, must(k.Payload(r.Job)))
			}
		}
		if n := must(k.Await(t.Context(), id)); n != 3 || !slices.Equal(got, []int{1, 3, 3}) ||
			!slices.Equal(ran, []time.Duration{30 * time.Second, 90 * time.Second, 160 * time.Second}) {
			t.Errorf("it has run with %v after %v, and ended with %d", got, ran, n)
		}
		if _, err := k.Add(t.Context(), 0, durable.ReplaceUntried()); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("a job without a key takes it: %v", err)
		}
		if _, err := k.AtFixedRate(t.Context(), "other", 0, time.Hour, 0, durable.ReplaceUntried()); !errors.Is(err,
			executor.ErrInvalid) {
			t.Errorf("a periodic job takes it: %v", err)
		}
	})
}

// A schedule that is canceled while it runs, and registered with ReuseKey before that run has ended, runs again.
func TestReuseKeyKeepsScheduleBeingCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		runs := 0
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			if runs++; runs > 1 {
				return "", executor.ErrStop
			}
			<-ctx.Done()
			time.Sleep(time.Second)
			return "", ctx.Err()
		})
		start(t, jobs)
		every := func() durable.ID {
			return must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, "", durable.ReuseKey()))
		}
		id := every()
		synctest.Wait()
		if a := must(jobs.Cancel(t.Context(), id)); a != durable.Deferred {
			t.Fatalf("Cancel of the job that runs: %v", a)
		}
		if again := every(); again != id {
			t.Errorf("registered again it is %v, want %v", again, id)
		}
		if job := must(jobs.Await(t.Context(), id)); job.State != durable.Succeeded || job.Runs != 2 {
			t.Errorf("the job is %+v, want one that has run twice", job)
		}
	})
}
