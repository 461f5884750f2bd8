package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// ran has where jobs ran: by their names, each machine once.
type ran struct {
	mu sync.Mutex
	on map[string]map[string]int
}

// command returns the command of a machine.
func (r *ran) command(machine string) func(context.Context, process.Command, process.Observer) process.Result {
	return func(ctx context.Context, c process.Command, o process.Observer) process.Result {
		for _, variable := range c.Env {
			if name, is := strings.CutPrefix(variable, "EXECUTORD_JOB="); is {
				r.mu.Lock()
				if r.on == nil {
					r.on = make(map[string]map[string]int)
				}
				if r.on[name] == nil {
					r.on[name] = make(map[string]int)
				}
				r.on[name][machine]++
				r.mu.Unlock()
			}
		}
		return sleep(ctx, c, o)
	}
}

// take returns where jobs ran since the last call, as "a: web-1 db-1".
func (r *ran) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.on)) {
		all = append(all, name+": "+strings.Join(slices.Sorted(maps.Keys(r.on[name])), " "))
	}
	r.on = nil
	return strings.Join(all, ", ")
}

// machine returns one of that name, with labels.
func machine(t *testing.T, name string, labels ...string) job.Machine {
	t.Helper()
	m, err := job.NewMachine(name, labels)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A job runs on the machines that its file names alone, by their names, labels, patterns of these, and several at once;
// what names none runs on any.
func TestOnChoosesMachines(t *testing.T) {
	for _, test := range []struct{ on, want string }{
		{"web-1", "web-1"}, {"WEB-1", "web-1"}, {"gpu", "db-1 web-1"}, {"gpu+eu", "db-1"}, {"web-*", "web-1 web-2"},
		{"db-1, web-2", "db-1 web-2"}, {"eu, web-2", "db-1 web-2"}, {"region=e*", "web-2"}, {"*", "db-1 other web-1 web-2"},
	} {
		t.Run(test.on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r ran
				c := Config{File: parse(t, "# name: a\n# on: "+test.on+"\n@every 5s sleep 1s\n"), Store: shared(t)}
				c.Store.Poll = time.Second // or the first daemon would have claimed all that is due in the next seconds
				var all []*harness
				for _, m := range []job.Machine{machine(t, "web-1", "gpu"), machine(t, "web-2", "region=eu"), machine(t, "db-1", "gpu", "eu"), machine(t, "other")} {
					c.Machine = m
					all = append(all, beginWith(t, c, r.command(m.Name)))
				}
				time.Sleep(5*time.Minute + 2*time.Second)
				synctest.Wait()
				if got := r.take(); got != "a: "+test.want {
					t.Errorf("ran on %q, want %q", got, test.want)
				}
				for _, h := range all {
					h.end()
				}
			})
		})
	}
}

// A daemon runs jobs that only the file of another has, also if they are for its machine in words that its own file
// does not have.
func TestOnTakesJobsOfOtherFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		store := shared(t)
		gpu := beginWith(t, Config{File: parse(t, "# name: own\n@every 10m sleep 1s\n"), Store: store, Machine: machine(t, "web-1", "gpu")}, r.command("web-1"))
		time.Sleep(time.Minute)
		other := beginWith(t, Config{File: parse(t, "# name: a\n# on: gp*, db-9\n@every 10m sleep 1s\n"), Store: store, Machine: machine(t, "web-2")}, r.command("web-2"))
		time.Sleep(15 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: web-1" {
			t.Errorf("ran on %q", got)
		}
		if lines := other.logged("job has no machine"); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
		other.end()
		gpu.end()
	})
}

// A file that is read again moves a job to other machines, and to any; its times go on.
func TestOnFollowsReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		store := shared(t)
		again := make(chan job.File)
		tab := func(on string) job.File { return parse(t, on+"# name: a\n@every 10m sleep 1s\n") }
		one := beginWith(t, Config{File: tab("# on: web-1\n"), Store: store, Machine: machine(t, "web-1"), Again: again}, r.command("web-1"))
		two := beginWith(t, Config{File: tab("# on: web-1\n"), Store: store, Machine: machine(t, "web-2")}, r.command("web-2"))
		for _, step := range []struct{ on, want string }{{"", "a: web-1"}, {"# on: web-2\n", "a: web-2"}, {"# on: web-1\n", "a: web-1"}} {
			if step.on != "" {
				again <- tab(step.on)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if got := r.take(); got != step.want {
				t.Errorf("after %q it ran on %q, want %q", step.on, got, step.want)
			}
		}
		again <- tab("")
		one.end()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: web-2" {
			t.Errorf("for any machine, it ran on %q", got)
		}
		two.end()
	})
}

// state returns what a daemon shows of a job.
func (h *harness) state(name string) string {
	h.t.Helper()
	h.Forget(h.t.Context())
	jobs, err := h.Jobs(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Job == name {
			return j.State.String()
		}
	}
	return "not there"
}

// A job for a machine that is not there waits. It is in the log once, shown, and told when it is late, by one daemon;
// when there is a machine, it runs.
func TestOnWaitsForMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(told)
		store := shared(t)
		file := parse(t, "# name: a\n# on: gpu\n@every 20m sleep 1s\n# name: b\n@every 20m sleep 1s\n")
		file.Channels = []notify.Spec{channel("ops", "on=late", "late=5m")}
		var waiting []*harness
		for i := range 3 {
			waiting = append(waiting, beginWith(t, Config{File: file, Store: store, Machine: machine(t, fmt.Sprintf("web-%d", i))}, n.command))
		}
		time.Sleep(10 * time.Minute)
		for _, h := range waiting {
			if lines := h.logged("job has no machine"); len(lines) != 1 || !strings.Contains(lines[0], "job=a") || !strings.Contains(lines[0], "on=gpu") {
				t.Errorf("%q", lines)
			}
			if h.state("a") != string(catalog.StateNoMachine) || h.state("b") != "waiting" {
				t.Errorf("a is %s, b is %s", h.state("a"), h.state("b"))
			}
		}
		if got := n.all(); got != "" {
			t.Errorf("told %q before it was due", got)
		}
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if got, want := n.all(), "a has been due for 5m"; !strings.HasPrefix(got, want) || strings.Contains(got, "|") ||
			!strings.HasSuffix(got, "no running daemon has the name or label gpu") {
			t.Errorf("told %q, want %q once", got, want)
		}
		var r ran
		h := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "db-1", "gpu")}, r.command("db-1"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: db-1" {
			t.Errorf("ran on %q", got)
		}
		for _, h := range waiting {
			if n := h.lines("job has a machine again"); n != 1 || h.state("a") != "waiting" {
				t.Errorf("the log says %d times that there is a machine, and a is %s", n, h.state("a"))
			}
			h.end()
		}
		h.end()
	})
}

// Without a store that others share, a daemon runs the jobs for its machine, and shows the others as such. Nothing is
// missed, nor waits.
func TestOnWithoutStoreLeavesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		again := make(chan job.File)
		tab := func(on string) job.File {
			return parse(t, "# name: a\n# on: web-1\n@every 10m sleep 1s\n# name: b\n# on: "+on+"\n@every 10m sleep 1s\n# name: c\n# on: all web-*\n@every 10m sleep 1s\n"+
				"# name: d\n# on: db-*\n@reboot sleep 1s\n# name: e\n# on: all\n@reboot sleep 1s\n")
		}
		h := beginWith(t, Config{File: tab("db-1"), Machine: machine(t, "web-1"), Again: again}, r.command("web-1"))
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: web-1, c: web-1, e: web-1" {
			t.Errorf("ran %q", got)
		}
		if h.state("b") != "elsewhere" || h.state("d") != "elsewhere" || h.state("a") != "waiting" || h.lines("job is not for this machine") != 2 {
			t.Errorf("b is %s, d is %s, a is %s; %q", h.state("b"), h.state("d"), h.state("a"), h.logged("not for this machine"))
		}
		for _, f := range h.Figures() {
			if f.Job == "b" || f.Job == "d" {
				t.Errorf("there are figures of %s", f.Job)
			}
		}
		again <- tab("web-1")
		time.Sleep(10*time.Minute + time.Second)
		again <- tab("db-1")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: web-1, b: web-1, c: web-1" || h.state("b") != "elsewhere" {
			t.Errorf("ran %q, and b is %s", got, h.state("b"))
		}
		if sum := h.end(); sum.Missed != 0 {
			t.Errorf("%+v", sum)
		}
	})
}

// A job that runs on each machine is a job for each: it runs there at each of its times, also those that were missed,
// and goes when the file is without it, on whichever machine that is read.
func TestOnAllRunsOnEachMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		store := shared(t)
		file := parse(t, "# name: clean\n# on: all web-*\n*/10 * * * * sleep 1s\n")
		again := make(chan job.File)
		one := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "web-1")}, r.command("web-1"))
		two := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "web-2")}, r.command("web-2"))
		db := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "db-1"), Again: again}, r.command("db-1"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "clean@web-1: web-1, clean@web-2: web-2" {
			t.Errorf("ran %q", got)
		}
		two.end()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "clean@web-1: web-1" || one.state("clean@web-2") != "no machine" {
			t.Errorf("without web-2, ran %q, and there it is %s", got, one.state("clean@web-2"))
		}
		two = beginWith(t, Config{File: file, Store: store, Machine: machine(t, "web-2")}, r.command("web-2"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.take(); got != "clean@web-2: web-2" {
			t.Errorf("when web-2 is back, ran %q", got)
		}
		again <- parse(t, "# name: other\n@every 10m sleep 1s\n")
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		if got := r.take(); !strings.HasPrefix(got, "other: ") || strings.Contains(got, "clean") {
			t.Errorf("without it in the file, ran %q", got)
		}
		for _, h := range []*harness{one, two, db} {
			h.end()
		}
	})
}

// A job for a machine of which no daemon has run for a day is removed, and comes back with the machine.
func TestOnAllForgetsMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		store := shared(t)
		file := parse(t, "# name: clean\n# on: all\n0 * * * * sleep 1s\n")
		for _, name := range []string{"web-1", "web-2"} {
			beginWith(t, Config{File: file, Store: store, Machine: machine(t, name)}, r.command(name)).end()
		}
		time.Sleep(23 * time.Hour) // a daemon that runs looks into the store each second
		one := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "web-1")}, r.command("web-1"))
		time.Sleep(time.Hour)
		if got := one.state("clean@web-2"); got != "no machine" {
			t.Errorf("after a day it is %s", got)
		}
		time.Sleep(2 * time.Hour)
		if got := one.state("clean@web-2"); got != "not there" || one.lines("no daemon has run on its machine for a day") != 1 {
			t.Errorf("after a day and a bit it is %s; %q", got, one.logged("job removed"))
		}
		r.take()
		two := beginWith(t, Config{File: file, Store: store, Machine: machine(t, "web-2")}, r.command("web-2"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := r.take(); got != "clean@web-1: web-1, clean@web-2: web-2" {
			t.Errorf("ran %q", got)
		}
		two.end()
		one.end()
	})
}

// A group limits jobs that run on each machine, across all of them.
func TestOnAllTakesTurnsInGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{File: parse(t, "# name: restart\n# on: all\n# group: one\n@every 20m sleep 5m\n"), Store: shared(t)}
		var b busy
		var all []*harness
		for i := range 3 {
			c.Machine = machine(t, fmt.Sprintf("web-%d", i))
			all = append(all, beginWith(t, c, b.run))
		}
		time.Sleep(39 * time.Minute)
		for _, h := range all {
			h.end()
		}
		if b.all != 3 || b.most != 1 {
			t.Errorf("%d runs, %d at a time", b.all, b.most)
		}
	})
}

// A job that runs after another does so on its own machines, wherever that has run.
func TestOnRunsAfterJobsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r ran
		c := Config{File: linked(t, "# name: b\n# on: web-2\n# after: a\n@after sleep 1s\n# name: a\n# on: web-1\n@every 10m sleep 10s\n"), Store: shared(t)}
		var all []*harness
		for _, name := range []string{"web-1", "web-2", "web-3"} {
			c.Machine = machine(t, name)
			all = append(all, beginWith(t, c, r.command(name)))
		}
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		if got := r.take(); got != "a: web-1, b: web-2" {
			t.Errorf("ran %q", got)
		}
		for _, h := range all {
			h.end()
		}
	})
}
