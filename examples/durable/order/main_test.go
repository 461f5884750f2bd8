package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/executor-go/executor/examples/durable/internal/killtest"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

func TestMain(m *testing.M) { killtest.Main(m, main) }

// Orders end right, however often the program is killed: each is charged and shipped once, none without the decision
// that it needs, and no step is done again after its receipt was kept.
func TestOrdersEndRightAfterKills(t *testing.T) {
	killtest.OnEachStore(t, func(t *testing.T, p *killtest.Program) {
		n, kills := 12, 4
		if os.Getenv("EXECUTOR_LONG") == "" {
			n, kills = 6, 3
		}
		decided := make(map[string]bool)
		p.Steps, p.Args = true, []string{"-n", fmt.Sprint(n)}
		p.Heard = func(line string) { // the human
			order, _, waits := strings.Cut(line, " of ")
			switch {
			case !waits || !strings.Contains(line, "-approve") || decided[order]:
			case order == "order-3":
				decided[order] = true
				p.Run("-decline", order)
			default:
				decided[order] = true
				p.Run("-approve", order)
			}
		}
		for _, fault := range judge(p.KillUntilItEnds(kills), n) {
			t.Error(fault)
		}
	})
}

// judge returns what is wrong with what the outside saw of n orders, of which a human has declined the third.
func judge(entries []world.Entry, n int) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type request struct{ what, key string }
	done := make(map[request]bool)
	times := make(map[request]int)
	for _, e := range entries {
		did := func(what string) bool { return done[request{what, e.Key}] }
		large := e.Value == "110"
		if e.Again != did(e.What) {
			fault("%s %s: again is %t", e.What, e.Key, e.Again)
		}
		if !e.Again {
			times[request{e.What, e.Key}]++
		}
		done[request{e.What, e.Key}] = true
		switch {
		case e.What == "reserve" && (did("ask") || did("charge") || did("return")):
			fault("%s was reserved after a later step", e.Key)
		case e.What == "ask" && (did("charge") || did("return")):
			fault("%s: somebody was asked after a later step", e.Key)
		case e.What == "charge" && (!did("reserve") || did("ship") || did("refuse")):
			fault("%s was charged in a wrong order", e.Key)
		case e.What == "ship" && !did("charge"):
			fault("%s was shipped before it was charged", e.Key)
		case (e.What == "charge" || e.What == "ship") && large && (!did("approve") || did("decline")):
			fault("%s: %s without an approval", e.Key, e.What)
		case e.What == "return" && !did("decline"):
			fault("%s was returned, and nobody has declined it", e.Key)
		}
	}
	for i := range n {
		order := fmt.Sprint("order-", i+1)
		want := map[string]int{"reserve": 1, "charge": 1, "ship": 1}
		switch {
		case order == "order-3":
			want = map[string]int{"reserve": 1, "ask": 1, "decline": 1, "return": 1}
		case i%3 == 2:
			want["ask"], want["approve"] = 1, 1
		case i%3 == 1:
			want["refuse"] = 1
		}
		for _, what := range []string{"reserve", "ask", "approve", "decline", "charge", "refuse", "ship", "return"} {
			if got := times[request{what, order}]; got != want[what] {
				fault("%s: %s was done %d times, want %d", order, what, got, want[what])
			}
		}
	}
	return faults
}

// The judge finds each fault that is planted.
func TestJudgeFindsFaults(t *testing.T) {
	const right = "reserve order-1 10, charge order-1 10, charge order-1 10 again, ship order-1 10, " +
		"reserve order-2 60, charge order-2 60, refuse order-2 -, ship order-2 60, " +
		"reserve order-3 110, ask order-3 110, decline order-3 -, return order-3 110"
	for _, c := range []struct{ old, new, fault string }{
		{"", "", ""},
		{"charge order-1 10 again", "charge order-1 10", "order-1: charge was done 2 times"},
		{"ship order-1 10, ", "", "order-1: ship was done 0 times"},
		{"ship order-2 60, ", "ship order-2 60, charge order-2 60 again, ", "order-2 was charged in a wrong order"},
		{"return order-3 110", "charge order-3 110", "order-3: charge without an approval"},
		{"return order-3 110", "charge order-3 110, ship order-3 110", "order-3: ship without an approval"},
		{"decline order-3 -, ", "", "order-3 was returned, and nobody"},
		{"ship order-1 10, ", "ship order-1 10, reserve order-1 10 again, ", "order-1 was reserved after"},
	} {
		var entries []world.Entry
		for line := range strings.SplitSeq(strings.Replace(right, c.old, c.new, 1), ", ") {
			f := strings.Fields(line)
			entries = append(entries, world.Entry{What: f[0], Key: f[1], Value: f[2], Again: len(f) > 3})
		}
		killtest.Expect(t, fmt.Sprintf("%q for %q", c.new, c.old), judge(entries, 3), c.fault)
	}
}
