package durabletest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
	"github.com/executor-go/executor/durable/memory"
)

// The example passes as a test.
func TestExample(t *testing.T) { testWelcome(t) }

// Idle returns when all that is due has run, jobs that handlers add among it, and does not wait for what is due later.
func TestIdleRunsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var runs atomic.Int64
		var k *durable.Kind[int, int]
		k = durable.Handle(jobs, "k", func(ctx context.Context, left int) (int, error) {
			runs.Add(1)
			time.Sleep(time.Second)
			if left == 0 {
				return 0, nil
			}
			_, err := k.Add(ctx, left-1)
			return 0, err
		})
		durabletest.Start(t, jobs)
		for _, delay := range []time.Duration{0, 0, time.Hour} {
			if _, err := k.AddAfter(t.Context(), delay, 2); err != nil {
				t.Fatal(err)
			}
		}
		if err := durabletest.Idle(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		if got := runs.Load(); got != 6 {
			t.Errorf("%d runs, want 6", got)
		}
		time.Sleep(2 * time.Hour)
		if err := durabletest.Idle(t.Context(), jobs); err != nil || runs.Load() != 9 {
			t.Errorf("later: %d runs, want 9; %v", runs.Load(), err)
		}
	})
}

// Idle does not wait for the attempt after one that failed.
func TestIdleLeavesRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		k := durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 0, errors.New("no") },
			durable.WithBackoff(executor.Backoff(time.Hour, time.Hour)))
		durabletest.Start(t, jobs)
		id, err := k.Add(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := durabletest.Idle(t.Context(), jobs); err != nil || time.Since(begun) > time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if j, err := jobs.Get(t.Context(), id); err != nil || j.Attempt != 1 || j.State != durable.Waiting {
			t.Errorf("the job is %+v, %v", j, err)
		}
	})
}

// What nobody runs is named when the context ends.
func TestIdleNamesWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		durabletest.Start(t, jobs)
		k := durable.KindOf[int, int](jobs, "nobody")
		if _, err := k.Add(t.Context(), 1, durable.Key("x")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := durabletest.Idle(ctx, jobs)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), `kind "nobody", key "x", is still waiting`) {
			t.Errorf("got %v", err)
		}
	})
}

// Added has all payloads of the kind, and of no other.
func TestAdded(t *testing.T) {
	jobs := durabletest.New(t)
	mail, other := durable.KindOf[string, int](jobs, "mail"), durable.KindOf[int, int](jobs, "other")
	payloads := make([]string, 1500)
	for i := range payloads {
		payloads[i] = fmt.Sprintf("%04d", i)
	}
	if _, err := mail.AddAll(t.Context(), 0, payloads); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Add(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if got := durabletest.Added[string](t, jobs, "mail"); !slices.Equal(slices.Sorted(slices.Values(got)), payloads) {
		t.Errorf("%d payloads, want %d, each once", len(got), len(payloads))
	}
}

// failing is a test that fails without ending the one that it is in.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// AddedOne has the job, with its options, and fails the test unless there is one.
func TestAddedOne(t *testing.T) {
	jobs := durabletest.New(t)
	mail := durable.KindOf[string, int](jobs, "mail")
	add := func(payload string) {
		if _, err := mail.AddAfter(t.Context(), time.Hour, payload, durable.WithTags("customer=7"), durable.Queue("slow")); err != nil {
			t.Fatal(err)
		}
	}
	fails := func() string {
		f := &failing{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			durabletest.AddedOne[string](f, jobs, "mail")
		}()
		<-done
		return f.text
	}
	if text := fails(); !strings.Contains(text, `0 jobs of kind "mail"`) {
		t.Errorf("of none it says %q", text)
	}
	add("first")
	payload, job := durabletest.AddedOne[string](t, jobs, "mail")
	if customer, _ := job.Tag("customer"); payload != "first" || customer != "7" || job.Queue != "slow" || job.State != durable.Waiting {
		t.Errorf("got %q, %+v", payload, job)
	}
	add("second")
	if text := fails(); !strings.Contains(text, `2 jobs of kind "mail"`) {
		t.Errorf("of two it says %q", text)
	}
}

// A node that has nothing to do looks for jobs and renews its lease no more than every eight seconds, so that a test of days
// costs little. With a store or a lease of the program's own it is as in production.
func TestStartCallsSeldom(t *testing.T) {
	for _, c := range []struct {
		name        string
		change      func(*durable.Config)
		least, most int
	}{
		{"by default", func(*durable.Config) {}, 0, 3600 / 8},
		{"own store", func(c *durable.Config) { c.Store = memory.New() }, 3600, 3 * 3600},
		{"own poll", func(c *durable.Config) { c.Poll = time.Hour }, 3600, 3 * 3600},
		{"own lease", func(c *durable.Config) { c.Lease = time.Hour }, 3600, 3 * 3600},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := map[string]int{}
				var mu sync.Mutex
				jobs := durabletest.New(t, c.change, func(c *durable.Config) {
					c.Hooks.Call = func(op string, _ time.Duration, _ error) {
						mu.Lock()
						defer mu.Unlock()
						calls[op]++
					}
				})
				durable.Handle(jobs, "k", func(context.Context, int) (int, error) { return 1, nil })
				stop := durabletest.Start(t, jobs)
				time.Sleep(time.Hour)
				synctest.Wait()
				stop()
				if n := calls["heartbeat"] + calls["claim"]; n < c.least || n > c.most {
					t.Errorf("calls: %v", calls)
				}
			})
		})
	}
}
