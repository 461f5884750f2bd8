package history

import (
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	replay = flag.Uint64("history.seed", 0, "judge histories of this seed only")
	again  = flag.Int("history.n", 200, "how many histories of -history.seed")
	ofKind = flag.Int("history.kind", -1, "the kind of pool of -history.seed")
)

// The presets log by the default logger what their tasks do wrong on purpose.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m.Run()
}

// tally is what a test has judged.
type tally struct{ histories, tasks, runs, events int }

func (c tally) String() string {
	return fmt.Sprintf("%d histories, %d tasks, %d runs, %d calls", c.histories, c.tasks, c.runs, c.events)
}

// check records a history and has it judged.
func (c *tally) check(t *testing.T, kind int, seed uint64) {
	t.Helper()
	hung := time.AfterFunc(time.Minute, func() {
		buf := make([]byte, 1<<22)
		fmt.Fprintf(os.Stderr, "-history.seed=%d -history.kind=%d hangs\n%s", seed, kind, buf[:runtime.Stack(buf, true)])
		os.Exit(2)
	})
	defer hung.Stop()
	h := Record(kind, seed)
	c.histories++
	c.tasks += len(h.Tasks)
	c.events += len(h.Events)
	for _, task := range h.Tasks {
		c.runs += len(task.Runs)
	}
	if wrong := Judge(h); len(wrong) > 0 {
		t.Fatalf("-history.seed=%d -history.kind=%d, %+v\n%s", seed, kind, h.World, strings.Join(wrong, "\n"))
	}
	if t.Failed() { // the race detector has spoken
		t.Fatalf("-history.seed=%d -history.kind=%d, %+v", seed, kind, h.World)
	}
}

// left returns the stacks of the executor's goroutines, once those that were about
// to end have ended.
func left() string {
	buf := make([]byte, 1<<22)
	var ours []string
	for range 1000 {
		ours = nil
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "executor.(*") || strings.Contains(g, "alarm.(*") {
				ours = append(ours, g)
			}
		}
		if ours == nil {
			return ""
		}
		<-time.After(time.Millisecond)
	}
	return strings.Join(ours, "\n\n")
}

func (c *tally) finish(t *testing.T) {
	t.Log(c)
	if g := left(); g != "" {
		t.Errorf("goroutines are left:\n%s", g)
	}
}

// What goroutines see of pools of every kind, while all happens at once, is what
// they may see of a pool that keeps its promises. A seed decides what each
// goroutine does, though not in which order.
func TestHistories(t *testing.T) {
	var c tally
	defer c.finish(t)
	if *replay != 0 {
		for i := range *again {
			kind := *ofKind
			if kind < 0 {
				kind = i
			}
			c.check(t, kind, *replay)
		}
		return
	}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		for kind := range Kinds() {
			c.check(t, kind, rand.Uint64())
		}
	}
}

// TestSoak is TestHistories for as long as EXECUTOR_SOAK says.
func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("EXECUTOR_SOAK"))
	if err != nil {
		t.Skip("EXECUTOR_SOAK is not set to a duration")
	}
	var c tally
	defer c.finish(t)
	procs := []int{2, 4, 1}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	begin, printed := time.Now(), time.Now()
	for round := 0; time.Since(begin) < d; round++ {
		runtime.GOMAXPROCS(procs[round%len(procs)])
		for kind := range Kinds() {
			c.check(t, kind, rand.Uint64())
		}
		if g := left(); g != "" {
			t.Fatalf("goroutines are left:\n%s", g)
		}
		if time.Since(printed) > time.Minute {
			printed = time.Now()
			fmt.Printf("%v: %v\n", time.Since(begin).Round(time.Second), c)
		}
	}
}
