package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// writes runs one job whose handler does what f does with its output, and returns what is kept.
func writes(t *testing.T, limit int, f func(io.Writer)) durable.RunOutput {
	t.Helper()
	jobs := newJobs(t, memory.New(), func(c *durable.Config) { c.Output = limit })
	k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
		f(durable.Output(ctx))
		return 0, nil
	})
	start(t, jobs)
	id := must(k.Add(t.Context(), 1))
	must(k.Await(t.Context(), id))
	synctest.Wait()
	o := must(jobs.Output(t.Context(), id, 1))
	if last := must(jobs.Output(t.Context(), id, 0)); last.Seq != 1 || last.Live || last.Written != o.Written {
		t.Errorf("the last is %+v", last)
	}
	return o
}

// Of what a run writes, in pieces of any size, the beginning and the end are kept.
func TestOutputKeepsHeadAndTail(t *testing.T) {
	for _, limit := range []int{1, 7, 100} {
		for range 10 {
			synctest.Test(t, func(t *testing.T) {
				var all []byte
				o := writes(t, limit, func(w io.Writer) {
					for range rand.N(10) {
						p := make([]byte, rand.N(limit*2+1))
						for i := range p {
							p[i] = byte(len(all) + i)
						}
						if n, err := w.Write(p); n != len(p) || err != nil {
							t.Errorf("Write of %d bytes returned %d, %v", len(p), n, err)
						}
						all = append(all, p...)
					}
				})
				head := min(len(all), limit)
				tail := min(len(all)-head, limit)
				if !bytes.Equal(o.Head, all[:head]) || !bytes.Equal(o.Tail, all[len(all)-tail:]) ||
					o.Written != int64(len(all)) || o.Omitted() != int64(len(all)-head-tail) {
					t.Fatalf("of %d bytes with limit %d kept %v and %v", len(all), limit, o.Head, o.Tail)
				}
				var read []byte
				for at := int64(0); at < o.Written; {
					data, next := o.From(at)
					if next <= at {
						t.Fatalf("From(%d) goes on at %d", at, next)
					}
					read, at = append(read, data...), next
				}
				if !bytes.Equal(read, append(all[:head:head], all[len(all)-tail:]...)) {
					t.Errorf("From returns %v", read)
				}
				if data, next := o.From(o.Written + 1); data != nil || next != o.Written {
					t.Errorf("From beyond the end returns %v, %d", data, next)
				}
			})
		}
	}
}

// By default 64 KiB are kept of both ends, and a negative number keeps nothing.
func TestOutputLimits(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
	for limit, want := range map[int]int{0: 64 << 10, -1: 0, 1 << 20: len(text)} {
		synctest.Test(t, func(t *testing.T) {
			o := writes(t, limit, func(w io.Writer) { w.Write(text) })
			if len(o.Head) != want || len(o.Tail) != min(want, len(text)-want)*min(want, 1) && want != 0 {
				t.Errorf("limit %d: %d and %d bytes are kept", limit, len(o.Head), len(o.Tail))
			}
		})
	}
	_, err := durable.New(durable.Config{Store: memory.New(), Output: 1<<20 + 1})
	if !errors.Is(err, executor.ErrInvalid) {
		t.Errorf("more than the most: %v", err)
	}
}

// While a run goes on its node has what it has written so far, under the number that the run will have.
func TestOutputOfARunInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		step := make(chan string)
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			for text := <-step; text != ""; text = <-step {
				fmt.Fprint(durable.Output(ctx), text)
			}
			return 0, nil
		})
		start(t, jobs)
		id := must(k.AtFixedRate(t.Context(), "key", 0, time.Minute, 1))
		synctest.Wait()
		if o := must(jobs.Output(t.Context(), id, 0)); !o.Live || o.Written != 0 {
			t.Errorf("before it has written: %+v", o)
		}
		step <- "one,"
		synctest.Wait()
		if o := must(jobs.Output(t.Context(), id, 1)); !o.Live || string(o.Head) != "one," || o.Seq != 1 {
			t.Errorf("live: %+v", o)
		}
		step <- ""
		time.Sleep(time.Minute)
		step <- "two"
		synctest.Wait()
		for seq, want := range map[int64]string{0: "two", 1: "one,", 2: "two"} {
			if o := must(jobs.Output(t.Context(), id, seq)); string(o.Head) != want || o.Live != (want == "two") {
				t.Errorf("run %d: %+v", seq, o)
			}
		}
		step <- ""
		for _, seq := range []int64{3, 100} {
			if o, err := jobs.Output(t.Context(), id, seq); !errors.Is(err, durable.ErrNotFound) {
				t.Errorf("run %d: %+v, %v", seq, o, err)
			}
		}
		if _, err := jobs.Output(t.Context(), id, -1); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("run -1: %v", err)
		}
		if _, err := jobs.Output(t.Context(), durable.NewID(), 0); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("of no job: %v", err)
		}
	})
}

// Each attempt has an output of its own, also one that failed.
func TestOutputOfEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ int) (int, error) {
			j, _ := durable.Current(ctx)
			fmt.Fprintf(durable.Output(ctx), "attempt %d", j.Attempt)
			return 0, errors.New("no")
		})
		start(t, jobs)
		id := must(k.Add(t.Context(), 1, durable.Attempts(2)))
		k.Await(t.Context(), id)
		for seq := int64(1); seq <= 2; seq++ {
			if o := must(jobs.Output(t.Context(), id, seq)); string(o.Head) != fmt.Sprintf("attempt %d", seq) {
				t.Errorf("run %d: %s", seq, o.Head)
			}
		}
	})
}

// Goroutines of a handler may write together; what comes after its return is dropped, and so is what has no handler.
func TestOutputTakesWritesOfMany(t *testing.T) {
	if w := durable.Output(t.Context()); w != io.Discard {
		t.Errorf("without a handler it is %T", w)
	}
	synctest.Test(t, func(t *testing.T) {
		var late io.Writer
		o := writes(t, 0, func(w io.Writer) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 100 {
						fmt.Fprintln(w, "a line")
					}
				})
			}
			all.Wait()
			late = w
		})
		if bytes.Count(o.Head, []byte("a line\n")) != 800 || o.Written != 800*7 {
			t.Errorf("%d bytes were written", o.Written)
		}
		if n, err := late.Write([]byte("late")); n != 4 || err != nil {
			t.Errorf("late: %d, %v", n, err)
		}
	})
}
