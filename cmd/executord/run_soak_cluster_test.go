//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Three daemons are a cluster under a crontab of fifty jobs, each due each second. Each minute another one is killed, and
// started again ten seconds later. Each due time runs once, or the log tells why not, unless the daemon that had to tell was
// killed before it did: a kill takes one line of each job with it, at most.
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
		fmt.Fprintf(&tab, "# name: job%d\n@every 1s echo $EXECUTORD_DUE >>%s/%d\n", n, out, n)
	}
	c := newTestCluster(t, tab.String())
	var all []*process
	var logs []chan []line
	start := func(n int) *process {
		p := c.start(c.hosts[n], fmt.Sprint(n))
		log := make(chan []line, 1)
		go func() {
			var got []line
			for l := range p.lines {
				got = append(got, l)
			}
			log <- got
		}()
		all, logs = append(all, p), append(logs, log)
		return p
	}
	var now [3]*process
	for n := range now {
		now[n] = start(n)
	}
	kills := 0
	for began := time.Now(); time.Since(began) < length-every; kills++ {
		time.Sleep(every - away)
		now[kills%3].signal(syscall.SIGKILL)
		time.Sleep(away)
		now[kills%3] = start(kills % 3)
	}
	time.Sleep(every)
	for _, p := range now {
		p.signal(syscall.SIGTERM)
	}
	told := make(map[string]int)
	var late []float64
	lost := 0
	for i, p := range all {
		for _, l := range <-logs[i] {
			name, _ := l["job"].(string)
			n, _ := l["count"].(float64)
			left, _ := l["skipped"].(float64)
			switch {
			case l.is("runs missed"):
				told[name] += int(n)
			case l.is("run ended"), l.is("run not started"):
				if told[name] += int(left); l["outcome"] == "lost" {
					told[name]++
					lost++
				}
			case l.is("run started"):
				at, _ := l["late"].(float64)
				late = append(late, at)
			}
		}
		p.wait()
	}
	ran, twice, missing, untold := 0, 0, 0, 0
	for n := range jobs {
		all := dues(t, filepath.Join(out, fmt.Sprint(n)))
		once := slices.CompactFunc(slices.Clone(all), time.Time.Equal)
		ran, twice = ran+len(once), twice+len(all)-len(once)
		due := int(once[len(once)-1].Sub(once[0])/time.Second) + 1
		left := due - len(once)
		untold += max(0, left-told[fmt.Sprint("job", n)])
		if missing += left; left > told[fmt.Sprint("job", n)]+kills {
			t.Errorf("job%d: of %d due times %d ran, and %d were told of", n, due, len(once), told[fmt.Sprint("job", n)])
		}
	}
	if twice > kills*jobs { // what ran in a daemon that was killed is begun again
		t.Errorf("%d runs were begun again after %d kills", twice, kills)
	}
	slices.Sort(late)
	t.Logf("%v, %d kills: %d ran, %d again after a kill, %d lost by the log; %d did not run, of which %d were not logged before a kill; late p50 %.1f ms, p99 %.1f ms, most %.2f s",
		length, kills, ran, twice, lost, missing, untold, 1e3*late[len(late)/2], 1e3*late[len(late)*99/100], late[len(late)-1])
}
