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
	replay = flag.Uint64("history.seed", 0, "check histories of this seed only")
	again  = flag.Int("history.n", 200, "number of histories of -history.seed")
	ofKind = flag.Int("history.kind", -1, "kind of pool of -history.seed")
)

// The tasks fail on purpose, which the presets log by the default logger.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m.Run()
}

// A tally counts what a test has checked.
type tally struct{ histories, tasks, runs, events int }

func (c tally) String() string {
	return fmt.Sprintf("%d histories, %d tasks, %d runs, %d calls", c.histories, c.tasks, c.runs, c.events)
}

// check records a history and requires that it is correct.
func (c *tally) check(t *testing.T, kind int, seed uint64) {
	t.Helper()
	hung := time.AfterFunc(time.Minute, func() {
		buf := make([]byte, 1<<22)
		stacks := buf[:runtime.Stack(buf, true)]
		fmt.Fprintf(os.Stderr, "-history.seed=%d -history.kind=%d hangs\n%s", seed, kind, stacks)
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
	if t.Failed() { // by the race detector
		t.Fatalf("-history.seed=%d -history.kind=%d, %+v", seed, kind, h.World)
	}
}

// leftGoroutines returns the stacks of goroutines of the executor that do not return within a
// second.
func leftGoroutines() string {
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
	if g := leftGoroutines(); g != "" {
		t.Errorf("goroutines are left over:\n%s", g)
	}
}

// The histories of pools of every kind are correct. A seed determines the actions of all
// goroutines, but not their timing.
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
	if os.Getenv("EXECUTOR_LONG") == "" {
		rounds = 1
	}
	for range rounds {
		for kind := range Kinds() {
			c.check(t, kind, rand.Uint64())
		}
	}
}

// The histories are correct for as long as EXECUTOR_SOAK says.
func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("EXECUTOR_SOAK"))
	if err != nil {
		t.Skip("EXECUTOR_SOAK is not set to a duration")
	}
	var c tally
	defer c.finish(t)
	procs := []int{2, 4, 1}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	begin, reported := time.Now(), time.Now()
	for round := 0; time.Since(begin) < d; round++ {
		runtime.GOMAXPROCS(procs[round%len(procs)])
		for kind := range Kinds() {
			c.check(t, kind, rand.Uint64())
		}
		if g := leftGoroutines(); g != "" {
			t.Fatalf("goroutines are left over:\n%s", g)
		}
		if time.Since(reported) > time.Minute {
			reported = time.Now()
			fmt.Printf("%v: %v\n", time.Since(begin).Round(time.Second), c)
		}
	}
}
