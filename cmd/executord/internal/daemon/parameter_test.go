package daemon

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// parameterized is a job with parameters that runs each hour, and one after it.
const parameterized = `
[[job]]
name = "report"
schedule = "@every 1h"
command = "x"
retries = 1
parameters = { DAY = "today", REGION = { default = "eu", values = ["eu", "us"] } }

[[job]]
name = "then"
schedule = "@after"
after = "report"
command = "x"
parameters = { DAY = "then" }
`

func parameters(t *testing.T) job.File {
	t.Helper()
	file, err := tomlfile.Parse("tab", []byte(parameterized))
	if err != nil {
		t.Fatal(err)
	}
	file.Jobs[0].Next = []job.Next{{Job: "then"}}
	return file
}

// noted is a command that notes its parameters, and ends with the next of the codes, or stays if that is negative.
type noted struct {
	mu    sync.Mutex
	codes []int
	all   []string
	until <-chan struct{} // the next run ends then, unless it is nil
}

// stay has the next run last until a channel is closed.
func (n *noted) stay(until <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.until = until
}

func (n *noted) run(ctx context.Context, c process.Command, o process.Observer) process.Result {
	result := process.Result{Began: time.Now()}
	o.Started(1, result.Began)
	n.mu.Lock()
	name, _ := process.Variable(c.Env, "EXECUTORD_JOB")
	day, _ := process.Variable(c.Env, "DAY")
	region, _ := process.Variable(c.Env, "REGION")
	n.all = append(n.all, strings.TrimSpace(name+" "+day+" "+region))
	if len(n.codes) > 0 {
		result.Code, n.codes = n.codes[0], n.codes[1:]
	}
	until := n.until
	n.until = nil
	n.mu.Unlock()
	if until != nil {
		<-until
	}
	if result.Code < 0 {
		<-ctx.Done()
		result.Stopped, result.Cause = true, context.Cause(ctx)
	}
	return result
}

func (n *noted) want(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if got := strings.Join(n.all, ", "); got != strings.Join(want, ", ") {
		t.Errorf("the runs were %s\nwant %s", got, strings.Join(want, ", "))
	}
}

// asking begins a daemon with parameterized jobs, on a store, and returns it after a minute. The commands end with the
// codes.
func asking(t *testing.T, codes ...int) (*harness, *noted) {
	t.Helper()
	commands := &noted{codes: codes}
	h := beginWith(t, Config{File: parameters(t), Store: shared(t)}, commands.run)
	time.Sleep(time.Minute)
	return h, commands
}

// again begins another daemon on the store of one that has ended.
func (h *harness) again(file job.File, commands *noted) *harness {
	h.t.Helper()
	return beginWith(h.t, Config{File: file, Store: h.Store}, commands.run)
}

// interrupt ends the daemon, and the runs in progress.
func (h *harness) interrupt() {
	h.drain(errPatience)
	h.stop(errPatience)
	<-h.done
}

// ask is run-now with parameters, on a store. It returns what became of it.
func ask(t *testing.T, s Store, name string, set ...string) string {
	t.Helper()
	jobs, err := durable.New(durable.Config{Store: s.Store})
	if err != nil {
		t.Fatal(err)
	}
	v := client.Client{Store: s.Store, Jobs: jobs}
	found, _, err := v.Find(t.Context(), "", []string{name})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := v.Do(t.Context(), client.Order{Do: admin.RunNow, Set: set}, found[0])
	if err != nil {
		t.Fatal(err)
	}
	return answer.Text
}

// A run that somebody has asked for has the parameters that were given, and those before and after it the defaults; so
// has a job after it. The runs show which had others.
func TestParametersAreOfOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, commands := shared(t), new(noted)
		h := beginWith(t, Config{File: parameters(t), Store: store}, commands.run)
		time.Sleep(90 * time.Minute)
		if got := ask(t, store, "report", "REGION=us"); got != "due now, with DAY=today, REGION=us" {
			t.Error(got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		commands.want(t, "report today eu", "then then", "report today us", "then then", "report today eu", "then then")
		runs, _, err := h.Runs(t.Context(), "report", 10)
		if err != nil || len(runs) != 3 {
			t.Fatalf("%+v, error %v", runs, err)
		}
		for i, want := range []map[string]string{nil, {"DAY": "today", "REGION": "us"}, nil} {
			if got := runs[i].Parameters; !maps.Equal(got, want) {
				t.Errorf("run %d: %v, want %v", runs[i].Run, got, want)
			}
		}
		if line := h.logged("run started"); !strings.Contains(strings.Join(line, "\n"), `with="DAY=today, REGION=us"`) {
			t.Errorf("%q", line)
		}
		h.end()
	})
}

// In memory, parameters are given to runs as in a store.
func TestParametersInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commands := new(noted)
		c := Config{File: parameters(t), Store: Memory(), Record: record.New(record.Limits{Output: 1000, Runs: 10, Bytes: 1000, Age: time.Hour})}
		h := beginWith(t, c, commands.run)
		time.Sleep(time.Minute)
		ask(t, h.Store, "then", "DAY=2026-11-27")
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t, "then 2026-11-27")
		if runs, _, err := h.Runs(t.Context(), "then", 10); err != nil || len(runs) != 1 || runs[0].Parameters["DAY"] != "2026-11-27" {
			t.Errorf("%+v, error %v", runs, err)
		}
		h.end()
	})
}

// What is not declared or not allowed starts nothing.
func TestParametersRefusedStartNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t)
		for set, want := range map[string]string{
			"REGION=uk": `not run: REGION "uk" is not one of eu, us; did you mean us?`,
			"PATH=/":    `not run: there is no parameter "PATH"; the job has DAY, REGION`,
		} {
			if got := ask(t, h.Store, "report", set); got != want {
				t.Errorf("%s: %s, want %s", set, got, want)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t)
		h.end()
	})
}

// Each attempt of a run has its parameters; so has the rest of them in the next daemon, if the first ends meanwhile.
func TestParametersOutlastRetryAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t, 1, 1, 1)
		ask(t, h.Store, "report", "DAY=a")
		time.Sleep(time.Minute)
		ask(t, h.Store, "report", "DAY=b")
		time.Sleep(time.Second) // it waits for its second attempt
		h.end()
		h = h.again(parameters(t), commands)
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t, "report a eu", "report a eu", "report b eu", "report b eu", "then then")
		h.end()
	})
}

// A run that is begun again by another daemon, since the first was ended, has its parameters.
func TestParametersOutlastTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t, -1)
		ask(t, h.Store, "report", "DAY=a", "REGION=us")
		time.Sleep(time.Minute)
		h.interrupt()
		h = h.again(parameters(t), commands)
		time.Sleep(time.Minute)
		synctest.Wait()
		commands.want(t, "report a us", "report a us", "then then")
		h.end()
	})
}

// A run that was asked for while no daemon ran, and that makes up for a due time, too, has its parameters: also if
// it is begun twice. A second one is not asked for meanwhile, as the first would be lost.
func TestParametersOfCatchUpRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, commands := asking(t, -1)
		h.end()
		ask(t, h.Store, "report", "DAY=a")
		for _, set := range [][]string{{"DAY=b"}, nil} {
			if got := ask(t, h.Store, "report", set...); got != "not run: one is due already that has not begun, with DAY=a, REGION=eu" {
				t.Errorf("%q: %s", set, got)
			}
		}
		time.Sleep(150 * time.Minute)
		h = h.again(parameters(t), commands)
		time.Sleep(time.Second)
		h.interrupt()
		h = h.again(parameters(t), commands)
		time.Sleep(time.Second)
		synctest.Wait()
		commands.want(t, "report a eu", "report a eu", "then then")
		h.end()
	})
}

// A run that was asked for is none of the schedule: that gets another one before the run begins, by a file that is read
// again or by the next daemon, and the run has its parameters nevertheless. It is not missed, and the times of the old
// schedule are, if there were some.
func TestParametersOutlastAnotherSchedule(t *testing.T) {
	for _, test := range []struct {
		name    string
		restart bool
		waits   time.Duration // for the other schedule
		missed  int
	}{
		{"reload", false, 0, 0},
		{"restart", true, 30 * time.Minute, 0},
		{"restart after due times", true, 150 * time.Minute, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, commands, again := shared(t), new(noted), make(chan job.File)
				h := beginWith(t, Config{File: parameters(t), Store: store, Again: again}, commands.run)
				time.Sleep(time.Minute)
				other := parameters(t)
				other.Jobs[0].Schedule = parse(t, "# name: report\n@every 3h x\n").Jobs[0].Schedule
				if test.restart {
					h.end()
				}
				ask(t, store, "report", "DAY=a")
				time.Sleep(test.waits)
				if test.restart {
					h = beginWith(t, Config{File: other, Store: store}, commands.run)
				} else {
					again <- other
				}
				time.Sleep(170 * time.Minute)
				synctest.Wait()
				commands.want(t, "report a eu", "then then")
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				commands.want(t, "report a eu", "then then", "report today eu", "then then")
				runs, _, err := h.Runs(t.Context(), "report", 10)
				if err != nil || len(runs) != 2 || runs[0].Parameters != nil || runs[1].Parameters["DAY"] != "a" {
					t.Errorf("%+v, error %v", runs, err)
				}
				if missed := h.total("runs missed"); missed != test.missed {
					t.Errorf("%d times were missed, want %d: %q", missed, test.missed, h.logged("runs missed"))
				}
				h.end()
			})
		})
	}
}

// A run that was asked for at the moment in which another one began follows that, with its parameters, whatever else
// passes during that.
func TestParametersFollowRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		commands := new(noted)
		run := func(ctx context.Context, c process.Command, o process.Observer) process.Result {
			if name, _ := process.Variable(c.Env, "EXECUTORD_JOB"); name == "report" {
				time.Sleep(140 * time.Minute) // ends at no time of the schedule, also a few seconds late
			}
			return commands.run(ctx, c, o)
		}
		h := beginWith(t, Config{File: parameters(t), Store: shared(t)}, run)
		time.Sleep(30 * time.Minute)
		e, _, err := h.Find(t.Context(), "report") // as it is before it begins
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		_, answer, err := catalog.RunNow(t.Context(), h.Durable(), e, []string{"DAY=a", "REGION=us"})
		if answer != durable.Deferred || err != nil {
			t.Fatal(answer, err)
		}
		time.Sleep(5 * time.Hour)
		sum := h.end()
		commands.want(t, "report today eu", "then then", "report a us", "then then", "report today eu")
		if sum.Skipped != 4 || sum.Missed != 0 { // 2h and 3h, 4h and 5h
			t.Errorf("%+v", sum)
		}
	})
}
