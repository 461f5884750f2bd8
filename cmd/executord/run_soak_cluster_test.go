//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// Three daemons are a cluster under a crontab of fifty jobs, each due each second. Each minute another one is killed, and
// started again ten seconds later. Each due time runs once, or a log or the store tells why not.
//
// EXECUTORD_SOAK=10m is how long it takes; without it the test is skipped.
func TestRunSoakOfCluster(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("EXECUTORD_SOAK"))
	if err != nil {
		t.Skip("EXECUTORD_SOAK is not set to a duration")
	}
	const jobs = 50
	every, away := min(time.Minute, length/4), min(10*time.Second, length/10)
	out := t.TempDir()
	var tab strings.Builder
	for n := range jobs {
		fmt.Fprintf(&tab, "# name: job%d\n@every 1s echo $EXECUTORD_DUE >>%s/job%[1]d\n", n, out)
	}
	c := newTestCluster(t, tab.String())
	var names []string
	for n := range jobs {
		names = append(names, fmt.Sprint("job", n))
	}
	a := newClusterAccount(t, out, time.Second, names...)
	var all []*process
	var logs sync.WaitGroup
	start := func(n int) *process {
		p := c.start(c.hosts[n], fmt.Sprint(n))
		logs.Go(func() {
			for l := range p.lines {
				a.hear(l)
			}
		})
		all = append(all, p)
		return p
	}
	var now [3]*process
	for n := range now {
		now[n] = start(n)
	}
	v := c.visit()
	kills := 0
	for began := time.Now(); time.Since(began) < length-every; kills++ {
		time.Sleep(every - away)
		now[kills%3].signal(syscall.SIGKILL)
		time.Sleep(away)
		now[kills%3] = start(kills % 3)
		a.read(v)
	}
	time.Sleep(every)
	until := time.Now()
	var left map[string]string
	for give := until.Add(patience); ; time.Sleep(time.Second) { // a busy machine may be behind
		a.read(v)
		if left = a.untold(v, until); len(left) == 0 || time.Now().After(give) {
			break
		}
	}
	for of, what := range left {
		t.Errorf("%s: %s", of, what)
	}
	for _, p := range now {
		p.signal(syscall.SIGTERM)
	}
	logs.Wait()
	for _, p := range all {
		p.wait()
	}
	if a.twice > kills*jobs { // what ran in a daemon that was killed is begun again
		t.Errorf("%d runs were begun again after %d kills", a.twice, kills)
	}
	slices.Sort(a.late)
	t.Logf("%v, %d kills: of %d due times %d ran, %d of them again after a kill; %d did not run: %v; late p50 %.1f ms, p99 %.1f ms, most %.2f s",
		length, kills, a.due, a.ran, a.twice, a.due-a.ran, a.why, 1e3*a.late[len(a.late)/2], 1e3*a.late[len(a.late)*99/100],
		a.late[len(a.late)-1])
}

// visit opens the store of the cluster until the end of the test.
func (c *testCluster) visit() client.Client {
	c.t.Helper()
	opened, _, err := stores.Open(c.t.Context(), c.store(), stores.Options{Wait: databaseWait})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { opened.Close() })
	visiting, err := durable.New(durable.Config{Store: opened})
	if err != nil {
		c.t.Fatal(err)
	}
	return client.Client{Store: opened, Jobs: visiting}
}

// A clusterAccount has what became of the due times of jobs.
type clusterAccount struct {
	*testing.T
	out   string        // where each job notes the times for which it runs
	every time.Duration // they are due

	mu   sync.Mutex
	told map[string]map[int64]string // by job and due time, in milliseconds: who tells that it has no run, and why; or the run
	keys map[string]string           // of the jobs
	dues map[string]time.Time        // of the runs that have begun, by job and number
	late []float64

	due, ran, twice int
	why             map[string]int // of those that did not run
}

func newClusterAccount(t *testing.T, out string, every time.Duration, jobs ...string) *clusterAccount {
	a := &clusterAccount{T: t, out: out, every: every, told: make(map[string]map[int64]string), keys: make(map[string]string),
		dues: make(map[string]time.Time)}
	for _, name := range jobs {
		a.told[name] = make(map[int64]string)
	}
	return a
}

// hear takes what a line of a log tells.
func (a *clusterAccount) hear(l line) {
	name, _ := l["job"].(string)
	run := fmt.Sprint(name, "#", l["run"])
	a.mu.Lock()
	defer a.mu.Unlock()
	switch told := a.told[name]; {
	case told == nil:
	case l.is("runs missed"), l.is("runs skipped"):
		at := instant(a.T, l, "first")
		for range int(l["count"].(float64)) {
			told[at.UnixMilli()] = "log: " + l["msg"].(string)
			at = at.Add(a.every)
		}
	case l.is("run started"):
		a.dues[run] = instant(a.T, l, "due")
		late, _ := l["late"].(float64)
		a.late = append(a.late, late)
	case l.is("run not started"):
		told[instant(a.T, l, "due").UnixMilli()] = "log: run not started"
	case l.is("run ended", "outcome", "lost"):
		told[a.dues[run].UnixMilli()] = "log: lost"
	}
}

// read takes what the store has of the due times that have passed lately.
func (a *clusterAccount) read(v client.Client) {
	a.Helper()
	entries, err := catalog.Select(a.Context(), v.Store, "")
	if err != nil {
		a.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range entries {
		a.keys[e.Name] = e.Key
		past, err := v.Jobs.History(a.Context(), e.ID, 0, 1000)
		if err != nil {
			a.Fatal(err)
		}
		for _, r := range past {
			at := r.Occurrence.UnixMilli()
			if why, left := strings.CutPrefix(r.Label, "left out, "); left {
				why, _, _ = strings.Cut(why, ":")
				a.told[e.Name][at] = "store: " + why
			} else if a.told[e.Name][at] == "" {
				a.told[e.Name][at] = r.Label
			}
			n, first := outcome.ParseBefore(r.Label)
			for ; n > 0; n-- {
				a.told[e.Name][first.UnixMilli()] = "store: missed"
				first = first.Add(a.every)
			}
		}
	}
}

// untold counts the due times up to one, and returns those of which nobody tells why they had no run.
func (a *clusterAccount) untold(v client.Client, until time.Time) map[string]string {
	a.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due, a.ran, a.twice, a.why = 0, 0, 0, make(map[string]int)
	left := make(map[string]string)
	for name, told := range a.told {
		ran := make(map[int64]int)
		all := dues(a.T, filepath.Join(a.out, name))
		for _, at := range all {
			ran[at.UnixMilli()]++
		}
		for at := all[0]; at.Before(until); at = at.Add(a.every) {
			a.due++
			switch n, why := ran[at.UnixMilli()], told[at.UnixMilli()]; {
			case n > 0:
				a.ran++
				a.twice += n - 1
			case strings.HasPrefix(why, "log: "), strings.HasPrefix(why, "store: "):
				a.why[why]++
			case why == "":
				left[fmt.Sprint(name, " ", at)] = "neither a log nor the store has it"
			default:
				if run, o := a.ended(v, name, why); o == "" || o == outcome.OK {
					left[fmt.Sprint(name, " ", at)] = fmt.Sprintf("the store has %s, which has not run: %v %q", why, run.State, o)
				} else {
					a.why["store: "+string(o)]++
				}
			}
		}
	}
	return left
}

// ended returns the run that a label of the history names, and how it ended.
func (a *clusterAccount) ended(v client.Client, name, label string) (run durable.Job, o outcome.Outcome) {
	a.Helper()
	var n int64
	if _, err := fmt.Sscanf(label, "run %d", &n); err != nil {
		a.Fatalf("%s: a label is %q", name, label)
	}
	run, err := v.Jobs.Find(a.Context(), durable.RunKey(a.keys[name], n))
	if err != nil {
		a.Fatal(err)
	}
	return run, outcome.OfRow(run)
}
