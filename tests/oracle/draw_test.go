package oracle

import (
	"slices"
	"testing"
)

// Draw returns the same program for the same seed, and none that breaks a rule.
func TestDrawBreaksNoRule(t *testing.T) {
	for seed := range uint64(3000) {
		p := Draw(source(seed))
		if rs := broken(p); len(rs) > 0 {
			t.Fatalf("seed %d breaks %q: %s\n%s", seed, names(rs), rs[0].reason, p)
		}
		if again := Draw(source(seed)); again.String() != p.String() {
			t.Fatalf("seed %d:\n%sand then\n%s", seed, p, again)
		}
	}
}

// Draw makes use of every kind of step, body, queue and policy, and of every keep-alive time.
func TestDrawIsVaried(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(3000) {
		p := Draw(source(seed))
		seen[p.Queue]++
		seen[p.Reject]++
		switch {
		case p.timesOut():
			seen["times out"]++
		case p.Keep == 0:
			seen["no keep-alive"]++
		default:
			seen["for good"]++
		}
		for _, s := range p.Steps {
			seen[s.Do]++
			if s.submits() {
				seen[s.Body]++
			}
		}
	}
	want := append([]string{
		"unbounded", "handoff", "prioritized", "bounded:1", "bounded:2", "bounded:3",
		"times out", "no keep-alive", "for good", "invokeall", "invokeany",
		"ok", "fail", "panic", "stubborn", "cancelself", "spawn", "close", "stop",
	}, policies[:]...)
	for _, d := range drafts {
		want = append(want, d.do...)
	}
	slices.Sort(want)
	for _, name := range slices.Compact(want) {
		if seen[name] < 20 {
			t.Errorf("%s is drawn %d times in 3000 programs", name, seen[name])
		}
	}
}
