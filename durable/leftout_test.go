package durable_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// account is a handler whose runs take some time, and what they were for.
type account struct {
	mu     sync.Mutex
	takes  []time.Duration // of the first runs; those after it take no time
	during func(ctx context.Context)
	runs   []accounted
}

// accounted is one run.
type accounted struct {
	occurrence     time.Time
	before, during durable.LeftOut
}

func (a *account) handle(ctx context.Context, _ string) (string, error) {
	j, _ := durable.Current(ctx)
	run := accounted{occurrence: j.Occurrence, before: durable.LeftOutBefore(ctx)}
	a.mu.Lock()
	i := len(a.runs)
	a.runs = append(a.runs, run)
	var d time.Duration
	if i < len(a.takes) {
		d = a.takes[i]
	}
	a.mu.Unlock()
	time.Sleep(d)
	if a.during != nil && i == 0 {
		a.during(ctx)
	}
	run.during = durable.LeftOutDuring(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[i] = run
	return "", nil
}

// want compares the occurrences of the runs, and how many were left out before and during each.
func (a *account) want(t *testing.T, since time.Time, want ...[3]int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	var got [][3]int
	for _, run := range a.runs {
		got = append(got, [3]int{int(run.occurrence.Sub(since) / time.Minute), run.before.Count, run.during.Count})
	}
	if !slices.Equal(got, want) {
		t.Errorf("ran for minutes, with so many left out before and during: %v, want %v", got, want)
	}
}

// minutely are the schedules that are due each minute.
var minutely = map[string]func(*durable.Kind[string, string], context.Context, ...durable.Option) (durable.ID, error){
	"rate": func(k *durable.Kind[string, string], ctx context.Context, opts ...durable.Option) (durable.ID, error) {
		return k.AtFixedRate(ctx, "key", time.Minute, time.Minute, "", opts...)
	},
	"cron": func(k *durable.Kind[string, string], ctx context.Context, opts ...durable.Option) (durable.ID, error) {
		return k.On(ctx, "key", cron.MustParse("* * * * *"), "", opts...)
	},
	"every": func(k *durable.Kind[string, string], ctx context.Context, opts ...durable.Option) (durable.ID, error) {
		return k.On(ctx, "key", cron.MustParse("@every 1m"), "", opts...)
	},
}

// Each occurrence is a run, or passes during one and is left out, or is missed and made up for by the next run.
func TestSkipOverlapAccountsForEachOccurrence(t *testing.T) {
	for name, add := range minutely {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				first, second := newJobs(t, store), newJobs(t, store)
				a := &account{takes: []time.Duration{0, 150 * time.Second, 0, 0, 90 * time.Second}}
				k := durable.Handle(first, "k", a.handle)
				durable.Handle(second, "k", a.handle)
				begun := time.Now()
				must(add(k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
				stop := start(t, first)
				time.Sleep(5*time.Minute + 30*time.Second)
				stop()
				time.Sleep(5 * time.Minute) // 10 minutes and a half: 6, 7, 8, 9 and 10 are missed
				start(t, second)
				time.Sleep(3 * time.Minute)
				a.want(t, begun, [3]int{1}, [3]int{2, 0, 2}, [3]int{5, 0, 0}, [3]int{10, 4, 0}, [3]int{11, 0, 1},
					[3]int{13, 0, 0})
			})
		})
	}
}

// What is left out at the end of a run is known then, and not only when the next one begins.
func TestSkipOverlapMovesDueAtTheEndOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		k := durable.Handle(jobs, "k", (&account{takes: []time.Duration{150 * time.Second}}).handle)
		begun := time.Now().UTC().Round(0)
		id := must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
		start(t, jobs)
		time.Sleep(3*time.Minute + 31*time.Second)
		j := must(jobs.Get(t.Context(), id))
		if due := j.Due.Sub(begun); due != 4*time.Minute || j.Runs != 1 {
			t.Errorf("after %d runs it is due %v after its registration", j.Runs, due)
		}
	})
}

// With the other policies the times that pass during a run are made up for by the next.
func TestCoalesceMakesUpForOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		a := &account{takes: []time.Duration{150 * time.Second}}
		k := durable.Handle(jobs, "k", a.handle)
		begun := time.Now()
		must(minutely["rate"](k, t.Context()))
		start(t, jobs)
		time.Sleep(4*time.Minute + 30*time.Second)
		a.want(t, begun, [3]int{1}, [3]int{3, 1, 0}, [3]int{4})
	})
}

// A handler that asks decides what is left out: what passes after that is due at the end of the run.
func TestLeftOutDuringDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var first, second durable.LeftOut
		a := &account{takes: []time.Duration{150 * time.Second}}
		a.during = func(ctx context.Context) {
			first = durable.LeftOutDuring(ctx)
			time.Sleep(time.Minute)
			second = durable.LeftOutDuring(ctx)
		}
		k := durable.Handle(jobs, "k", a.handle)
		begun := time.Now().UTC().Round(0)
		must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
		start(t, jobs)
		time.Sleep(5*time.Minute + 30*time.Second)
		synctest.Wait()
		if want := (durable.LeftOut{Count: 2, First: begun.Add(2 * time.Minute)}); first != want || second != want {
			t.Errorf("left out: %v, then %v, want %v", first, second, want)
		}
		a.want(t, begun, [3]int{1, 0, 2}, [3]int{4}, [3]int{5})
	})
}

// After a change of the schedule during a run, or of the next time, the times from then on are left out that pass
// during it.
func TestSkipOverlapOfScheduleThatCameDuringTheRun(t *testing.T) {
	for name, test := range map[string]struct {
		change func(j *durable.Jobs, k *durable.Kind[string, string], ctx context.Context, id durable.ID)
		left   int
		first  time.Duration // since the change
		next   int           // minutes since the registration
	}{
		"another schedule": {func(_ *durable.Jobs, k *durable.Kind[string, string], ctx context.Context, _ durable.ID) {
			must(k.AtFixedRate(ctx, "key", 2*time.Minute, 2*time.Minute, "", durable.OnMissed(durable.SkipOverlap())))
		}, 2, 2 * time.Minute, 7},
		"another time": {func(j *durable.Jobs, _ *durable.Kind[string, string], ctx context.Context, id durable.ID) {
			must(j.Reschedule(ctx, id, time.Now().Add(3*time.Minute)))
		}, 2, 3 * time.Minute, 6},
		"a time to come": {func(j *durable.Jobs, _ *durable.Kind[string, string], ctx context.Context, id durable.ID) {
			must(j.Reschedule(ctx, id, time.Now().Add(7*time.Minute)))
		}, 0, 0, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New())
				var id durable.ID
				var k *durable.Kind[string, string]
				var changed time.Time
				var left durable.LeftOut
				a := &account{}
				a.during = func(ctx context.Context) {
					changed = time.Now().UTC().Round(0)
					test.change(jobs, k, ctx, id)
					time.Sleep(4*time.Minute + 30*time.Second)
					left = durable.LeftOutDuring(ctx)
				}
				k = durable.Handle(jobs, "k", a.handle)
				begun := time.Now()
				id = must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
				start(t, jobs)
				time.Sleep(9*time.Minute + 30*time.Second)
				synctest.Wait()
				want := durable.LeftOut{Count: test.left}
				if test.left > 0 {
					want.First = changed.Add(test.first)
				}
				if left != want {
					t.Errorf("left out: %v, want %v", left, want)
				}
				if len(a.runs) < 2 || a.runs[1].occurrence.Sub(begun) != time.Duration(test.next)*time.Minute {
					t.Errorf("ran for %v", a.runs)
				}
			})
		})
	}
}

// Of the times over which a clock jumps during a run none has passed during it: they are missed if it was put forward,
// and yet to come if it was put back.
func TestSkipOverlapAndAClockThatJumps(t *testing.T) {
	for _, test := range []struct {
		jump time.Duration
		want [][3]int // of the runs in the 3 minutes after the first, on the clock as it is then
	}{
		{0, [][3]int{{1, 0, 2}, {4}, {5}, {6}}},
		{time.Hour, [][3]int{{1, 0, 2}, {63, 59, 0}, {64}, {65}, {66}}},
		{-time.Minute, [][3]int{{1, 0, 1}, {3}, {4}, {5}}},
	} {
		t.Run(test.jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				jobs := newJobs(t, store)
				a := &account{takes: []time.Duration{140 * time.Second}}
				a.during = func(context.Context) {
					store.Shift(test.jump)
					time.Sleep(10 * time.Second) // until a heartbeat has reported it
				}
				k := durable.Handle(jobs, "k", a.handle)
				begun := time.Now()
				must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
				start(t, jobs)
				time.Sleep(6*time.Minute + 30*time.Second)
				a.want(t, begun, test.want...)
			})
		})
	}
}

// A store that does not answer at the end of a run changes nothing in what is left out.
func TestSkipOverlapWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFaulty(memory.New())
		jobs := newJobs(t, store)
		a := &account{takes: []time.Duration{150 * time.Second}}
		k := durable.Handle(jobs, "k", a.handle)
		begun := time.Now()
		must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
		store.set(func(op string) (error, error) {
			if op == "get" {
				return errDown, nil
			}
			return nil, nil
		})
		start(t, jobs)
		time.Sleep(4*time.Minute + 30*time.Second)
		a.want(t, begun, [3]int{1, 0, 2}, [3]int{4})
	})
}

// A handler that fails is tried again for the same occurrence, and the times that pass until it has ended are left out.
func TestSkipOverlapOfARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, memory.New())
		var d diary
		k := durable.Handle(jobs, "k", func(ctx context.Context, _ string) (string, error) {
			d.note(ctx)
			if j, _ := durable.Current(ctx); j.Attempt < 2 && d.count() == 1 {
				time.Sleep(90 * time.Second)
				return "", errDown
			}
			time.Sleep(10 * time.Second)
			return "", nil
		}, durable.WithBackoff(executor.Backoff(time.Minute, time.Minute)))
		begun := time.Now()
		must(minutely["rate"](k, t.Context(), durable.OnMissed(durable.SkipOverlap())))
		start(t, jobs)
		time.Sleep(4*time.Minute + 30*time.Second)
		var got []int
		for _, j := range d.all() {
			got = append(got, int(j.Occurrence.Sub(begun)/time.Minute))
		}
		if want := []int{1, 1, 4}; !slices.Equal(got, want) {
			t.Errorf("ran for the minutes %v, want %v", got, want)
		}
	})
}

// The count of a trigger's times ends at a bound, so that a second that was missed for years costs no minutes, and the
// schedule goes on where it would have.
func TestLeftOutIsBounded(t *testing.T) {
	const long, period = 30 * time.Hour, time.Second // 108,000 times
	seconds := &trigger{next: func(t time.Time) time.Time { return t.Truncate(period).Add(period) }}
	for name, on := range map[string]executor.Trigger{"calendar": durable.NamedTrigger("seconds"), "distance": cron.MustParse("@every 1s")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newJobs(t, memory.New(), lazy, func(c *durable.Config) {
					c.Triggers = map[string]executor.Trigger{"seconds": seconds}
				})
				a := &account{takes: []time.Duration{long + period/2}}
				k := durable.Handle(jobs, "k", a.handle)
				must(k.On(t.Context(), "key", on, "", durable.OnMissed(durable.SkipOverlap())))
				start(t, jobs)
				time.Sleep(long + 10*time.Minute)
				synctest.Wait()
				if len(a.runs) < 2 || a.runs[0].during.Count != 100_000 {
					t.Fatalf("%d runs, %v left out during the first", len(a.runs), a.runs[0].during)
				}
				if gap := a.runs[1].occurrence.Sub(a.runs[0].occurrence); gap != long+period {
					t.Errorf("the next run is for %v after the first", gap)
				}
			})
		})
	}
}

// Outside of a handler nothing is left out.
func TestLeftOutOfNoHandler(t *testing.T) {
	before, during := durable.LeftOutBefore(t.Context()), durable.LeftOutDuring(t.Context())
	if before.Count+during.Count != 0 {
		t.Errorf("%v, %v", before, during)
	}
}

// What was missed is reported by the run that makes up for it, also if two nodes before had decided on it, and had lost
// their leases before they could call its handler.
func TestLeftOutBeforeIsReportedByTheFirstHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		a := new(account)
		node := func(line *faulty) *durable.Jobs {
			jobs := newJobs(t, line)
			durable.Handle(jobs, "k", a.handle)
			return jobs
		}
		begun := time.Now()
		id := must(minutely["rate"](durable.KindOf[string, string](newJobs(t, store), "k"), t.Context(),
			durable.OnMissed(durable.SkipOverlap())))
		start(t, newJobs(t, store)) // somebody who notices
		time.Sleep(3*time.Minute + 30*time.Second)

		first := newFaulty(store)
		first.set(func(op string) (error, error) {
			if op != "commit" {
				return nil, nil
			}
			first.down() // once the store has the occurrence
			return nil, errLost
		})
		start(t, node(first))
		time.Sleep(5 * time.Second)
		if j := must(store.Get(t.Context(), id)); !j.Suspect || j.Occurrence.Sub(j.Due) != 2*time.Minute {
			t.Fatalf("of the first node it has become %+v", j)
		}

		second := newFaulty(store)
		second.set(func(op string) (error, error) { return map[string]error{"commit": errDown}[op], nil })
		start(t, node(second))
		time.Sleep(time.Second)
		second.down()
		time.Sleep(2600 * time.Millisecond) // it fences itself, and nobody declares it dead
		second.up()
		time.Sleep(5 * time.Second)
		a.want(t, begun, [3]int{3, 2, 0})
	})
}
