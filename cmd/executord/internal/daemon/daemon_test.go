package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// A harness is a daemon in a bubble. Its commands are the words "sleep" and a duration.
type harness struct {
	*Daemon
	t                 *testing.T
	log               logBuffer
	began             time.Time
	drain, stop, kill context.CancelCauseFunc
	done              chan struct{}
	sum               Summary
	ended             time.Time
}

// logBuffer is a bytes.Buffer for concurrent writers.
type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// parse returns the file that a crontab is.
func parse(t *testing.T, tab string) job.File {
	t.Helper()
	file, err := crontab.Parse("tab", []byte(tab))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// begin runs a file, whose commands sleep.
func begin(t *testing.T, c Config) *harness {
	t.Helper()
	return beginWith(t, c, sleep)
}

// beginWith runs a file, whose commands are what the function does.
func beginWith(
	t *testing.T, c Config, command func(context.Context, process.Command, process.Observer) process.Result,
) *harness {
	t.Helper()
	h := &harness{t: t, done: make(chan struct{}), began: time.Now()}
	c.Log = slog.New(slog.NewTextHandler(&h.log, nil))
	if c.Store.Store == nil {
		c.Store = Memory()
	}
	if c.Store.Poll == 0 {
		c.Store.Poll = 10 * time.Second // most tests last for hours: with a second they take three times as long
	}
	var err error
	if h.Daemon, err = New(c); err != nil {
		t.Fatal(err)
	}
	h.command = command
	var ends Ends
	ends.Drain, h.drain = context.WithCancelCause(context.Background())
	ends.Stop, h.stop = context.WithCancelCause(context.Background())
	ends.Kill, h.kill = context.WithCancelCause(context.Background())
	if err := h.start(ends.Stop); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(h.done)
		defer context.AfterFunc(ends.Stop, h.Daemon.stop)()
		h.await(ends)
		h.Daemon.drain(ends)
		h.sum, h.ended = h.summarize(), time.Now()
	}()
	return h
}

// end drains the daemon.
func (h *harness) end() Summary {
	h.drain(errPatience)
	<-h.done
	return h.sum
}

// sleep is a command that sleeps.
func sleep(ctx context.Context, c process.Command, o process.Observer) process.Result {
	began := time.Now()
	o.Started(1, began)
	d, err := time.ParseDuration(strings.TrimPrefix(c.Args[2], "sleep "))
	if err != nil {
		panic(err)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	result := process.Result{Began: began}
	select {
	case <-timer.C:
	case <-ctx.Done():
		result.Stopped, result.Cause, result.Code, result.Signal = true, context.Cause(ctx), -1, "SIGTERM"
	}
	result.Took = time.Since(began)
	return result
}

// logged returns the lines of the log with a text.
func (h *harness) logged(text string) (lines []string) {
	for line := range strings.Lines(h.log.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// total returns the sum of the counts in the lines with a message.
func (h *harness) total(msg string) (n int) {
	for _, line := range h.logged(`msg="` + msg + `"`) {
		count, err := strconv.Atoi(regexp.MustCompile(`count=(\d+)`).FindStringSubmatch(line)[1])
		if err != nil {
			h.t.Fatal(err)
		}
		n += count
	}
	return n
}

// excluded returns how many due times the log has as excluded.
func (h *harness) excluded() int {
	lines := h.logged(`msg="run excluded"`)
	n := len(lines)
	for _, line := range lines { // one for several
		if found := regexp.MustCompile(` count=(\d+)`).FindStringSubmatch(line); found != nil {
			count, err := strconv.Atoi(found[1])
			if err != nil {
				h.t.Fatal(err)
			}
			n += count - 1
		}
	}
	return n
}

// Each time of a job up to the drain is a run, or skipped, or missed, once, however the daemon ends; and the log has as
// many as the summary.
func TestDaemonAccountsForEachTime(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				every := time.Duration(1+r.IntN(60)) * time.Second
				takes := time.Duration(r.IntN(200)) * time.Second
				file := parse(t, fmt.Sprintf("# name: a\n@every %v sleep %v\n", every, takes))
				if r.IntN(2) == 0 {
					file.Jobs[0].Jitter = time.Duration(1+r.IntN(100)) * time.Second
				}
				h := begin(t, Config{File: file})
				time.Sleep(time.Duration(r.IntN(1000))*time.Second + time.Millisecond)
				drained := time.Now()
				h.drain(errPatience)
				if r.IntN(2) == 0 {
					time.Sleep(time.Duration(r.IntN(100))*time.Second + time.Millisecond)
					h.stop(errPatience)
				}
				<-h.done
				due := int(drained.Sub(h.began) / every)
				if sum := h.sum; sum.Runs+sum.Skipped+sum.Missed != due {
					t.Errorf("every %v, each %v: %d times, but %+v", every, takes, due, sum)
				}
				if skipped, missed := h.total("runs skipped"), h.total("runs missed"); skipped != h.sum.Skipped || missed != h.sum.Missed {
					t.Errorf("the log has %d skipped and %d missed, the summary %+v", skipped, missed, h.sum)
				}
				if t.Failed() {
					t.Log(h.log.String())
				}
			})
		})
	}
}

// A time that waits for the end of its jitter when the drain begins is missed, for that reason.
func TestDaemonMissesDelayedRunInDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := parse(t, "# name: a\n@every 1h sleep 1s\n")
		file.Jobs[0].Jitter = 10_000 * time.Hour
		h := begin(t, Config{File: file})
		time.Sleep(time.Hour + time.Second)
		h.end()
		if missed := h.logged("runs missed"); len(missed) != 1 || !strings.Contains(missed[0], ` count=1 `) || !strings.Contains(missed[0], `reason="the drain began before executord came to it"`) {
			t.Errorf("logged %q:\n%s", missed, h.log.String())
		}
	})
}

// The times that a stopped process has missed are made up for by one run, and counted.
func TestDaemonMakesUpForDowntimeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Memory()
		h := begin(t, Config{File: parse(t, "# name: a\n0 * * * * sleep 1s\n"), Store: s})
		time.Sleep(90 * time.Minute)
		s.Store.(interface{ Shift(time.Duration) }).Shift(10 * time.Hour) // as the clock of a machine that has slept
		time.Sleep(time.Minute)
		if sum := h.end(); sum.Runs != 2 || sum.Missed != 9 {
			t.Errorf("%+v\n%s", sum, h.log.String())
		}
	})
}

// The store knows which times were missed before a run, since the log of a daemon that is killed may not.
func TestStoreHasMissedTimesBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shared(t)
		h := begin(t, Config{File: parse(t, "# name: a\n0 * * * * sleep 1s\n"), Store: s})
		time.Sleep(90 * time.Minute)
		s.Store.(interface{ Shift(time.Duration) }).Shift(10 * time.Hour)
		time.Sleep(time.Minute)
		runs, _, err := h.Runs(t.Context(), "a", 100)
		if err != nil {
			t.Fatal(err)
		}
		missed := slices.DeleteFunc(runs, func(r view.Run) bool { return r.Outcome != outcome.Missed })
		if len(missed) != 1 || missed[0].Error != "missed: 9 before the run" || missed[0].Due.Hour() != h.began.Add(2*time.Hour).Hour() {
			t.Errorf("%+v", missed)
		}
		h.end()
	})
}

// When the clock is set back, jobs whose minute or hour begins with a star, and those of @every, go on at once from what
// it shows then. Those with fixed times repeat none, unless it was set back by three hours or more.
func TestDaemonFollowsClockSetBack(t *testing.T) {
	const hours = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
	for back, fixed := range map[time.Duration]int{
		3 * time.Hour: 1, 30 * 24 * time.Hour: 1, 179 * time.Minute: 0, 45 * time.Minute: 0,
	} {
		for name, store := range map[string]func(t *testing.T) Store{
			"memory": func(*testing.T) Store { return Memory() }, "shared": shared,
		} {
			synctest.Test(t, func(t *testing.T) {
				s := store(t)
				h := begin(t, Config{Store: s, File: parse(t, "# name: a\n0 * * * * sleep 1s\n# name: b\n@every 1h sleep 1s\n"+
					"# name: fixed\n0 "+hours+" * * * sleep 1s\n")})
				time.Sleep(90*time.Minute + time.Second)
				before := map[string]int{}
				for _, job := range []string{"a", "b", "fixed"} {
					before[job] = len(h.logged(`msg="run started" job=` + job))
				}
				s.Store.(interface{ Shift(time.Duration) }).Shift(-back)
				time.Sleep(time.Hour)
				for job, want := range map[string]int{"a": 1, "b": 1, "fixed": fixed} {
					if runs := len(h.logged(`msg="run started" job=`+job)) - before[job]; runs != want {
						t.Errorf("%s, %s, set back by %v: %d runs in an hour, want %d\n%s", name, job, back, runs, want, h.log.String())
					}
				}
				if lines := append(h.logged("runs missed"), h.logged("runs skipped")...); len(lines) != 0 {
					t.Errorf("%s, set back by %v: logged %q", name, back, lines)
				}
				h.end()
			})
		}
	}
}

// setBack is a store whose clock is set back when the next run is added, if it is to be.
type setBack struct {
	durable.Store
	armed atomic.Bool
}

func (s *setBack) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	if _, n := durable.RunNumber(jobs[0].Key); n > 0 && s.armed.CompareAndSwap(true, false) {
		s.Store.(interface{ Shift(time.Duration) }).Shift(-40 * 24 * time.Hour)
	}
	return s.Store.Insert(ctx, jobs, p)
}

// A clock that is set back while a job is due stops it for a minute at most: a run that is added for a time which has yet
// to come by then does not wait for that.
func TestDaemonGoesOnAfterClockIsSetBackAtDueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shared(t)
		clock := &setBack{Store: s.Store}
		s.Store = clock
		h := begin(t, Config{Store: s, File: parse(t, "# name: a\n@every 10s sleep 1s\n")})
		time.Sleep(9*time.Minute + 55*time.Second)
		clock.armed.Store(true)
		time.Sleep(2 * time.Minute)
		runs := len(h.logged("run started"))
		time.Sleep(10 * time.Minute)
		if more := len(h.logged("run started")) - runs; more < 59 {
			t.Errorf("%d runs in ten minutes, want 60", more)
		}
		h.end()
	})
}

// A clock that was ahead when the daemon before ran stops no job of the next one, of which the log says so once. Nor do
// a file that is read again, a pause and its end.
func TestDaemonStartsAfterClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 71 * 365 * 24 * time.Hour
		s, again := shared(t), make(chan job.File)
		file := parse(t, "# name: a\n* * * * * sleep 1s\n# name: b\n@every 3s sleep 1s\n# name: c\n30 2 * * * sleep 1s\n")
		s.Store.(interface{ Shift(time.Duration) }).Shift(ahead)
		h := begin(t, Config{Store: s, File: file})
		time.Sleep(3 * time.Minute)
		h.end()
		s.Store.(interface{ Shift(time.Duration) }).Shift(-ahead)
		time.Sleep(time.Minute)
		h = begin(t, Config{Store: s, File: file, Again: again})
		count := func(job string) int { return len(h.logged(`msg="run started" job=` + job)) }
		for _, do := range []func(){
			func() {},
			func() { again <- file },
			func() {
				for _, name := range []string{"a", "b", "c"} {
					e, _, err := h.Find(t.Context(), name)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := h.Durable().Pause(t.Context(), e.ID); err != nil {
						t.Error(err)
					}
					if _, err := h.Durable().Resume(t.Context(), e.ID); err != nil {
						t.Error(err)
					}
				}
			},
		} {
			a, b := count("a"), count("b")
			do()
			time.Sleep(time.Minute + time.Second)
			if a, b = count("a")-a, count("b")-b; a < 1 || b < 15 {
				t.Errorf("%d runs of a and %d of b in a minute", a, b)
			}
		}
		if n := len(h.logged("was set back")); n != 1 || len(h.logged("next=20")) != 6 {
			t.Errorf("%d lines about the clock:\n%s", n, h.log.String())
		}
		for _, name := range []string{"a", "b"} { // which would have 30,000 runs
			e, _, err := h.Find(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Durable().Pause(t.Context(), e.ID); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(24 * time.Hour)
		if n := count("c"); n != 1 {
			t.Errorf("%d runs of c in a day", n)
		}
		h.end()
	})
}

// Jobs that run at the start run once, also when the file is read again, and a drain waits for them.
func TestDaemonRunsAtStartOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := make(chan job.File)
		file := parse(t, "# name: boot\n@reboot sleep 1h\n")
		h := begin(t, Config{File: file, Again: again})
		again <- file
		synctest.Wait()
		sum := h.end()
		if took := time.Since(h.began); sum.Runs != 1 || sum.Failed != 0 || took != time.Hour {
			t.Errorf("%+v after %v", sum, took)
		}
	})
}

// A file that is read again leaves the times of jobs as they are that are the same in it, adds those that are new and
// removes those that are gone.
func TestDaemonReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := make(chan job.File)
		h := begin(t, Config{File: parse(t, "# name: same\n@every 1h sleep 1s\n# name: gone\n@every 1h sleep 1s\n"), Again: again})
		time.Sleep(30 * time.Minute)
		again <- parse(t, "# name: same\n@every 1h sleep 1s\n# name: new\n@every 1h sleep 1s\n")
		time.Sleep(45 * time.Minute)
		for name, want := range map[string]int{"same": 1, "gone": 0, "new": 0} {
			if got := len(h.logged(`msg="run started" job=` + name)); got != want {
				t.Errorf("%s: %d runs, want %d", name, got, want)
			}
		}
		if got := h.logged("change=unchanged"); len(got) != 1 || len(h.logged(`msg="job removed" job=gone`)) != 1 {
			t.Errorf("logged %s", h.log.String())
		}
		time.Sleep(20 * time.Minute)
		if got := len(h.logged(`msg="run started" job=new`)); got != 1 {
			t.Errorf("new: %d runs", got)
		}
		h.end()
	})
}

// The next time of a job whose run is in progress when the file is read again is the one after the run.
func TestDaemonReloadLogsNextTimeOfRunningJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := make(chan job.File)
		file := parse(t, "# name: a\n@every 1h sleep 90m\n")
		h := begin(t, Config{File: file, Again: again})
		time.Sleep(70 * time.Minute)
		again <- file
		synctest.Wait()
		if got := h.logged("change=unchanged"); len(got) != 1 || !strings.Contains(got[0], "next=2000-01-01T02:00:00Z") {
			t.Errorf("logged %q", got)
		}
		h.end()
	})
}

// The reason for a step of the end is that of the first context that has ended.
func TestDaemonReason(t *testing.T) {
	first, cancel := context.WithCancelCause(context.Background())
	if got := reason(first); got != "" {
		t.Errorf("got %q", got)
	}
	cancel(errPatience)
	if got := reason(context.Background(), first); got != errPatience.Error() {
		t.Errorf("got %q", got)
	}
}
