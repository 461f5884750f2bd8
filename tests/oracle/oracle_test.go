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
	programs = flag.Int("oracle.programs", 0, "how many programs to compare; 0 is 2000 in CI and 200 elsewhere")
	seed     = flag.Uint64("oracle.seed", 1, "seed of the first program; 0 draws one")
	shrunk   = flag.Int("oracle.shrink", 3, "how many of the programs that differ to shrink")
	only     = flag.Bool("oracle.only", false, "compare just the program of -oracle.seed, and show both traces")
)

// Every program that does not depend on a race has the same trace on our
// executors and on the JDK's.
func TestSameAsJDK(t *testing.T) {
	classes := compile(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64() >> 16
	}
	n := *programs
	switch {
	case *only:
		n = 1
	case n == 0 && os.Getenv("CI") != "" && !raceEnabled:
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
		trace, ok := steady(t, p)
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
		t.Logf("program:\n%s--- ours:\n%s--- JDK:\n%s", ps[0], ours[0], askJDK(t, classes, ps, 80, 1)[0])
		return
	}
	differing := differ(t, classes, ps, ours)
	t.Logf("%d programs compared, %d drawn that depend on a race, %d differ", len(ps), racy, len(differing))
	for _, i := range differing {
		t.Errorf("seed %d: %s", seeds[i], firstDifference(ours[i], askJDK(t, classes, []*Program{ps[i]}, 80, 1)[0]))
	}
	for _, i := range differing[:min(len(differing), *shrunk)] {
		small := shrink(t, classes, ps[i])
		trace, _ := steady(t, small)
		t.Errorf("seed %d, shrunk to\n%s--- ours:\n%s--- JDK:\n%s", seeds[i], small, trace, askJDK(t, classes, []*Program{small}, 80, 1)[0])
	}
}

// firstDifference names the first line in which two traces differ.
func firstDifference(ours, theirs string) string {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("ours %q, the JDK's %q", a[i], b[i])
		}
	}
	return "one trace is longer, or the difference did not come again"
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// steady returns our trace of p, and reports whether it stays the same when the
// program's times are disturbed a little, and is crowded by no disturbance.
func steady(t *testing.T, p *Program) (string, bool) {
	trace, crowded := ourTrace(t, p, undisturbed)
	if crowded {
		return "", false
	}
	for _, s := range shakes {
		if shaken, crowded := ourTrace(t, p, s); crowded || shaken != trace {
			return "", false
		}
	}
	return trace, true
}

// shakes are what a program has to stand: those that turn the order of any two
// steps round, or of bodies and delays, and sixteen by chance.
var shakes = func() []shake {
	s := []shake{rising, falling, slowBodies, slowDelays}
	for i := range uint64(16) {
		s = append(s, random(i))
	}
	return s
}()

func ourTrace(t *testing.T, p *Program, s shake) (trace string, crowded bool) {
	synctest.Test(t, func(*testing.T) { trace, crowded = observe(p, s) })
	return trace, crowded
}

// differ returns the programs on which the JDK disagrees with ours. A machine
// that is busy makes the JDK late, so a program that differs runs again, with
// fewer beside it and more time: a real difference stays.
func differ(t *testing.T, classes string, ps []*Program, ours []string) []int {
	left := make([]int, len(ps))
	for i := range left {
		left[i] = i
	}
	for _, try := range []struct{ ms, atOnce int }{{40, 200}, {50, 60}, {60, 30}, {80, 15}, {120, 8}, {200, 8}} {
		asked := make([]*Program, len(left))
		for i, n := range left {
			asked[i] = ps[n]
		}
		began := time.Now()
		theirs := askJDK(t, classes, asked, try.ms, try.atOnce)
		var still []int
		for i, n := range left {
			if theirs[i] != ours[n] {
				still = append(still, n)
			}
		}
		t.Logf("%d of %d differ with %d at once and %d ms a tick (%v)", len(still), len(left), try.atOnce, try.ms, time.Since(began).Round(time.Second))
		if left = still; len(left) == 0 {
			return nil
		}
	}
	// Last, each alone.
	return slices.DeleteFunc(left, func(n int) bool { return !alwaysDiffers(t, classes, ps[n], ours[n]) })
}

// shrink leaves out steps of a program that differs as long as it still does.
func shrink(t *testing.T, classes string, p *Program) *Program {
	for again := true; again; {
		again = false
		for i := range p.Steps {
			q := *p
			q.Steps = append(append([]Step(nil), p.Steps[:i]...), p.Steps[i+1:]...)
			trace, ok := steady(t, &q)
			if ok && alwaysDiffers(t, classes, &q, trace) {
				p, again = &q, true
				break
			}
		}
	}
	return p
}

func alwaysDiffers(t *testing.T, classes string, p *Program, ours string) bool {
	for range 3 {
		if askJDK(t, classes, []*Program{p}, 80, 1)[0] == ours {
			return false
		}
	}
	return true
}
