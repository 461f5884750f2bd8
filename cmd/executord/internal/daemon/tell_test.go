package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// told has the subjects of what a command was told. It fails, or waits, as told.
type told struct {
	mu       sync.Mutex
	subjects []string
	inputs   []string
	hang     bool
}

// command is a command of jobs whose script says how it ends, and of channels.
func (n *told) command(ctx context.Context, c process.Command, o process.Observer) process.Result {
	if c.Args[0] != "tell" {
		result := sleep(ctx, process.Command{Args: []string{"", "", strings.TrimSuffix(c.Args[2], " fail")}}, o)
		if strings.HasSuffix(c.Args[2], "fail") && !result.Stopped {
			o.Output(process.Stdout, []byte("disk full"), false)
			result.Code = 1
		}
		return result
	}
	if n.hang {
		<-ctx.Done()
		return process.Result{Stopped: true, Cause: ctx.Err()}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, entry := range c.Env {
		if subject, ok := strings.CutPrefix(entry, "EXECUTORD_SUBJECT="); ok {
			_, subject, _ = strings.Cut(subject, "] ")
			n.subjects = append(n.subjects, subject)
		}
	}
	n.inputs = append(n.inputs, c.Stdin)
	return process.Result{}
}

func (n *told) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.subjects, "|")
}

// channel returns the spec of a channel that runs the command.
func channel(name string, more ...string) notify.Spec {
	s := notify.Spec{Name: name, Values: map[string][]string{"command": {"tell"}, "limit": {"0"}}}
	for _, setting := range more {
		key, value, _ := strings.Cut(setting, "=")
		s.Values[key] = append(s.Values[key], value)
	}
	return s
}

// A failure is told once a run, with the end of the output, and so is the first good run after it.
func TestDaemonTellsFailureAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		again := make(chan job.File)
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n# name: good\n@every 1h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file, Again: again}, n.command)
		time.Sleep(2*time.Hour + time.Minute)
		file = parse(t, "# name: a\n@every 1h sleep 1s\n# name: good\n@every 1h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		again <- file
		time.Sleep(3 * time.Hour)
		h.end()
		if got, want := n.all(), "a has failed: exit status 1|a has failed: exit status 1|a has recovered"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		if !strings.Contains(n.inputs[0], "disk full") {
			t.Errorf("text %s", n.inputs[0])
		}
	})
}

// That a job has recovered is told by the daemon that sees it, once, when the failure was another daemon's; a run that
// somebody has ended in between changes nothing of that. Without a store that keeps the runs, a new daemon does not
// know.
func TestDaemonTellsRecoveryOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		shared := Store{Store: m, Name: "jobs.db", Namespace: "shop", Lease: time.Minute}
		run := func(s Store, script string, during time.Duration, meanwhile func(h *harness)) string {
			n := new(told)
			file := parse(t, "# name: a\n0 * * * * "+script+"\n")
			file.Channels = []notify.Spec{channel("ops")}
			h := beginWith(t, Config{File: file, Store: s}, n.command)
			time.Sleep(during)
			if meanwhile != nil {
				meanwhile(h)
			}
			h.end()
			return n.all()
		}
		const fails = "a has failed: exit status 1"
		end := func(h *harness) {
			if n, ok := h.End("a", 2); !ok || n != 2 {
				t.Error("the run is not in progress")
			}
			time.Sleep(time.Minute)
		}
		for i, step := range []struct {
			script    string
			during    time.Duration
			meanwhile func(*harness)
			want      string
		}{
			{"sleep 1s fail", 61 * time.Minute, nil, fails},
			{"sleep 10m", time.Hour, end, ""},                   // is ended by hand
			{"sleep 1s", 2 * time.Hour, nil, "a has recovered"}, // and the second run is told by nobody
			{"sleep 1s", time.Hour, nil, ""},
			{"sleep 1s fail", time.Hour, nil, fails},
			{"sleep 1s", time.Hour, nil, "a has recovered"},
		} {
			if got := run(shared, step.script, step.during, step.meanwhile); got != step.want {
				t.Errorf("daemon %d told %q, want %q", i, got, step.want)
			}
		}
		if first, second := run(Memory(), "sleep 1s fail", time.Hour, nil), run(Memory(), "sleep 1s", time.Hour, nil); first != fails || second != "" {
			t.Errorf("without a store: told %q and %q", first, second)
		}
		m.Close()
	})
}

// Of daemons that share a job, the one that sees it recover tells so, and no other does, whichever of them has seen it
// fail.
func TestDaemonTellsRecoveryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		shared := Store{Store: m, Name: "jobs.db", Namespace: "shop", Lease: time.Minute}
		n := new(told)
		var fail atomic.Bool
		command := func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if fail.Load() && c.Args[0] != "tell" {
				c.Args = []string{"", "", c.Args[2] + " fail"}
			}
			return n.command(ctx, c, o)
		}
		file := parse(t, "# name: a\n@every 1m sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		var daemons []*harness
		for range 2 {
			daemons = append(daemons, beginWith(t, Config{File: file, Store: shared}, command))
		}
		time.Sleep(30 * time.Second) // between two due times
		for i := range 40 {
			fail.Store(i%4 == 0)
			time.Sleep(time.Minute)
		}
		for _, h := range daemons {
			if runs := h.end().Runs; runs < 5 {
				t.Errorf("a daemon had %d runs; the test needs both", runs)
			}
		}
		if failed, recovered := strings.Count(n.all(), "a has failed"), strings.Count(n.all(), "a has recovered"); failed != 10 || recovered != 10 {
			t.Errorf("%d failures and %d recoveries were told, want 10 each: %s", failed, recovered, n.all())
		}
		m.Close()
	})
}

// A test is sent at once on the channel as it is now, also on one that gathers and is not for all jobs. One that is not in
// the file any more has none, and is not offered.
func TestDaemonTestsChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, again := new(told), make(chan job.File)
		file := parse(t, "# name: a\n@yearly sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops"), channel("own", "all=false", "digest=1h")}
		h := beginWith(t, Config{File: file, Again: again}, n.command)
		defer h.end()
		began := time.Now()
		if _, err := h.TestChannel(t.Context(), "own"); err != nil || !strings.Contains(n.all(), "test") || time.Since(began) != 0 {
			t.Errorf("told %q after %v, %v", n.all(), time.Since(began), err)
		}
		file.Channels = file.Channels[:1]
		again <- file
		time.Sleep(time.Minute)
		for _, name := range []string{"own", "none", ""} {
			if _, err := h.TestChannel(t.Context(), name); !errors.Is(err, ErrNoChannel) || len(n.subjects) != 1 {
				t.Errorf("%q: %v, told %q", name, err, n.all())
			}
		}
		if all := h.Channels(); len(all) != 2 || all[0].Gone || !all[1].Gone {
			t.Errorf("%+v", all)
		}
	})
}

// Jobs choose their channels, or none.
func TestDaemonTellsChosenChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n# name: b\n# notify: own\n@every 1h sleep 2s fail\n# name: c\n# notify: none\n@every 1h sleep 3s fail\n")
		file.Channels = []notify.Spec{channel("own", "all=false"), channel("ops", "on=failed")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(time.Hour + time.Minute)
		h.end()
		if got, want := n.all(), "a has failed: exit status 1|b has failed: exit status 1"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		channels := h.Channels()
		sent, err := h.Notices(t.Context(), 10)
		if err != nil || len(sent) != 2 || channels[0].Sent != 1 || channels[1].Sent != 1 {
			t.Errorf("%+v, sent %+v", channels, sent)
		}
	})
}

// A monitor is told of the start and of the end of each run, as a success or a failure.
func TestDaemonTellsMonitorOfRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := parse(t, "# name: a\n@every 1h sleep 1s\n# name: b\n@every 1h sleep 2s fail\n")
		file.Channels = []notify.Spec{{Name: "monitor", Values: map[string][]string{"ping": {"http://127.0.0.1:1/{job}"}, "style": {"healthchecks"}}}}
		h := beginWith(t, Config{File: file}, new(told).command)
		time.Sleep(2*time.Hour - time.Minute)
		all, err := h.Notices(t.Context(), 10) // those that were given up: nobody answers
		got := make(map[string]int)
		for _, n := range all {
			got[n.Events[0].Job+" "+string(n.Events[0].Kind)]++
		}
		if want := map[string]int{"a started": 1, "a succeeded": 1, "b started": 1, "b failed": 1}; !maps.Equal(got, want) || err != nil {
			t.Errorf("told %v, %v; want %v", got, err, want)
		}
		h.end()
	})
}

// A command of a channel has the environment that those of jobs have: without the store, whose name may have a password.
func TestDaemonTellsWithoutStore(t *testing.T) {
	t.Setenv("EXECUTORD_STORE", "postgres://me:hunter2@db/app")
	t.Setenv("PAGER_KEY", "k")
	synctest.Test(t, func(t *testing.T) {
		var env []string
		n := new(told)
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file}, func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if c.Args[0] == "tell" {
				env = c.Env
			}
			return n.command(ctx, c, o)
		})
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		h.end()
		_, hasStore := process.Variable(env, "EXECUTORD_STORE")
		key, _ := process.Variable(env, "PAGER_KEY")
		if subject, told := process.Variable(env, "EXECUTORD_SUBJECT"); hasStore || key != "k" || !told {
			t.Errorf("the store is there: %v; PAGER_KEY=%s; subject %q", hasStore, key, subject)
		}
	})
}

// full is a store that takes no jobs for a while.
type full struct {
	durable.Store
	set atomic.Bool
}

func (f *full) Insert(ctx context.Context, jobs []store.NewJob, p store.Placement) ([]store.InsertResult, error) {
	if f.set.Load() {
		return nil, errors.New("database or disk is full")
	}
	return f.Store.Insert(ctx, jobs, p)
}

// A run that goes on while a file is read again is told on the channels that the new file has for its job, whether or
// not the store takes the file; one of a job that has gone from the file, on those that it had.
func TestDaemonTellsOnChannelsOfNewFile(t *testing.T) {
	for _, test := range []struct {
		name, tab string
		full      bool
	}{
		{"changed", "# name: a\n# notify: new\n@every 1h sleep 10m fail\n", false},
		{"not stored", "# name: a\n# notify: new\n@every 2h sleep 10m fail\n", true},
		{"removed", "# name: b\n@every 9h sleep 1s\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, disk, again := new(told), &full{Store: memory.New()}, make(chan job.File)
				file := parse(t, "# name: a\n# notify: old\n@every 1h sleep 10m fail\n")
				file.Channels = []notify.Spec{channel("old"), channel("others")}
				s := Memory()
				s.Store = disk
				h := beginWith(t, Config{File: file, Store: s, Again: again}, n.command)
				time.Sleep(time.Hour + time.Minute)
				file = parse(t, test.tab)
				file.Channels = []notify.Spec{channel("new"), channel("others")}
				if test.name == "removed" {
					file.Channels[0] = channel("old")
				}
				disk.set.Store(test.full)
				again <- file
				time.Sleep(20 * time.Minute)
				h.end()
				if got := h.Channels(); n.all() != "a has failed: exit status 1" || got[1].Sent != 0 {
					t.Errorf("told %q, %+v", n.all(), got)
				}
				disk.Store.Close()
			})
		})
	}
}

// listed is a store that counts the lists of messages, and may fail them.
type listed struct {
	durable.Store
	err   atomic.Bool
	asked atomic.Int64
}

var errListed = errors.New("down")

func (l *listed) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	if strings.HasPrefix(f.Prefix, "executord-notice:") && f.States == nil {
		l.asked.Add(1)
		if l.err.Load() {
			return nil, errListed
		}
	}
	return l.Store.List(ctx, f)
}

// Notices of before a restart, or of other daemons, are shown with those of this one, each once, what waits first. The
// store is asked for them no more often than for other things.
func TestDaemonShowsNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		s := shared(t)
		l := &listed{Store: s.Store}
		s.Store = l
		file := parse(t, "# name: a\n@every 1h sleep 1s fail\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file, Store: s}, n.command)
		time.Sleep(time.Hour + time.Minute)
		h.end()
		file.Channels = append(file.Channels, channel("slow", "digest=2h"))
		h = beginWith(t, Config{File: file, Store: s}, n.command)
		time.Sleep(time.Hour + time.Minute)
		for range 3 {
			all, err := h.Notices(t.Context(), 10)
			if err != nil || len(all) != 3 || all[0].Channel != "slow" || all[0].Outcome != notify.Waiting || all[1].Channel != "ops" ||
				all[1].Outcome != notify.Sent || all[2].Channel != "ops" {
				t.Errorf("%+v, %v", all, err)
			}
			if a := all[1].Events[0]; a.Job != "a" || a.Run != 2 || a.Kind != notify.Failed || a.Reason != "exit status 1" || all[1].Namespace != s.Namespace {
				t.Errorf("it is about %+v", all[1])
			}
		}
		if all, err := h.Notices(t.Context(), 2); err != nil || len(all) != 2 || l.asked.Load() != 1 {
			t.Errorf("%d notices, %v, asked %d times", len(all), err, l.asked.Load())
		}
		time.Sleep(time.Minute)
		l.err.Store(true)
		if _, err := h.Notices(t.Context(), 10); err != errListed {
			t.Errorf("error %v", err)
		}
		h.end()
		l.err.Store(false)
		if all, err := notify.Latest(t.Context(), l, s.Namespace, 10); err != nil || len(all) != 3 || all[0].Channel != "slow" {
			t.Errorf("the end has left %+v, %v", all, err)
		}
	})
}

// Due times that pass during a run are told once a run, when there are so many.
func TestDaemonTellsSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 10m sleep 75m\n")
		file.Channels = []notify.Spec{channel("ops", "on=skipped", "skips=3")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(79 * time.Minute)
		if got, want := n.all(), "a was skipped 3 times: the previous run is still in progress"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// A job whose runs are replaced again and again is told once, whether their commands were started or not, until a run
// has come to its end.
func TestDaemonTellsReplacedRuns(t *testing.T) {
	for _, starts := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			n, began := new(told), time.Now()
			file := parse(t, "# name: a\n# overlap: replace\n@every 1m x\n")
			file.Channels = []notify.Spec{channel("ops", "skips=3")}
			h := beginWith(t, Config{File: file}, func(ctx context.Context, c process.Command, o process.Observer) process.Result {
				switch {
				case c.Args[0] == "tell":
					return n.command(ctx, c, o)
				case time.Since(began).Round(time.Second) == 5*time.Minute:
					return process.Result{Began: time.Now()}
				case starts:
					return sleep(ctx, process.Command{Args: []string{"", "", "1h"}}, o)
				}
				<-ctx.Done() // it waits for its turn to be started
				return process.Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
			})
			const line = "a was skipped 3 times: a run for a later time has replaced each before its end"
			time.Sleep(9*time.Minute - time.Second)
			synctest.Wait()
			if got := n.all(); got != line {
				t.Errorf("started: %v, told %q", starts, got)
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := n.all(); got != line+"|"+line {
				t.Errorf("started: %v, told %q", starts, got)
			}
			h.drain(errPatience)
			h.stop(errPatience)
			<-h.done
		})
	}
}

// A run that is replaced before its command was started is no error: it is a run that was replaced, as one that was
// ended, in the log, the figures and the history.
func TestDaemonReplacesRunBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := beginWith(t, Config{File: parse(t, "# name: a\n# overlap: replace\n@every 1m x\n"), Store: shared(t)},
			func(ctx context.Context, c process.Command, o process.Observer) process.Result {
				if number, _ := process.Variable(c.Env, "EXECUTORD_RUN"); number == "3" {
					return process.Result{Began: time.Now()}
				}
				<-ctx.Done()
				return process.Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
			})
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()
		if f := h.Figures()[0]; f.Ended[outcome.Replaced] != 2 || f.Ended[outcome.OK] != 1 || len(f.Ended) != 2 || f.Runs != 3 || f.Skipped+f.Missed != 0 {
			t.Errorf("%+v", f)
		}
		past, _, err := h.Runs(t.Context(), "a", 10)
		if err != nil || len(past) != 3 {
			t.Fatalf("%+v, %v", past, err)
		}
		for i, want := range []outcome.Outcome{outcome.OK, outcome.Replaced, outcome.Replaced} {
			if got := past[i].Outcome; got != want {
				t.Errorf("the history has %q, want %q: %s", got, want, past[i].Error)
			}
		}
		h.end()
		if lines := h.logged("run not started"); len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || h.lines("level=ERROR") != 0 {
			t.Errorf("%q", lines)
		}
	})
}

// A run that is canceled before its command was started is no error either.
func TestDaemonCancelsRunBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := beginWith(t, Config{File: parse(t, "# name: a\n@every 1m x\n"), Store: shared(t)},
			func(ctx context.Context, _ process.Command, _ process.Observer) process.Result { // it waits for its turn
				<-ctx.Done()
				return process.Result{Err: context.Cause(ctx), Cause: context.Cause(ctx), Stopped: true}
			})
		time.Sleep(time.Minute + time.Second)
		e, _, err := h.Find(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Cancel(t.Context(), h.Durable(), h.Store, e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		h.end()
		if lines := h.logged("run not started"); len(lines) != 1 || !strings.Contains(lines[0], "level=WARN") || h.lines("level=ERROR") != 0 {
			t.Errorf("%q", lines)
		}
	})
}

// Due times without a daemon are told; a run whose jitter goes by is not late.
func TestDaemonTellsLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		s := Memory()
		file := parse(t, "# name: a\n# jitter: 30m\n0 * * * * sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops", "on=late", "on=missed", "late=5m")}
		h := beginWith(t, Config{File: file, Store: s}, n.command)
		time.Sleep(100 * time.Minute)
		if got := n.all(); got != "" {
			t.Errorf("told %q", got)
		}
		s.Store.(interface{ Shift(time.Duration) }).Shift(10 * time.Hour) // as the clock of a machine that has slept
		time.Sleep(31 * time.Minute)
		if got, want := n.all(), "a has missed 9 due times: "; !strings.HasPrefix(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// A command that can't be started is told, with why, and so is a run that is ended since another daemon may have it;
// the run that makes up for that tells that the job has recovered.
func TestDaemonTellsNotStartedAndLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		s := Memory()
		down := &silent{Store: s.Store}
		s.Store, s.Lease, s.Name = down, 5*time.Second, "x"
		var there atomic.Bool
		command := func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if c.Args[0] != "tell" && !there.Load() {
				return process.Result{Err: errors.New("no directory /srv")}
			}
			return n.command(ctx, c, o)
		}
		file := parse(t, "# name: a\n@every 10m sleep 2m\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file, Store: s}, command)
		time.Sleep(10*time.Minute + 30*time.Second)
		there.Store(true)
		time.Sleep(10 * time.Minute)
		down.set(true) // the run that began at 20 minutes is in progress
		time.Sleep(10 * time.Second)
		down.set(false)
		time.Sleep(5 * time.Minute)
		h.end()
		if got, want := n.all(), "a was not started: no directory /srv|a was lost: its daemon was killed, or lost the store|a has recovered"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A run whose daemon was killed is told as lost, once, by the daemon that begins it again: another one, or the next on
// the same store. Its success is a recovery, also of a run that was lost before the store knew of its begin.
func TestDaemonTellsRunLostByKill(t *testing.T) {
	for _, test := range []struct {
		name           string
		others, starts int  // daemons beside the one that is killed, and those that start later
		noted          bool // the store knows that the run has begun
	}{
		{"others", 2, 0, true},
		{"next start", 0, 1, true},
		{"before its begin was noted", 0, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, n := shared(t), new(told)
				s.Lease = 5 * time.Second
				file := parse(t, "# name: a\n0 * * * * sleep 2m\n")
				file.Channels = []notify.Spec{channel("ops")}
				killed, own := &silent{Store: s.Store}, s
				commits := &lagging{Store: killed}
				own.Store = commits
				dead := begin(t, Config{File: parse(t, "# name: a\n0 * * * * sleep 2m\n"), Store: own}) // which tells nothing
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(dead.logged("run started")) != 1 {
					t.Fatal(dead.log.String())
				}
				if !test.noted {
					commits.commits.Store(int64(10 * time.Minute))
				}
				var alive []*harness
				for range test.others {
					alive = append(alive, beginWith(t, Config{File: file, Store: s}, n.command))
				}
				time.Sleep(30 * time.Second)
				killed.set(true)
				time.Sleep(time.Minute)
				for range test.starts {
					alive = append(alive, beginWith(t, Config{File: file, Store: s}, n.command))
				}
				time.Sleep(2 * time.Hour)
				for _, h := range alive {
					h.end()
				}
				if got, want := n.all(), "a was lost: its daemon was killed, or lost the store|a has recovered"; got != want {
					t.Errorf("told %q, want %q", got, want)
				}
				killed.set(false)
				dead.stop(errPatience)
				<-dead.done
			})
		})
	}
}

// A channel that hangs delays no run, and the end of the daemon by no more than ten seconds.
func TestDaemonWaitsForNoChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &told{hang: true}
		file := parse(t, "# name: a\n@every 1m sleep 1s fail\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file}, n.command)
		time.Sleep(time.Hour + 30*time.Second)
		began := time.Now()
		sum := h.end()
		if took := time.Since(began); sum.Runs != 60 || sum.Skipped+sum.Missed != 0 || took != tellPatience {
			t.Errorf("%+v after %v", sum, took)
		}
	})
}

// closed is a store that can be read, and takes nothing while it is closed.
type closed struct {
	durable.Store
	set atomic.Bool
	why error
}

var errClosed = errors.New("the line is down")

func (c *closed) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	if c.set.Load() {
		return store.ClaimResult{}, c.why
	}
	return c.Store.Claim(ctx, r)
}

func (c *closed) Heartbeat(ctx context.Context, node string, lease time.Duration, w store.Watch) (store.HeartbeatResult, error) {
	if c.set.Load() {
		return store.HeartbeatResult{}, c.why
	}
	return c.Store.Heartbeat(ctx, node, lease, w)
}

// A store that can be read, and takes nothing, does not answer: the daemon is not ready, and says so.
func TestDaemonNotReadyWithoutWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 100h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		s := &closed{Store: memory.New(), why: errClosed}
		h := beginWith(t, Config{File: file, Store: Store{Store: s, Name: "s", Namespace: "n", Lease: 5 * time.Second}}, n.command)
		for _, set := range []bool{false, true, false} {
			s.set.Store(set)
			time.Sleep(3 * time.Minute)
			synctest.Wait()
			if err := h.Ready(t.Context()); (err != nil) != set {
				t.Errorf("closed is %v: ready: %v", set, err)
			}
			if err := h.StoreError(t.Context()); errors.Is(err, errClosed) != set {
				t.Errorf("closed is %v: the error of the store is %v", set, err)
			}
		}
		want := "the store cannot be used: it does not answer; until it does, no run begins, and runs in progress may be lost|the store answers again"
		if got := n.all(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// A store that is full is told apart from one that does not answer, and from a time in which no daemon ran: to probes, when
// it begins, and with the due times that are missed for it.
func TestDaemonTellsFullStore(t *testing.T) {
	for why, want := range map[error]string{
		fmt.Errorf("%w: make room", durable.ErrFull): "the store cannot be used: it is full: make room on its disk; until then, no run begins, and runs in progress may be lost|" +
			"a has missed 1 due times: the store was full|the store takes changes again",
		errClosed: "the store cannot be used: it does not answer; until it does, no run begins, and runs in progress may be lost|" +
			"a has missed 1 due times: the store did not answer|the store answers again",
	} {
		synctest.Test(t, func(t *testing.T) {
			n := new(told)
			file := parse(t, "# name: a\n# misfire: skip\n30 0 1 1 * true\n") // half an hour after midnight
			file.Channels = []notify.Spec{channel("ops")}
			s := &closed{Store: memory.New(), why: why}
			h := beginWith(t, Config{File: file, Store: Store{Store: s, Name: "s", Namespace: "n", Lease: 5 * time.Second}}, n.command)
			time.Sleep(20 * time.Minute)
			s.set.Store(true)
			time.Sleep(20 * time.Minute)
			if err := h.Ready(t.Context()); !errors.Is(err, why) {
				t.Errorf("ready: %v, want %v", err, why)
			}
			s.set.Store(false)
			time.Sleep(20 * time.Minute)
			synctest.Wait()
			if got := n.all(); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
			h.end()
		})
	}
}

// A store that does not answer is told once, and so is that it does again.
func TestDaemonTellsStoreUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		file := parse(t, "# name: a\n@every 100h sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops")}
		h := beginWith(t, Config{File: file}, n.command)
		for _, err := range []error{nil, fmt.Errorf("down"), fmt.Errorf("down"), nil, nil} {
			h.tellStore(err)
			synctest.Wait()
		}
		if got, want := n.all(), "the store cannot be used: it does not answer; until it does, no run begins, and runs in progress may be lost|the store answers again"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		h.end()
	})
}

// A message that could not be sent while the clock was ahead is sent soon after that was set back, and so are those
// behind it: they do not wait until it shows that time again.
func TestDaemonTellsAfterClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 40 * 24 * time.Hour
		n, s := new(told), shared(t)
		clock := s.Store.(interface{ Shift(time.Duration) })
		var there atomic.Bool // the network
		command := func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if c.Args[0] == "tell" && !there.Load() {
				return process.Result{Code: 1}
			}
			return n.command(ctx, c, o)
		}
		file := parse(t, "# name: a\n@every 10m sleep 1s fail\n")
		file.Channels = []notify.Spec{channel("ops", "on=failed")}
		clock.Shift(ahead)
		h := beginWith(t, Config{File: file, Store: s}, command)
		time.Sleep(10*time.Minute + 5*time.Second)
		there.Store(true)
		clock.Shift(-ahead)
		time.Sleep(3 * time.Minute)
		const one = "a has failed: exit status 1"
		if got := n.all(); got != one {
			t.Errorf("told %q, want %q", got, one)
		}
		time.Sleep(10 * time.Minute)
		if got := n.all(); got != one+"|"+one {
			t.Errorf("told %q, want it twice", got)
		}
		h.end()
	})
}
