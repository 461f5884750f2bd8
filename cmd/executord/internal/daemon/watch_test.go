package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	durablestore "github.com/executor-go/executor/durable/store"
)

// away is a store that returns no lists while it is away.
type away struct {
	durable.Store
	away bool
}

func (a *away) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	if a.away {
		return nil, errors.New("the store is away")
	}
	return a.Store.List(ctx, f)
}

// slow is a store that takes its time to find a job.
type slow struct {
	durable.Store
	takes time.Duration
}

func (s *slow) Find(ctx context.Context, key string) (durable.Job, error) {
	select {
	case <-time.After(s.takes):
		return s.Store.Find(ctx, key)
	case <-ctx.Done():
		return durable.Job{}, ctx.Err()
	}
}

// However slow the store is, each job is looked at some time, also one that a look
// leaves too little time for again and again.
func TestWatcherAsksForEachJobOfSlowStore(t *testing.T) {
	for _, names := range []string{"abcde", "abc", "abcdef"} {
		for _, takes := range []time.Duration{patience * 2 / 5, patience * 3 / 5} { // 2.5 fit, or 1.7
			t.Run(fmt.Sprint(names, takes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { lookSlowly(t, strings.Split(names, ""), takes) })
			})
		}
	}
}

func lookSlowly(t *testing.T, names []string, takes time.Duration) {
	store := &slow{Store: memory.New()}
	var log bytes.Buffer
	var tab strings.Builder
	for _, name := range names {
		tab.WriteString("# name: " + name + "\n0 0 * * * true\n")
	}
	d := newWatching(t, store, tab.String(), &log)
	for _, name := range names {
		row, err := store.Find(t.Context(), catalog.Key("n", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.catalog.Jobs.Pause(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
	}
	log.Reset()
	store.takes = takes
	for range names {
		d.look(t.Context())
	}
	for _, name := range names {
		if !strings.Contains(log.String(), "job="+name) {
			t.Errorf("nothing is said of %s: %s", name, log.String())
		}
	}
}

// newWatching returns a daemon that has applied a file to the store.
func newWatching(t *testing.T, store durable.Store, tab string, log *bytes.Buffer) *Daemon {
	file, err := crontab.Parse("tab", []byte(tab))
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(Config{
		File: file, Log: slog.New(slog.NewTextHandler(log, nil)),
		Store: Store{Store: store, Name: "jobs.db", Namespace: "n", Lease: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.pool.Close() })
	if err := d.apply(t.Context(), file, ""); err != nil {
		t.Fatal(err)
	}
	return d
}

// A file that could not be applied to the store leaves the jobs of the one before
// watched.
func TestWatcherKeepsJobsAfterFailedReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &away{Store: memory.New()}
		var log bytes.Buffer
		d := newWatching(t, store, "# name: a\n0 0 * * * true\n", &log)
		store.away = true
		if d.apply(t.Context(), d.File, "") == nil {
			t.Fatal("a store that is away accepts a file")
		}
		store.away = false
		row, err := store.Find(t.Context(), catalog.Key("n", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.catalog.Jobs.Pause(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		d.look(t.Context())
		if !strings.Contains(log.String(), "job does not run") {
			t.Errorf("logged %q", log.String())
		}
	})
}

// crowd is a store of which all that ask at once get the same list, before one of
// them changes anything.
type crowd struct{ durable.Store }

func (c crowd) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	jobs, err := c.Store.List(ctx, f)
	time.Sleep(time.Second)
	return jobs, err
}

// The times that a new schedule drops are recorded by the daemon that applied it, and not by all that start with it
// at the same time.
func TestApplyRecordsOwedTimesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := crowd{memory.New()}
		var logs [3]bytes.Buffer
		var nodes [len(logs)]*Daemon
		for i := range nodes {
			nodes[i] = newWatching(t, store, "# name: a\n@every 1h true\n", &logs[i])
		}
		file, err := crontab.Parse("tab", []byte("# name: a\n@every 2h true\n"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Minute)
		var all sync.WaitGroup
		for _, d := range nodes {
			all.Go(func() {
				if err := d.apply(t.Context(), file, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		logged, missed := 0, 0
		for i := range logs {
			logged += strings.Count(logs[i].String(), "runs missed")
			missed += nodes[i].entry("a").mu.Missed
		}
		if logged != 1 || missed != 1 {
			t.Errorf("logged %d times, counted %d", logged, missed)
		}
	})
}

// A new schedule that comes before the time of the one before owes nothing.
func TestApplyOwesNoTimeToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := newWatching(t, memory.New(), "# name: a\n@every 1h true\n", &log)
		file, err := crontab.Parse("tab", []byte("# name: a\n@every 2h true\n"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		if err := d.apply(t.Context(), file, ""); err != nil {
			t.Fatal(err)
		}
		if text := log.String(); strings.Contains(text, "missed") || !strings.Contains(text, "changed") {
			t.Errorf("logged %q", text)
		}
	})
}

// What others have done to a job is logged once, however often the daemon looks.
func TestWatcherReportsBlockedJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := newWatching(t, memory.New(), "# name: a\n0 0 * * * true\n", &log)
		row, err := d.catalog.Store.Find(t.Context(), catalog.Key("n", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.catalog.Jobs.Pause(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			d.look(t.Context())
		}
		if logged := strings.Count(log.String(), "job does not run"); logged != 1 {
			t.Errorf("logged %d times", logged)
		}
	})
}

// A daemon logs within twelve leases which jobs of its file others have kept from running: by a command, or by bringing
// another file of the same name.
func TestDaemonLogsWhatOthersHaveDone(t *testing.T) {
	const leaseLong = time.Second
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		shared := Store{Store: store, Name: "jobs.db", Namespace: "n", Lease: leaseLong}
		const gone, others = "# name: gone\n0 0 * * * true\n", "# name: kept\n0 0 * * * true\n# name: late\n0 0 * * * true\n"
		h := begin(t, Config{File: parse(t, gone+others), Store: shared})
		row, err := store.Find(t.Context(), catalog.Key("n", "late"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.catalog.Jobs.Pause(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		other := begin(t, Config{File: parse(t, others), Store: shared})
		if removed := other.logged(`msg="job removed"`); len(removed) != 1 || !strings.Contains(removed[0], "job=gone") {
			t.Errorf("the other logged %q", removed)
		}
		other.end()
		time.Sleep(leasesPerLook*leaseLong + time.Millisecond)
		synctest.Wait()
		removed, paused := h.logged(`msg="job removed"`), h.logged(`msg="job does not run"`)
		if len(removed) != 1 || !strings.Contains(removed[0], "job=gone") || !strings.Contains(removed[0], "--namespace") {
			t.Errorf("logged %q", removed)
		}
		if len(paused) != 1 || !strings.Contains(paused[0], "job=late state=paused") {
			t.Errorf("logged %q", paused)
		}
		time.Sleep(3 * leasesPerLook * leaseLong)
		h.end()
		if n := len(h.logged(`msg="job removed"`)) + len(h.logged(`msg="job does not run"`)); n != 2 {
			t.Errorf("logged %d times in all", n)
		}
	})
}

// A job that is running, and is not to run again when that has ended, is in the log when a file is applied, once.
func TestApplyReportsJobThatWillNotRunAgain(t *testing.T) {
	for _, state := range []durable.State{durable.Paused, durable.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			d := newWatching(t, memory.New(), "# name: a\n@every 1h true\n", &log)
			time.Sleep(time.Hour)
			store := d.catalog.Store
			if _, err := store.Join(t.Context(), "other", time.Hour); err != nil {
				t.Fatal(err)
			}
			claims, err := store.Claim(t.Context(), durablestore.ClaimRequest{
				Node: "other", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: durable.ScheduleKind(catalog.Kind("n")), Max: 1}},
			})
			if err != nil || len(claims.Jobs) != 1 {
				t.Fatalf("claimed %v, %v", claims.Jobs, err)
			}
			keep := d.catalog.Jobs.Pause
			if state == durable.Canceled {
				keep = d.catalog.Jobs.Cancel
			}
			if _, err := keep(t.Context(), claims.Jobs[0].ID); err != nil {
				t.Fatal(err)
			}
			log.Reset()
			if err := d.apply(t.Context(), d.File, ""); err != nil {
				t.Fatal(err)
			}
			d.look(t.Context())
			if text := log.String(); strings.Contains(text, "job scheduled") ||
				strings.Count(text, `msg="job does not run"`) != 1 || !strings.Contains(text, "state="+state.String()) {
				t.Errorf("%v: logged %q", state, text)
			}
		})
	}
}

// A job that has no more times has ended: nothing keeps it from running, and there is nothing to resume.
func TestWatcherDoesNotReportEndedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "CRON_TZ=UTC\n# name: a\n@extended 0 0 1 1 1 * 2000 true\n"), Store: shared(t)}
		for range 2 {
			h := beginWith(t, c, func(context.Context, process.Command, process.Observer) process.Result { return process.Result{} })
			time.Sleep(2 * time.Hour)
			e, found, err := h.Find(t.Context(), "a")
			if err != nil || !found || e.State != durable.Succeeded {
				t.Fatalf("it is %v, %v", e.State, err)
			}
			h.end()
			if lines := h.logged(`msg="job does not run"`); len(lines) > 0 {
				t.Errorf("logged %q", lines)
			}
		}
	})
}
