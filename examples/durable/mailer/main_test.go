package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/examples/durable/internal/killtest"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

func TestMain(m *testing.M) { killtest.Main(m, main) }

// Each letter is sent, however often the program is killed, none again of which the receipt was kept, and never more of
// them than the mail server allows.
func TestLettersAreSentWithinRateAfterKills(t *testing.T) {
	killtest.OnEachStore(t, func(t *testing.T, p *killtest.Program) {
		n, kills := 60, 4
		if os.Getenv("EXECUTOR_LONG") == "" {
			n, kills = 25, 3
		}
		p.Lines, p.Args = n/3, []string{"-n", fmt.Sprint(n)}
		for _, fault := range judge(p.KillUntilItEnds(kills), n, allowed) {
			t.Error(fault)
		}
	})
}

// judge returns what is wrong with what the mail server saw of n letters.
//
// A letter is sent after its token was taken, and a process takes tokens after its start. So from the start of any
// process to the time t its letters are no more than the bucket and what runs into it until t, on a machine however
// slow.
func judge(entries []world.Entry, n int, allowed executor.Rate) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type window struct {
		since time.Time
		sent  int
	}
	var process, all window
	sent := make(map[string]int)
	for _, e := range entries {
		if e.What == "start" {
			process = window{since: e.At}
			if all.since.IsZero() {
				all = process
			}
			continue
		}
		for _, w := range []*window{&process, &all} {
			w.sent++
			d := e.At.Sub(w.since)
			if most := float64(allowed.Burst) + allowed.PerSecond*d.Seconds(); float64(w.sent) > most {
				fault("%d letters were sent within %v: at most %.1f are allowed", w.sent, d, most)
			}
		}
		if e.Again != (sent[e.Key] > 0) {
			fault("%s: the server did not see whether it has the letter: again is %t", e.Key, e.Again)
		}
		sent[e.Key]++
	}
	for i := range n {
		if to := fmt.Sprint("reader-", i+1); sent[to] == 0 {
			fault("%s has no letter", to)
		}
	}
	if len(sent) != n {
		fault("%d readers have letters", len(sent))
	}
	return faults
}

// The judge finds each fault that is planted.
func TestJudgeFindsFaults(t *testing.T) {
	for _, c := range []struct{ ledger, fault string }{
		{"0 start, 0 1, 0 2, 100 3, 200 4, 300 4 again", ""},
		{"0 start, 0 1, 0 2, 99 3, 200 4", "3 letters were sent within 99ms"},
		{"0 start, 0 1, 5000 start, 5000 2, 5000 3, 5000 4", "3 letters were sent within 0s"},
		{"0 start, 0 1, 0 2, 1 start, 1 3, 1 4", "3 letters were sent within 1ms"},
		{"0 start, 500 1, 500 2, 500 4", "reader-3 has no letter"},
		{"0 start, 500 1, 500 2, 500 3, 500 4, 500 4", "reader-4: the server did not see"},
		{"0 start, 500 1, 500 2, 500 3, 500 4, 500 5", "5 readers"},
	} {
		var entries []world.Entry
		for line := range strings.SplitSeq(c.ledger, ", ") {
			f := strings.Fields(line)
			ms := time.Duration(0)
			if _, err := fmt.Sscan(f[0], &ms); err != nil {
				t.Fatal(err)
			}
			e := world.Entry{At: time.Unix(0, 0).Add(ms * time.Millisecond), What: "send", Key: "reader-" + f[1], Again: len(f) > 2}
			if f[1] == "start" {
				e.What = "start"
			}
			entries = append(entries, e)
		}
		killtest.Expect(t, c.ledger, judge(entries, 4, executor.Rate{PerSecond: 10, Burst: 2}), c.fault)
	}
}
