package daemon

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// everyThird is a command that takes a second, and of which every third run fails.
func everyThird() func(context.Context, process.Command, process.Observer) process.Result {
	n := 0
	return func(_ context.Context, _ process.Command, o process.Observer) process.Result {
		began := time.Now()
		o.Started(1, began)
		time.Sleep(time.Second)
		n++
		return process.Result{Began: began, Took: time.Since(began), Code: map[bool]int{true: 1}[n%3 == 0]}
	}
}

// The latest runs of a job, and how many ended in each hour, are those of the store, whichever daemon had them: they are
// the same after a restart, and on a daemon that runs nothing.
func TestDaemonKnowsPastOfStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: a\n@every 10s true\n# name: b\n0 0 1 1 * true\n"), Store: shared(t), Observer: new(executor.Observer)}
		h := beginWith(t, c, everyThird())
		time.Sleep(90*time.Minute + 5*time.Second) // of a bubble that begins at midnight
		check := func(name string, d *Daemon) {
			t.Helper()
			jobs, err := d.Jobs(t.Context())
			if err != nil || len(jobs) != 2 || len(jobs[1].Past) != 0 || jobs[1].Last != nil {
				t.Fatalf("%s: %+v, %v", name, jobs, err)
			}
			a := jobs[0]
			if len(a.Past) != view.MostPast || a.Last == nil || a.Last.Run != a.Past[view.MostPast-1].Run || a.Health.State != view.Flaky {
				t.Fatalf("%s: %d runs, the last %+v, %+v", name, len(a.Past), a.Last, a.Health)
			}
			for i, p := range a.Past {
				want := outcome.OK
				if p.Run%3 == 0 {
					want = outcome.Failed
				}
				if p.Run != a.Runs-view.MostPast+1+int64(i) || p.Outcome != want || p.Took != time.Second ||
					p.Finished.IsZero() {
					t.Errorf("%s: of %d runs one is %+v", name, a.Runs, p)
				}
			}
			day, err := d.Day(t.Context())
			if err != nil || len(day.Hours) != hoursOfDay || !day.Hours[0].From.Equal(day.Since) {
				t.Fatalf("%s: %+v, %v", name, day, err)
			}
			last, before := day.Hours[hoursOfDay-1], day.Hours[hoursOfDay-2]
			if before.OK+before.Failed < 359 || before.OK+before.Failed > 361 || before.Failed < 119 || before.Failed > 121 {
				t.Errorf("%s: in an hour %+v", name, before)
			}
			if sum := day.Sum(); sum.OK+sum.Failed != int(a.Runs) || sum != (view.Hour{OK: last.OK + before.OK, Failed: last.Failed + before.Failed}) {
				t.Errorf("%s: of %d runs it has counted %+v", name, a.Runs, sum)
			}
		}
		time.Sleep(3 * time.Second)
		check("the daemon", h.Daemon)
		h.end()
		c.File = parse(t, "# name: b\n0 0 1 1 * true\n")
		other, err := New(c) // it runs nothing
		if err != nil {
			t.Fatal(err)
		}
		defer other.pool.Close()
		check("another one", other)
	})
}

// A run has taken as long by the log as by the store, whoever asks: so long as its command ran. The store, which took its
// time for the start and the end, does not count, nor does what a canceled run has not begun.
func TestRunHasOneDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const took = 3*time.Millisecond + 7
		code := 0
		command := func(_ context.Context, _ process.Command, o process.Observer) process.Result {
			began := time.Now()
			if code < 0 {
				return process.Result{Err: errors.New("no such file")}
			}
			o.Started(1, began)
			time.Sleep(55 * time.Millisecond)
			return process.Result{Began: began, Took: took, Code: code}
		}
		for _, code = range []int{0, 1, -1} {
			want := took
			if code < 0 {
				want = 0
			}
			kept := record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})
			c := Config{File: parse(t, "# name: a\n@every 10s true\n"), Store: shared(t), Record: kept}
			h := beginWith(t, c, command)
			time.Sleep(15 * time.Second)
			lines := h.logged("run ended")
			if code >= 0 && (len(lines) != 1 || !strings.Contains(lines[0], "took="+took.String())) {
				t.Errorf("exit %d: the log has %q", code, lines)
			}
			c.Record = nil
			other, err := New(c) // it has run nothing
			if err != nil {
				t.Fatal(err)
			}
			for name, d := range map[string]*Daemon{"the daemon": h.Daemon, "another one": other} {
				jobs, err := d.Jobs(t.Context())
				if err != nil || len(jobs) != 1 || len(jobs[0].Past) != 1 || jobs[0].Last == nil {
					t.Fatalf("exit %d: %s: %+v, %v", code, name, jobs, err)
				}
				runs, _, err := d.Runs(t.Context(), "a", 10)
				if err != nil || len(runs) != 1 {
					t.Fatalf("exit %d: %s: %+v, %v", code, name, runs, err)
				}
				if past, last := jobs[0].Past[0].Took, jobs[0].Last.Took; past != want || last != want.Seconds() || runs[0].Took != want.Seconds() {
					t.Errorf("exit %d: %s: it took %v, %v s and %v s; want %v", code, name, past, last, runs[0].Took, want)
				}
			}
			other.pool.Close()
			h.end()
		}
	})
}

// Ends are counted while nobody looks: also those of runs that the store keeps no more.
func TestDaemonCountsMoreThanIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := beginWith(t, Config{File: parse(t, "# name: a\n@every 1s true\n"), Observer: new(executor.Observer)}, (&tries{}).run)
		defer h.end()
		time.Sleep(30*time.Minute + 500*time.Millisecond)
		day, err := h.Day(t.Context())
		if sum := day.Sum(); err != nil || sum.OK < 1790 || sum.OK > 1801 || sum.Failed != 0 {
			t.Errorf("%+v of 1800 runs, of which %d are kept: %v", sum, fewKeptRuns, err)
		}
	})
}

// slowLists is a store in which a list of all jobs takes a second, and one of some keys does not.
type slowLists struct {
	durable.Store
	lists int
}

func (s *slowLists) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	if len(f.Keys) == 0 {
		s.lists++
		time.Sleep(time.Second)
	}
	return s.Store.List(ctx, f)
}

// However many rows a store has, looks at it take a small share of its time: all jobs are listed seldom, and what becomes of
// those that are known is seen at once. A job that another daemon has added is seen some time later.
func TestDaemonListsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		common := shared(t)
		slow := &slowLists{Store: common.Store}
		tab := "# name: a\n0 0 1 1 * true\n"
		c := Config{File: parse(t, tab), Store: common, Log: slog.New(slog.DiscardHandler)}
		c.Store.Store = slow
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer d.pool.Close()
		if err := d.apply(t.Context(), c.File, ""); err != nil {
			t.Fatal(err)
		}
		jobs := func() []view.Job {
			t.Helper()
			all, err := d.Jobs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		first := jobs()
		slow.lists = 0
		if _, err := d.catalog.Jobs.Pause(t.Context(), first[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(freshness)
		if all := jobs(); all[0].State.State != catalog.StatePaused || slow.lists > 0 {
			t.Errorf("after %d lists the job is %v", slow.lists, all[0].State)
		}
		c.Store = common
		other, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer other.pool.Close()
		if err := other.apply(t.Context(), parse(t, tab+"# name: b\n0 0 1 1 * true\n"), ""); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for len(jobs()) < 2 {
			if time.Sleep(time.Second); time.Since(began) > 2*listShare*time.Second {
				t.Fatal("a job of another daemon is not seen")
			}
		}
		if slow.lists != 1 {
			t.Errorf("%d lists", slow.lists)
		}
		if err := d.apply(t.Context(), parse(t, tab+"# name: c\n0 0 1 1 * true\n"), ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(freshness)
		if all := jobs(); all[len(all)-1].Job != "c" {
			t.Errorf("after a file was applied the jobs are %v", all)
		}
	})
}

// slowCounts is a store in which a count takes 50 ms.
type slowCounts struct {
	durable.Store
}

func (s slowCounts) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	time.Sleep(50 * time.Millisecond)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.Store.Counts(ctx, f)
}

// The 24 hours end with the present also after the clock was set: by years, as that of a machine that begins without the
// time, or back, when it was ahead.
func TestDayFollowsClock(t *testing.T) {
	for _, step := range []time.Duration{56 * 365 * 24 * time.Hour, -40 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := shared(t)
			clock := s.Store.(interface{ Shift(time.Duration) })
			s.Store = slowCounts{s.Store}
			h := beginWith(t, Config{File: parse(t, "# name: a\n@every 10s true\n"), Store: s, Observer: new(executor.Observer)}, (&tries{}).run)
			defer h.end()
			time.Sleep(time.Hour + 5*time.Second) // between two due times
			clock.Shift(step)
			time.Sleep(2 * time.Hour)
			if err := h.Ready(t.Context()); err != nil {
				t.Errorf("set by %v: not ready: %v", step, err)
			}
			day, err := h.Day(t.Context())
			now, clockErr := s.Now(t.Context())
			if err != nil || clockErr != nil || len(day.Hours) != hoursOfDay {
				t.Fatalf("set by %v: %+v, %v, %v", step, day, err, clockErr)
			}
			if last := day.Hours[hoursOfDay-1].From; now.Sub(last) > time.Hour+settled || last.After(now) {
				t.Errorf("set by %v: the last hour begins at %v, and it is %v", step, last, now)
			}
			if sum := day.Sum(); sum.OK < 700 {
				t.Errorf("set by %v: %+v of 720 runs in two hours", step, sum)
			}
		})
	}
}
