package daemon

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	durablestore "github.com/executor-go/executor/durable/store"
)

// meddled is a store before some calls of which something else happens.
type meddled struct {
	durable.Store
	insert atomic.Pointer[func()] // before the next Insert
	find   func(key string) error // instead of List by a prefix, or Find, unless it returns nil
}

func (m *meddled) Insert(ctx context.Context, jobs []durable.NewJob, p durablestore.Placement) ([]durable.InsertResult, error) {
	if fn := m.insert.Swap(nil); fn != nil {
		(*fn)()
	}
	return m.Store.Insert(ctx, jobs, p)
}

func (m *meddled) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	if m.find != nil {
		if err := m.find(strings.Join(append(f.Keys, f.Prefix), " ")); err != nil {
			return nil, err
		}
	}
	return m.Store.List(ctx, f)
}

func (m *meddled) Find(ctx context.Context, key string) (durable.Job, error) {
	if m.find != nil {
		if err := m.find(key); err != nil {
			return durable.Job{}, err
		}
	}
	return m.Store.Find(ctx, key)
}

// rescheduled returns the file of parameters whose first job has another schedule.
func rescheduled(t *testing.T, schedule string) job.File {
	t.Helper()
	file := parameters(t)
	file.Jobs[0].Schedule = parse(t, "# name: report\n"+schedule+" x\n").Jobs[0].Schedule
	return file
}

// A run that somebody asks for while a file gives its job another schedule is not lost, with parameters or without.
func TestAskedRunOutlastsScheduleThatComesMeanwhile(t *testing.T) {
	for want, set := range map[string][]string{"report a eu": {"DAY=a"}, "report today eu": nil} {
		synctest.Test(t, func(t *testing.T) {
			store, commands, again := shared(t), new(noted), make(chan job.File)
			inner, on := store, &meddled{Store: store.Store}
			store.Store = on
			h := beginWith(t, Config{File: parameters(t), Store: store, Again: again}, commands.run)
			time.Sleep(time.Minute)
			asks := func() {
				if got := ask(t, inner, "report", set...); !strings.HasPrefix(got, "due now") {
					t.Error(got)
				}
			}
			on.insert.Store(&asks) // the file has been compared with the store
			again <- rescheduled(t, "@every 30h")
			time.Sleep(time.Hour)
			synctest.Wait()
			commands.want(t, want, "then then")
			if missed := h.total("runs missed"); missed != 0 {
				t.Errorf("%d times were missed", missed)
			}
			h.end()
		})
	}
}

// A run that somebody has asked for, and that was begun and interrupted, is begun again though its job has another
// schedule then.
func TestAskedRunThatWasInterruptedOutlastsAnotherSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t, -1)
		ask(t, h.Store, "report", "DAY=a")
		time.Sleep(time.Minute)
		h.interrupt()
		h = h.again(rescheduled(t, "@every 30h"), commands)
		time.Sleep(time.Hour)
		synctest.Wait()
		commands.want(t, "report a eu", "report a eu", "then then")
		h.end()
	})
}

// A run after other jobs that was begun and interrupted is begun again though its job has another schedule then.
func TestAfterThatWasInterruptedOutlastsAnotherSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tab = "# name: b\n# after: a\n%s 0 90m\n# name: a\n@every 1h 0 10s\n"
		c := Config{File: linked(t, strings.Replace(tab, "%s", "@after", 1)), Store: shared(t)}
		s := &scripted{began: time.Now()}
		h := beginWith(t, c, s.run)
		time.Sleep(70 * time.Minute)
		h.interrupt()
		c.File = linked(t, strings.Replace(tab, "%s", "@every 90h", 1))
		h = beginWith(t, c, s.run)
		time.Sleep(time.Minute)
		h.interrupt()
		if len(s.runs) != 3 || !strings.HasPrefix(s.runs[2], "b 1h10m") {
			t.Errorf("%q", s.runs)
		}
	})
}

// A run that somebody has asked for, and that waits, keeps its parameters when the jobs end that its job runs after.
func TestAskedRunOutlastsMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t)
		h.end()
		if got := ask(t, h.Store, "then", "DAY=a"); got != "due now, with DAY=a" {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		jobs, err := durable.New(durable.Config{Store: h.Store.Store})
		if err == nil {
			err = catalog.SetMark(t.Context(), jobs, h.Store, h.Store.Namespace, "then", "report", "")
		}
		if err != nil {
			t.Fatal(err)
		}
		h = h.again(parameters(t), commands)
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t, "then a")
		h.end()
	})
}

// A run is taken that somebody asks for at the very end of another: of that the store does not have the end yet, or did
// not when the job was looked for. During a run it is not.
func TestAskedRunIsTakenAtEndOfRun(t *testing.T) {
	for _, test := range []struct {
		name   string
		commit time.Duration // how long the store takes for the end of a run
		wait   time.Duration // after the begin of the run, which takes ten minutes, until the job is looked for
		then   time.Duration // until the run is asked for
		want   string
	}{
		{"looked for before the end", 0, 9 * time.Minute, 2 * time.Minute, "due now"},
		{"end on its way", 100 * time.Millisecond, 10*time.Minute + 20*time.Millisecond, 0, "due now"},
		{"during the run", 0, 9 * time.Minute, 0, "it is running already"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := shared(t)
				slow := &lagging{Store: store.Store}
				store.Store, store.Lease = slow, time.Minute
				h := begin(t, Config{File: parse(t, "# name: a\n@every 30m sleep 10m\n"), Store: store})
				slow.commits.Store(int64(test.commit))
				time.Sleep(30*time.Minute + test.wait)
				v := client.Client{Store: store.Store, Jobs: h.Durable()}
				found, _, err := v.Find(t.Context(), "", []string{"a"})
				if _, runs := found[0].InProgress(); err != nil || !runs {
					t.Fatalf("%+v, error %v", found, err)
				}
				time.Sleep(test.then)
				answer, err := v.Do(t.Context(), client.Order{Do: admin.RunNow}, found[0])
				if err != nil || !strings.HasPrefix(answer.Text, test.want) {
					t.Errorf("%s, error %v, want %s", answer.Text, err, test.want)
				}
				h.end()
			})
		})
	}
}

// A run that somebody asks for does not wait for hours if the clock is set back by that: after they have asked, before
// a daemon or the run in progress comes to it, or before they ask. It keeps its parameters.
func TestAskedRunOutlastsClockSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Hour, 5 * time.Hour} {
		setBack := func(s Store) { s.Store.(interface{ Shift(time.Duration) }).Shift(-back) }
		for _, test := range []struct {
			name string
			do   func(t *testing.T, h *harness, c Config, commands *noted) *harness // returns the daemon that is running
			want []string
		}{
			{"before a daemon comes to it", func(t *testing.T, h *harness, c Config, commands *noted) *harness {
				h.end()
				ask(t, c.Store, "report", "DAY=a")
				setBack(c.Store)
				return beginWith(t, c, commands.run)
			}, []string{"report a eu"}},
			{"before they ask", func(t *testing.T, h *harness, c Config, _ *noted) *harness {
				setBack(c.Store)
				ask(t, c.Store, "report", "DAY=a")
				return h
			}, []string{"report a eu"}},
			{"during a run", func(t *testing.T, h *harness, c Config, commands *noted) *harness {
				e, _, err := h.Find(t.Context(), "report") // as it is before it begins
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				commands.stay(ended)
				ask(t, c.Store, "report")
				time.Sleep(2 * time.Minute)
				setBack(c.Store)
				if _, answer, err := catalog.RunNow(t.Context(), h.Durable(), e, []string{"DAY=a", "REGION=us"}); answer != durable.Deferred || err != nil {
					t.Error(answer, err)
				}
				time.Sleep(2 * time.Minute)
				close(ended)
				return h
			}, []string{"report today eu", "report a us"}},
		} {
			t.Run(test.name+", "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					commands, c := new(noted), Config{File: parameters(t), Store: shared(t)}
					c.File.Jobs[0].Next = nil // what runs after each may begin after the next
					h := beginWith(t, c, commands.run)
					time.Sleep(10 * time.Minute)
					h = test.do(t, h, c, commands)
					time.Sleep(5 * time.Minute)
					synctest.Wait()
					commands.want(t, test.want...)
					h.end()
				})
			})
		}
	}
}

// A job that is canceled, and brought back, has no run that somebody asked for before.
func TestAskedRunEndsWithItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t)
		h.end()
		ask(t, h.Store, "report", "DAY=a")
		jobs, err := durable.New(durable.Config{Store: h.Store.Store})
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := h.Find(t.Context(), "report")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Cancel(t.Context(), jobs, h.Store, e); err != nil {
			t.Fatal(err)
		}
		if err := catalog.Bring(t.Context(), jobs, h.Store, e); err != nil {
			t.Fatal(err)
		}
		h = h.again(parameters(t), commands)
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		commands.want(t, "report today eu", "then then")
		h.end()
	})
}

// A job that is brought back runs at its next time and not before, and a run that somebody asks for then at once.
func TestBroughtJobWaitsForItsNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t)
		time.Sleep(10 * time.Minute)
		e, _, err := h.Find(t.Context(), "report")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Cancel(t.Context(), h.Durable(), h.Store, e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := catalog.Bring(t.Context(), h.Durable(), h.Store, e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		commands.want(t)
		if got := ask(t, h.Store, "report", "DAY=a"); got != "due now, with DAY=a, REGION=eu" {
			t.Error(got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		commands.want(t, "report a eu", "then then", "report today eu", "then then")
		h.end()
	})
}

// A run that somebody has asked for makes up for a due time that does not count, and runs nevertheless.
func TestAskedRunIsNotExcludedWithTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, commands, file := shared(t), new(noted), parameters(t)
		file.Jobs[0].Season.Except = []string{"sun-sat"}
		h := beginWith(t, Config{File: file, Store: store}, commands.run)
		time.Sleep(time.Minute)
		h.end()
		ask(t, store, "report", "DAY=a")
		time.Sleep(150 * time.Minute)
		h = beginWith(t, Config{File: file, Store: store}, commands.run)
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t, "report a eu", "then then")
		h.end()
	})
}

// A catch-up run is for the latest of its due times that counts. The others that count are missed, and those that do not
// are excluded.
func TestCatchUpRunIsForTimesThatCount(t *testing.T) {
	// The clock of a bubble begins at midnight.
	for _, test := range []struct {
		except           string
		runs             int
		due              string
		missed, excluded int
	}{
		{"01:30-05:00", 1, "2000-01-01T01:00:00Z", 0, 2},
		{"00:30-01:30", 1, "2000-01-01T03:00:00Z", 1, 1},
		{"01:30-02:30", 1, "2000-01-01T03:00:00Z", 1, 1},
		{"00:30-05:00", 0, "", 0, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			file := parse(t, "# name: a\n0 * * * * sleep 1s\n")
			file.Jobs[0].Season.Except = []string{test.except}
			c := Config{File: file, Store: shared(t)}
			h := beginWith(t, c, sleep)
			time.Sleep(time.Minute)
			h.end()
			time.Sleep(3*time.Hour + 10*time.Minute)
			h = beginWith(t, c, sleep)
			time.Sleep(time.Minute)
			sum := h.end()
			lines := strings.Join(h.logged("run started"), "\n")
			excluded := h.excluded()
			if sum.Runs != test.runs || sum.Missed != test.missed || excluded != test.excluded || !strings.Contains(lines, test.due) {
				t.Errorf("except %s: %+v, %d excluded\n%s", test.except, sum, excluded, h.log.String())
			}
		})
	}
}

// A run waits for its jitter though the store does not answer when it is due.
func TestJitterOutlastsStoreError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := parameters(t)
		file.Jobs[0].Jitter = 20 * time.Minute
		store, down := shared(t), new(atomic.Int32)
		store.Store = &meddled{Store: store.Store, find: func(key string) error {
			if strings.Contains(key, "shop/report#") && down.Add(1) == 1 {
				return errors.New("down")
			}
			return nil
		}}
		h := beginWith(t, Config{File: file, Store: store}, new(noted).run)
		time.Sleep(90 * time.Minute)
		h.end()
		if down.Load() == 0 || len(h.logged("run delayed")) != 1 {
			t.Errorf("%d questions, delayed: %q", down.Load(), h.logged("run delayed"))
		}
	})
}
