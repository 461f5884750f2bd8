package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// busy counts the commands that run at the same time.
type busy struct {
	mu        sync.Mutex
	now, most int
	all       int
}

func (b *busy) run(ctx context.Context, c process.Command, o process.Observer) process.Result {
	b.mu.Lock()
	b.now++
	b.all++
	b.most = max(b.most, b.now)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.now--
		b.mu.Unlock()
	}()
	return sleep(ctx, c, o)
}

// groupFile is a file of so many jobs in a group, with the period every.
func groupFile(t *testing.T, jobs, limit int, every, command string) (c Config) {
	var tab strings.Builder
	for i := range jobs {
		fmt.Fprintf(&tab, "# name: j%d\n# group: db\n@every %s %s\n", i, every, command)
	}
	c.File = parse(t, tab.String())
	for i := range c.File.Jobs {
		c.File.Jobs[i].GroupLimit = limit
	}
	return c
}

// Of the jobs of a group no more run at a time than its limit allows, in all daemons together, and each of them runs.
func TestGroupLimits(t *testing.T) {
	for _, test := range []struct{ jobs, limit, daemons int }{{5, 0, 1}, {5, 2, 1}, {7, 3, 1}, {6, 1, 2}, {9, 2, 3}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := groupFile(t, test.jobs, test.limit, "6m", "sleep 12s")
				if test.daemons > 1 {
					c.Store = shared(t)
				}
				var b busy
				var all []*harness
				for range test.daemons {
					all = append(all, beginWith(t, c, b.run))
				}
				time.Sleep(18*time.Minute - time.Second)
				sum := Summary{}
				for _, h := range all {
					one := h.end()
					sum.Runs += one.Runs
					sum.Failed += one.Failed
				}
				if b.most != max(test.limit, 1) || b.all != 2*test.jobs || sum.Runs != b.all || sum.Failed != 0 {
					t.Errorf("%d at a time, %d in all, %+v", b.most, b.all, sum)
				}
			})
		})
	}
}

// A job that allows several runs at a time has as many of them in its group as that allows, and no more.
func TestGroupLimitsRunsOfOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := groupFile(t, 2, 3, "1s", "sleep 10s")
		for i := range c.File.Jobs {
			c.File.Jobs[i].Overlap = "allow 5"
		}
		var b busy
		h := beginWith(t, c, b.run)
		time.Sleep(5 * time.Minute)
		if sum := h.end(); b.most != 3 || sum.Failed != 0 || b.all < 80 {
			t.Errorf("%d at a time, %d in all, %+v", b.most, b.all, sum)
		}
	})
}

// A run begins within a moment of the end of that for which it waits.
func TestGroupTurnFollowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, groupFile(t, 2, 1, "1h", "sleep 10m"))
		time.Sleep(time.Hour + 20*time.Minute + time.Second)
		h.end()
		if got := h.begun(); len(got) != 2 || got[0] != time.Hour || got[1] != time.Hour+10*time.Minute {
			t.Errorf("begun after %v", got)
		}
	})
}

// A run that waits for its turn when the drain begins is left to the next daemon, or is missed without one.
func TestGroupWaitEndsWithDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := begin(t, groupFile(t, 2, 1, "1h", "sleep 10m"))
		time.Sleep(time.Hour + time.Minute)
		if sum := h.end(); sum.Runs != 1 || sum.Missed != 1 || h.ended.Sub(h.began).Round(time.Second) != time.Hour+10*time.Minute {
			t.Errorf("%+v after %v", sum, h.ended.Sub(h.began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := groupFile(t, 2, 1, "1h", "sleep 10m")
		c.Store = shared(t)
		h := begin(t, c)
		time.Sleep(time.Hour + time.Minute)
		first := h.end()
		h = begin(t, c)
		time.Sleep(30 * time.Minute)
		if second := h.end(); first.Runs != 1 || second.Runs != 1 || second.Missed != 0 {
			t.Errorf("%+v, and then %+v", first, second)
		}
	})
}
