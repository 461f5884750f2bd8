package durable_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// firing starts a node with a schedule of one minute, of which decide says what becomes of the occurrences.
func firing(t *testing.T, o *overlapping, decide func(context.Context, durable.Firing) (durable.Decision, error), opts ...durable.Option) *durable.Jobs {
	t.Helper()
	jobs := newJobs(t, memory.New(), remember)
	var options []durable.HandlerOption
	if decide != nil {
		options = append(options, durable.OnFire(decide))
	}
	kind := durable.Handle(jobs, "k", o.handle, options...)
	must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "payload", opts...))
	start(t, jobs)
	return jobs
}

// A State that is set is that of the next firing, however soon that is, and whoever else sets it at the same time.
func TestSetStateIsOfNextFiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []string
		jobs := firing(t, &overlapping{took: always(time.Second)}, func(_ context.Context, f durable.Firing) (durable.Decision, error) {
			states = append(states, f.State)
			time.Sleep(500 * time.Millisecond)
			return durable.Decision{}, nil
		}, durable.OnOverlap(durable.OverlapSkip()))
		add := func(text string) {
			must(0, jobs.SetState(t.Context(), "s", func(s durable.Schedule) (string, bool) { return s.State + text, text != "" }))
		}
		add("a")
		add("")
		time.Sleep(time.Minute - 200*time.Millisecond)
		if s := must(jobs.Find(t.Context(), "s")); s.State != durable.Claimed {
			t.Errorf("it is %v", s.State)
		}
		add("b")
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		var both sync.WaitGroup
		for range 2 { // while it fires
			both.Go(func() { add("c") })
		}
		both.Wait()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"ab", "cc", ""}; !slices.Equal(states, want) {
			t.Errorf("states %q, want %q", states, want)
		}
		if err := jobs.SetState(t.Context(), "no such", func(durable.Schedule) (string, bool) { return "", true }); !errors.Is(err, durable.ErrNotFound) {
			t.Errorf("of no schedule: %v", err)
		}
	})
}

// What becomes of an occurrence is what the function of OnFire says, which is told what it has said before.
func TestOnFireDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done []string
		jobs := firing(t, &overlapping{took: always(time.Second)}, func(_ context.Context, f durable.Firing) (durable.Decision, error) {
			var payload string
			if err := f.Payload(&payload); err != nil || payload != "payload" || f.Schedule.Kind != "k" {
				t.Errorf("%q of kind %q, error %v", payload, f.Schedule.Kind, err)
			}
			d := durable.Decision{State: f.State + "x", Done: func(run durable.Job) { done = append(done, run.Key) }}
			if f.Occurrence.Minute()%2 == 0 {
				d.LeftOut = "even"
				return d, nil
			}
			d.Delay, d.Payload, d.Label = 10*time.Second, fmt.Sprint(payload, " ", f.Number), "late"
			return d, nil
		}, durable.OnOverlap(durable.OverlapSkip()))
		time.Sleep(4*time.Minute + time.Second)
		synctest.Wait()
		runs := must(jobs.List(t.Context(), durable.Filter{Kind: "k"}))
		if len(runs) != 2 || string(runs[1].Payload) != `"payload 2"` || runs[1].Key != durable.RunKey("s", 2) ||
			!runs[1].Anchor.Equal(time.Date(2000, 1, 1, 0, 3, 10, 0, time.UTC)) || runs[1].State != durable.Succeeded {
			t.Errorf("runs %+v", runs)
		}
		row := must(jobs.Find(t.Context(), "s"))
		var labels []string
		for _, r := range must(jobs.History(t.Context(), row.ID, 0, 10)) {
			labels = append(labels, r.Label)
		}
		if !slices.Equal(labels, []string{"left out, even", "run 2, late", "left out, even", "run 1, late"}) || !slices.Equal(done, []string{"s#1", "", "s#2", ""}) {
			t.Errorf("history %q, done %q", labels, done)
		}
		if s, ok := durable.ScheduleOf(row); !ok || s.Number != 2 || s.State != "xxxx" || s.Kind != "k" || string(s.Payload) != `"payload"` {
			t.Errorf("%+v, %v", s, ok)
		}
		if _, ok := durable.ScheduleOf(runs[0]); ok {
			t.Error("a run is a schedule")
		}
	})
}

// An occurrence that is put off fires again, and keeps its time; an error is tried again.
func TestOnFirePutsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		jobs := firing(t, &overlapping{took: always(time.Second)}, func(_ context.Context, f durable.Firing) (durable.Decision, error) {
			asked = append(asked, f.Occurrence.Format("04:05"))
			switch len(asked) {
			case 1:
				return durable.Decision{}, errors.New("down")
			case 2, 3:
				return durable.Decision{Later: 5 * time.Second}, nil
			}
			return f.Policy, nil
		}, durable.OnOverlap(durable.OverlapSkip()))
		time.Sleep(time.Minute + 30*time.Second)
		synctest.Wait()
		if run := must(jobs.Find(t.Context(), "s#1")); !run.Anchor.Equal(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)) || strings.Join(asked, " ") != "01:00 01:00 01:00 01:00" {
			t.Errorf("%+v, asked %q", run, asked)
		}
	})
}

// A firing has all occurrences that it is about.
func TestFiringOccurrences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []string
		o := &overlapping{took: always(time.Second)}
		jobs := newJobs(t, memory.New())
		kind := durable.Handle(jobs, "k", o.handle, durable.OnFire(func(_ context.Context, f durable.Firing) (durable.Decision, error) {
			for at := range f.Occurrences() {
				all = append(all, at.Format("04:05"))
			}
			return f.Policy, nil
		}))
		must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "", durable.OnOverlap(durable.OverlapSkip())))
		time.Sleep(5*time.Minute + 30*time.Second) // no node runs
		start(t, jobs)
		time.Sleep(time.Minute)
		synctest.Wait()
		if strings.Join(all, " ") != "01:00 02:00 03:00 04:00 05:00 06:00" {
			t.Errorf("%q", all)
		}
	})
}

// Only nodes that handle the runs fire a schedule.
func TestScheduleFiresWhereItsRunsAreHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		other := newJobs(t, store)
		durable.Handle(other, "other", new(diary).handler)
		start(t, other)
		must(durable.KindOf[string, string](other, "k").AtFixedRate(t.Context(), "s", 0, time.Minute, "", durable.OnOverlap(durable.OverlapSkip())))
		time.Sleep(10 * time.Minute)
		if s := must(other.Find(t.Context(), "s")); s.State != durable.Waiting || s.Runs != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A run that is added has the next number, whoever adds it at the same time, and is one of those that the next occurrence
// finds.
func TestAddRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := firing(t, &overlapping{took: always(150 * time.Second)}, nil, durable.OnOverlap(durable.OverlapSkip()))
		time.Sleep(30 * time.Second)
		first, added, err := jobs.AddRun(t.Context(), "s", nil)
		if err != nil || !added || first.Key != "s#1" {
			t.Fatal(first, added, err)
		}
		if _, added, err := jobs.AddRun(t.Context(), "s", nil); err != nil || added {
			t.Error("a second one is added", added, err)
		}
		queued := func(_ context.Context, f durable.Firing) (durable.Decision, error) {
			if len(f.Open) != 1 || f.Open[0].ID != first.ID || f.Number != 2 {
				t.Errorf("%+v", f)
			}
			return durable.Decision{ID: first.ID, After: []durable.ID{first.ID}, Payload: "x"}, nil
		}
		if again, _, err := jobs.AddRun(t.Context(), "s", queued); err != nil || again.Key != first.Key {
			t.Error("with the ID of a run another is added", again, err)
		}
		second, _, err := jobs.AddRun(t.Context(), "s", func(ctx context.Context, f durable.Firing) (durable.Decision, error) {
			return durable.Decision{After: []durable.ID{first.ID}}, nil
		})
		if err != nil || second.Key != "s#2" || second.State != durable.Blocked {
			t.Error(second, err)
		}
		time.Sleep(6 * time.Minute)
		row := must(jobs.Find(t.Context(), "s"))
		var labels []string
		for _, r := range must(jobs.History(t.Context(), row.ID, 0, 10)) {
			labels = append(labels, r.Label)
		}
		if len(labels) != 6 || labels[0] != "run 3" || labels[1] != "left out, not ended: 1 run" || labels[5] != "left out, not ended: 2 runs" {
			t.Errorf("history %q", labels)
		}
		if _, _, err := jobs.AddRun(t.Context(), "none", nil); !errors.Is(err, durable.ErrNotFound) {
			t.Error(err)
		}
		if _, _, err := jobs.AddRun(t.Context(), "s#1", nil); !errors.Is(err, durable.ErrNotFound) {
			t.Error(err)
		}
	})
}

// However many runs are added at the same time, and between two occurrences, each has a number of its own; of those that
// have ended only so many are kept as KeepRuns says, and numbers go on after those that are not.
func TestKeepRuns(t *testing.T) {
	for _, keep := range []int{1, 5, 20} {
		synctest.Test(t, func(t *testing.T) {
			o := &overlapping{took: func(n int) time.Duration {
				if n == 3 {
					return 20 * time.Minute
				}
				return time.Second
			}}
			jobs := firing(t, o, nil, durable.OnOverlap(durable.OverlapAllow(100)), durable.KeepRuns(keep))
			kept := func() []durable.Job {
				return must(jobs.List(t.Context(), durable.Filter{Kind: "k", States: []durable.State{durable.Succeeded}, Limit: 1000}))
			}
			time.Sleep(10*time.Minute + 30*time.Second)
			if n := len(kept()); n < min(keep-1, 9) || n > keep+keep/8+1 {
				t.Errorf("%d runs of 10 are kept, want %d", n, keep)
			}
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					for range 20 {
						if _, added, err := jobs.AddRun(t.Context(), "s", func(context.Context, durable.Firing) (durable.Decision, error) {
							return durable.Decision{}, nil
						}); err != nil || !added {
							t.Error(added, err)
						}
						time.Sleep(1500 * time.Millisecond)
					}
				})
			}
			all.Wait()
			time.Sleep(30 * time.Minute)
			if n := len(kept()); n < keep-1 || n > keep+keep/8+1 {
				t.Errorf("%d runs are kept at the end, want %d", n, keep)
			}
			s, _ := durable.ScheduleOf(must(jobs.Find(t.Context(), "s")))
			if s.Number != 200+int64(s.Runs) {
				t.Errorf("the number is %d after %d occurrences and 200 others", s.Number, s.Runs)
			}
			if _, err := jobs.Find(t.Context(), durable.RunKey("s", 3)); !errors.Is(err, durable.ErrNotFound) {
				t.Errorf("the long run is there: %v", err)
			}
		})
	}
}

// With CatchUp an occurrence waits for room.
func TestOverlapCatchUpWaits(t *testing.T) {
	for _, overlap := range []durable.Overlap{durable.OverlapQueue(1), durable.OverlapAllow(2)} {
		synctest.Test(t, func(t *testing.T) {
			o := &overlapping{took: always(50 * time.Second)}
			jobs := newJobs(t, memory.New())
			kind := durable.Handle(jobs, "k", o.handle)
			must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "", durable.OnOverlap(overlap), durable.OnMissed(durable.CatchUp(100))))
			time.Sleep(10*time.Minute + 30*time.Second) // no node runs
			start(t, jobs)
			time.Sleep(time.Hour)
			o.mu.Lock()
			defer o.mu.Unlock()
			if !slices.IsSortedFunc(o.began, time.Time.Compare) || len(o.began) < 65 || o.most > 2 {
				t.Errorf("%+v: %d runs, %d at a time: %v", overlap, len(o.began), o.most, o.began)
			}
		})
	}
}

// The keys of runs are read as they are written.
func TestRunNumber(t *testing.T) {
	for key, want := range map[string]int64{"s#7": 7, "a#b#12": 12, "s": 0, "s#": 0, "s#0": 0, "s#07": 0, "s#-1": 0, "s#+1": 0, "#1": 1} {
		schedule, n := durable.RunNumber(key)
		if n != want || n > 0 && durable.RunKey(schedule, n) != key {
			t.Errorf("%q: %d of %q, want %d", key, n, schedule, want)
		}
	}
}

// A firing says if there is a run for its occurrence already, since the node that has added it was lost before it had
// noted that. That run stays, whatever is decided by then.
func TestFiringHasRunOfLostNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		for i := range 2 {
			lost := newFaulty(store)
			var runs []durable.Job
			jobs := newJobs(t, lost, remember)
			kind := durable.Handle(jobs, "k", (&overlapping{took: always(time.Second)}).handle,
				durable.OnFire(func(_ context.Context, f durable.Firing) (durable.Decision, error) {
					if runs = append(runs, f.Run); i == 0 && len(runs) == 2 {
						lost.set(func(op string) (error, error) {
							if op == "insert" {
								lost.down()
								return nil, errLost
							}
							return nil, nil
						})
					}
					return durable.Decision{State: fmt.Sprint(i), LeftOut: map[bool]string{true: "late"}[i == 1 && len(runs) == 1]}, nil
				}))
			must(kind.AtFixedRate(t.Context(), "s", time.Minute, time.Minute, "", durable.OnOverlap(durable.OverlapAllow(9))))
			start(t, jobs)
			time.Sleep(2*time.Minute + 30*time.Second)
			synctest.Wait()
			if i == 0 {
				continue
			}
			run := must(jobs.Find(t.Context(), "s#2"))
			if len(runs) < 3 || runs[0].ID != run.ID || runs[1].ID != (durable.ID{}) || run.State != durable.Succeeded {
				t.Errorf("%d firings, the first with %+v, want one with %+v", len(runs), runs[0], run)
			}
			row := must(jobs.Find(t.Context(), "s"))
			labels := must(jobs.History(t.Context(), row.ID, 0, 10))
			if label := labels[len(labels)-2].Label; label != "run 2" {
				t.Errorf("the history says %q", label)
			}
		}
	})
}
