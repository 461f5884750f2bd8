package daemon

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/durable/memory"
)

// tries are commands that end with these exit codes, one after the other, and then with 0. A negative one cannot be
// started.
type tries struct {
	mu    sync.Mutex
	codes []int
	at    []time.Time // when they were begun
	env   [][]string
}

func (t *tries) run(_ context.Context, c process.Command, o process.Observer) process.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	result := process.Result{Began: time.Now()}
	if len(t.codes) > 0 {
		result.Code, t.codes = t.codes[0], t.codes[1:]
	}
	t.at, t.env = append(t.at, result.Began), append(t.env, c.Env)
	if result.Code < 0 {
		return process.Result{Err: context.DeadlineExceeded}
	}
	o.Started(1, result.Began)
	if result.Code > 0 {
		o.Output(process.Stderr, []byte("code "+string(rune('0'+result.Code))), false)
	}
	return result
}

// since returns when the commands were begun.
func (t *tries) since(began time.Time) (all []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, at := range t.at {
		all = append(all, at.Sub(began))
	}
	return all
}

// shared returns a store that daemons share, in memory, with a lease so long that hours have few heartbeats.
func shared(t *testing.T) Store {
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	return Store{Store: store, Name: "jobs.db", Namespace: "shop", Lease: time.Minute}
}

// Attempts follow each other after growing waits, until one is well: all of them are one run, which is.
func TestRetryUntilWell(t *testing.T) {
	for _, store := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{File: parse(t, "# name: a\n# retries: 3\n@every 1h x\n"),
				Record: record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})}
			if store {
				c.Store = shared(t)
			}
			commands := &tries{codes: []int{1, -1, 2}}
			h := beginWith(t, c, commands.run)
			time.Sleep(time.Hour + 5*time.Minute)
			runs, _, err := h.Runs(t.Context(), "a", 10)
			if err != nil || len(runs) != 1 || runs[0].Run != 1 || runs[0].Attempt != 4 || runs[0].Outcome != "ok" || runs[0].Took != 70 {
				t.Errorf("runs %+v, error %v", runs, err)
			}
			sum := h.end()
			want := []time.Duration{time.Hour, time.Hour + 10*time.Second, time.Hour + 30*time.Second, time.Hour + 70*time.Second}
			if got := commands.since(h.began); !reflect.DeepEqual(got, want) {
				t.Errorf("begun after %v, want %v", got, want)
			}
			for i, env := range commands.env {
				if got, _ := process.Variable(env, "EXECUTORD_ATTEMPT"); got != string(rune('1'+i)) {
					t.Errorf("EXECUTORD_ATTEMPT=%s at %d", got, i)
				}
			}
			if sum.Runs != 1 || sum.Failed != 0 || sum.Missed != 0 {
				t.Errorf("%+v", sum)
			}
			if lines := h.logged("run will be retried"); len(lines) != 3 || !strings.Contains(lines[0], "run=1 outcome=failed took=0s wait=10s left=3 exit=1") ||
				!strings.Contains(lines[1], `attempt=2 outcome="not started" took=0s wait=20s left=2 reason="context deadline exceeded"`) || !strings.Contains(lines[2], "attempt=3 outcome=failed took=0s wait=40s left=1 exit=2") {
				t.Errorf("%q", lines)
			}
			if lines := h.logged("run ended"); len(lines) != 1 || !strings.Contains(lines[0], "attempt=4 outcome=ok exit=0 took=1m10s") {
				t.Errorf("%q", lines)
			}
		})
	}
}

// What a run has written is known by its attempts, in the daemon that ran it and in all others.
func TestRetryTellsOutputOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: a\n# retries: 3\n@every 1h x\n"), Store: shared(t),
			Record: record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})}
		h := beginWith(t, c, (&tries{codes: []int{1, -1, 2, 3}}).run)
		defer h.end()
		time.Sleep(time.Hour + 10*time.Minute)
		_, output, ok := h.Output("a", 1)
		stored, found, err := h.Stored(t.Context(), "a", 1)
		if !ok || !found || err != nil {
			t.Fatal(ok, found, err)
		}
		lines, _ := output.After(0)
		for name, all := range map[string][]record.Line{"here": lines, "in the store": stored.Head} {
			var got []string
			for _, l := range all {
				got = append(got, fmt.Sprint(max(l.Attempt, 1), " ", l.Text))
			}
			if want := "1 code 1, 3 code 2, 4 code 3"; strings.Join(got, ", ") != want {
				t.Errorf("%s: %q, want %s", name, got, want)
			}
		}
	})
}

// When no attempt is left the run has failed, once, as the last of them; times that pass meanwhile are skipped.
func TestRetryUntilNoneIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := shared(t)
		commands := &tries{codes: []int{1, 2, 3}}
		h := beginWith(t, Config{File: parse(t, "# name: a\n# retries: 2\n# retry_wait: 40s\n# retry_factor: 1\n@every 1m x\n"), Store: store}, commands.run)
		time.Sleep(3*time.Minute - time.Second)
		runs, _, err := h.Runs(t.Context(), "a", 10)
		if err != nil || len(runs) != 1 || runs[0].Attempt != 3 || runs[0].Outcome != "failed" || runs[0].Error != "exit status 3, after 3 attempts" ||
			!reflect.DeepEqual(runs[0].Stderr, []string{"code 3"}) {
			t.Errorf("runs %+v, error %v", runs, err)
		}
		if sum := h.end(); sum.Runs != 1 || sum.Failed != 1 || sum.Skipped != 1 || sum.Missed != 0 {
			t.Errorf("%+v", sum)
		}
	})
}

// What ends a run ends its wait for the next attempt.
func TestRetryIsEndedByCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commands := &tries{codes: []int{1, 1}}
		h := beginWith(t, Config{File: parse(t, "# name: a\n# retries: 2\n# retry_wait: 10m\n@every 1h x\n")}, commands.run)
		time.Sleep(time.Hour + time.Minute)
		if n, ok := h.End("a", 1); !ok || n != 1 {
			t.Error("no run is in progress")
		}
		synctest.Wait()
		if lines := h.logged("run ended"); len(lines) != 1 || !strings.Contains(lines[0], "outcome=canceled") {
			t.Errorf("%q", lines)
		}
		time.Sleep(20 * time.Minute)
		h.end()
		if got := commands.since(h.began); len(got) != 1 {
			t.Errorf("begun after %v", got)
		}
	})
}

// A run that is replaced during its wait for the next attempt has ended as its last attempt has: with its code and
// output in the history, told, and followed by the jobs that are after its failure.
func TestRetryReplacedBetweenAttemptsHasFailed(t *testing.T) {
	const note = " (it was replaced before attempt 2)"
	for _, test := range []struct {
		last process.Result
		text string
		kind string
	}{
		{process.Result{Code: 1}, "exit status 1" + note, "a has failed: "},
		{process.Result{Err: context.DeadlineExceeded}, "not started: context deadline exceeded" + note, "a was not started: "},
		{process.Result{Stopped: true, Cause: process.ErrTimeout, Signal: "SIGTERM"}, "timeout: it was ended after 5s" + note, "a has failed: timeout"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, first := new(told), true // the job does not overlap itself
			file := linked(t, "# name: a\n# overlap: replace\n# retries: 3\n# retry_wait: 50m\n# timeout: 5s\n@every 30m x\n"+
				"# name: b\n# after: a\n# after_on: failure\n@after x\n")
			file.Channels = []notify.Spec{channel("ops")}
			h := beginWith(t, Config{File: file, Store: shared(t)}, func(ctx context.Context, c process.Command, o process.Observer) process.Result {
				if c.Args[0] == "tell" {
					return n.command(ctx, c, o)
				}
				result := process.Result{}
				if first {
					first, result = false, test.last
					o.Output(process.Stderr, []byte("disk full"), false)
				} else {
					time.Sleep(time.Second) // else one message tells of both runs
				}
				result.Began = time.Now()
				return result
			})
			time.Sleep(time.Hour + time.Minute)
			runs, _, err := h.Runs(t.Context(), "a", 10)
			if err != nil || len(runs) != 2 || runs[1].Error != test.text || !runs[1].Outcome.IsFailure() || runs[0].Outcome != "ok" ||
				!reflect.DeepEqual(runs[1].Stderr, []string{"disk full"}) {
				t.Errorf("runs %+v, error %v", runs, err)
			}
			after, _, err := h.Runs(t.Context(), "b", 10)
			if err != nil || len(after) != 1 {
				t.Errorf("runs after it %+v, error %v", after, err)
			}
			sum := h.end()
			if got := n.all(); !strings.HasPrefix(got, test.kind) || !strings.HasSuffix(got, "|a has recovered") || !strings.Contains(n.inputs[0], "disk full") || sum.Failed != 1 {
				t.Errorf("told %q; %+v", got, sum)
			}
		})
	}
}

// Without a store that is kept, the drain does not wait for another attempt: the run has failed.
func TestRetryEndsWithDrain(t *testing.T) {
	for _, schedule := range []string{"@every 1m", "@reboot"} {
		synctest.Test(t, func(t *testing.T) {
			commands := &tries{codes: []int{1, 1}}
			h := beginWith(t, Config{File: parse(t, "# name: a\n# retries: 2\n# retry_wait: 10m\n"+schedule+" x\n")}, commands.run)
			time.Sleep(2 * time.Minute)
			asked := time.Now()
			if sum := h.end(); sum.Runs != 1 || sum.Failed != 1 || h.ended.After(asked.Add(time.Second)) {
				t.Errorf("%s: %+v, %v after the drain", schedule, sum, h.ended.Sub(asked))
			}
		})
	}
}

// In a store, the next daemon goes on with the attempts that are left, when the wait is over.
func TestRetryGoesOnInNextDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := Config{File: parse(t, "# name: a\n# retries: 3\n# retry_wait: 10m\n@every 1h x\n"), Store: shared(t)}
		commands := &tries{codes: []int{1, 2, 3, 4, 5, 6}}
		h := beginWith(t, c, commands.run)
		time.Sleep(time.Hour + 15*time.Minute)
		if sum := h.end(); sum.Failed != 0 || sum.Interrupted != 0 {
			t.Errorf("%+v", sum)
		}
		if lines := h.logged("run ended"); len(lines) != 1 || !strings.Contains(lines[0], "level=INFO") || !strings.Contains(lines[0], "attempt=2 outcome=delayed") {
			t.Errorf("%q", lines)
		}
		time.Sleep(5 * time.Minute)
		h = beginWith(t, c, commands.run)
		time.Sleep(time.Hour)
		runs, _, err := h.Runs(t.Context(), "a", 10)
		if err != nil || len(runs) != 2 || runs[0].Attempt != 4 || runs[0].Error != "exit status 4, after 4 attempts" || !runs[0].Due.Equal(runs[1].Due) ||
			runs[1].Outcome != "delayed" || runs[1].Attempt != 2 {
			t.Errorf("runs %+v, error %v", runs, err)
		}
		h.end()
		m := time.Minute
		if got, want := commands.since(began), []time.Duration{60 * m, 70 * m, 90 * m, 130 * m}; !reflect.DeepEqual(got[:4], want) {
			t.Errorf("begun after %v, want %v", got, want)
		}
	})
}
