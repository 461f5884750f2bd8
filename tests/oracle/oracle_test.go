package oracle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	programs = flag.Int("oracle.programs", 0, "number of programs to compare; 0 means 2000 in the long form and 200 in the short one")
	seed     = flag.Uint64("oracle.seed", 1, "seed of the first program; 0 means a random one")
	shrunk   = flag.Int("oracle.shrink", 3, "number of programs that differ to shrink")
	only     = flag.Bool("oracle.only", false, "compare only the program of -oracle.seed, and show both traces")
)

// A program that does not depend on a race has the same trace on our executors and on the
// JDK's.
func TestProgramSameAsJDK(t *testing.T) {
	classes := compile(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64() >> 16
	}
	n := *programs
	switch {
	case *only:
		n = 1
	case n == 0 && os.Getenv("EXECUTOR_LONG") != "":
		n = 2000
	case n == 0:
		n = 200
	}
	t.Logf("seed %d: replay with -oracle.seed=%d, one program with -oracle.seed=N -oracle.only", first, first)

	var ps []*Program
	var seeds []uint64
	var ours []string
	racy := 0
	for s := first; len(ps) < n; s++ {
		p := Draw(source(s))
		trace, ok := stable(t, p)
		if !ok {
			racy++
			if *only {
				t.Fatalf("the program of seed %d depends on a race:\n%s", s, p)
			}
			continue
		}
		ps, seeds, ours = append(ps, p), append(seeds, s), append(ours, trace)
	}

	if *only {
		t.Logf("program:\n%s--- ours:\n%s--- JDK:\n%s", ps[0], ours[0], runJDK(t, classes, ps, 80, 1)[0])
		return
	}
	differing := differ(t, classes, ps, ours)
	t.Logf("%d programs compared, %d others depend on a race, %d differ", len(ps), racy, len(differing))
	for _, i := range differing {
		t.Errorf("seed %d: %s", seeds[i], firstDifference(ours[i], runJDK(t, classes, []*Program{ps[i]}, 80, 1)[0]))
	}
	for _, i := range differing[:min(len(differing), *shrunk)] {
		small := shrink(t, classes, ps[i])
		trace, _ := stable(t, small)
		theirs := runJDK(t, classes, []*Program{small}, 80, 1)[0]
		t.Errorf("seed %d, shrunk to\n%s--- ours:\n%s--- JDK:\n%s", seeds[i], small, trace, theirs)
	}
}

// firstDifference returns the first lines in which two traces differ.
func firstDifference(ours, theirs string) string {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("ours %q, the JDK's %q", a[i], b[i])
		}
	}
	return "one trace is longer, or they did not differ again"
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// stable returns our trace of p. It reports false if the trace changes with the jitter of the
// times, or is ambiguous: then the program depends on a race.
func stable(t *testing.T, p *Program) (string, bool) {
	trace, ambiguous := ourTrace(t, p, exact)
	if ambiguous {
		return "", false
	}
	for _, s := range jitters {
		if disturbed, ambiguous := ourTrace(t, p, s); ambiguous || disturbed != trace {
			return "", false
		}
	}
	return trace, true
}

// jitters are the jitters that must not change a trace: those that reverse the order of any
// two steps, or of bodies and delays, and sixteen random ones.
var jitters = func() []jitter {
	s := []jitter{rising, falling, slowBodies, slowDelays}
	for i := range uint64(16) {
		s = append(s, random(i))
	}
	return s
}()

func ourTrace(t *testing.T, p *Program, s jitter) (trace string, ambiguous bool) {
	synctest.Test(t, func(*testing.T) { trace, ambiguous = observe(p, s) })
	return trace, ambiguous
}

// differ returns the programs whose traces differ. On a busy machine the JDK is late, so the
// programs that differ run again, fewer at once and with longer ticks.
func differ(t *testing.T, classes string, ps []*Program, ours []string) []int {
	rest := make([]int, len(ps))
	for i := range rest {
		rest[i] = i
	}
	for _, try := range []struct{ ms, atOnce int }{{40, 200}, {50, 60}, {60, 30}, {80, 15}, {120, 8}, {200, 8}} {
		again := make([]*Program, len(rest))
		for i, n := range rest {
			again[i] = ps[n]
		}
		began := time.Now()
		theirs := runJDK(t, classes, again, try.ms, try.atOnce)
		var still []int
		for i, n := range rest {
			if theirs[i] != ours[n] {
				still = append(still, n)
			}
		}
		t.Logf("%d of %d differ with %d at once and %d ms a tick (%v)",
			len(still), len(rest), try.atOnce, try.ms, time.Since(began).Round(time.Second))
		if rest = still; len(rest) == 0 {
			return nil
		}
	}
	// At last each alone: a pause of the JDK that is longer than half a tick makes it differ.
	return slices.DeleteFunc(rest, func(n int) bool { return !alwaysDiffers(t, classes, ps[n], ours[n], 80, 250, 700) })
}

// shrink removes steps of a program that differs, as long as it still does.
func shrink(t *testing.T, classes string, p *Program) *Program {
	for again := true; again; {
		again = false
		for i := range p.Steps {
			q := *p
			q.Steps = append(append([]Step(nil), p.Steps[:i]...), p.Steps[i+1:]...)
			trace, ok := stable(t, &q)
			if ok && alwaysDiffers(t, classes, &q, trace, 80, 80, 80) {
				p, again = &q, true
				break
			}
		}
	}
	return p
}

// alwaysDiffers reports whether the traces differ in runs with ticks of each of these numbers of milliseconds.
func alwaysDiffers(t *testing.T, classes string, p *Program, ours string, ticks ...int) bool {
	for _, ms := range ticks {
		if runJDK(t, classes, []*Program{p}, ms, 1)[0] == ours {
			return false
		}
	}
	return true
}
