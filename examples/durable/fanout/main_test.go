package main

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/executor-go/executor/examples/durable/internal/killtest"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

func TestMain(m *testing.M) { killtest.Main(m, main) }

// The sum is right, and is made once, however often the program is killed, after each of 10,000 counts, of which none
// is made again after its result was kept.
func TestFanOutAddsUpAfterKills(t *testing.T) {
	killtest.OnEachStore(t, func(t *testing.T, p *killtest.Program) {
		n, kills := 10_000, 4
		if os.Getenv("EXECUTOR_LONG") == "" {
			n, kills = 1000, 3
		}
		p.Lines, p.Args = n/300, []string{"-n", fmt.Sprint(n)}
		for _, fault := range judge(p.KillUntilItEnds(kills), n) {
			t.Error(fault)
		}
	})
}

// judge returns what is wrong with a ledger of n counts and their sum.
func judge(entries []world.Entry, n int) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	want := sieve(n)
	counted, sums := make(map[string]bool), 0
	for _, e := range entries {
		var from int
		switch {
		case e.What == "sum":
			if len(counted) != n || e.Value != fmt.Sprint(sum(want)) {
				fault("the sum after %d counts is %s, want %d after %d", len(counted), e.Value, sum(want), n)
			}
			if !e.Again {
				sums++
			}
			continue
		case sums > 0:
			fault("%s was counted after the sum", e.Key)
		}
		if _, err := fmt.Sscanf(e.Key, "from-%d", &from); err != nil || from%size != 0 || from/size >= n ||
			e.Value != fmt.Sprint(want[from/size]) || e.Again != counted[e.Key] {
			fault("%s: %s primes were counted, again: %t", e.Key, e.Value, e.Again)
		}
		counted[e.Key] = true
	}
	if sums != 1 {
		fault("the sum was made %d times", sums)
	}
	return faults
}

// sieve returns how many primes there are in each thousand of numbers, by another way than the program's.
func sieve(n int) []int {
	counts := make([]int, n)
	composite := make([]bool, n*size)
	for i := 2; i < len(composite); i++ {
		if composite[i] {
			continue
		}
		counts[i/size]++
		for k := i * i; k < len(composite); k += i {
			composite[k] = true
		}
	}
	return counts
}

func sum(counts []int) (total int) {
	for _, c := range counts {
		total += c
	}
	return total
}

// The judge finds each fault that is planted.
func TestJudgeFindsFaults(t *testing.T) {
	entry := func(what, key, value string, again bool) world.Entry {
		return world.Entry{What: what, Key: key, Value: value, Again: again}
	}
	first, second, total := entry("count", "from-0", "168", false), entry("count", "from-1000", "135", false), entry("sum", "sum", "303", false)
	firstAgain, totalAgain := entry("count", "from-0", "168", true), entry("sum", "sum", "303", true)
	for name, c := range map[string]struct {
		ledger []world.Entry
		faulty bool
	}{
		"right":               {[]world.Entry{first, firstAgain, second, total, totalAgain}, false},
		"one is missing":      {[]world.Entry{first, total}, true},
		"counted twice":       {[]world.Entry{first, first, second, total}, true},
		"counted wrong":       {[]world.Entry{first, entry("count", "from-1000", "134", false), total}, true},
		"wrong sum":           {[]world.Entry{first, second, entry("sum", "sum", "302", false)}, true},
		"sum twice":           {[]world.Entry{first, second, total, total}, true},
		"no sum":              {[]world.Entry{first, second}, true},
		"counted after sum":   {[]world.Entry{first, second, total, firstAgain}, true},
		"one that is unknown": {[]world.Entry{first, second, entry("count", "from-2000", "127", false), total}, true},
	} {
		if faults := judge(slices.Clone(c.ledger), 2); (len(faults) > 0) != c.faulty {
			t.Errorf("%s: the judge found %q", name, faults)
		}
	}
}
