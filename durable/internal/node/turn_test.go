package node

import (
	"testing"
	"time"
)

// Kinds with a rate are sought when they were passed over for a while, at once when a token came or a claim had all
// that it asked for, and not when a claim had what there was.
func TestTurnArrows(t *testing.T) {
	start := time.Now()
	for _, test := range []struct {
		name   string
		events func(*turn)
		asked  bool
		sought time.Duration // after start; negative for never
	}{
		{"at first", func(*turn) {}, true, -1},
		{"passed over", func(w *turn) { w.pass(start) }, false, minStall},
		{"passed over again", func(w *turn) { w.pass(start); w.pass(start.Add(minStall / 2)) }, false, minStall},
		{"a token", func(w *turn) { w.seek(start) }, false, 0},
		{"a token after passed over", func(w *turn) { w.pass(start); w.seek(start.Add(1)) }, false, 1},
		{"passed over after a token", func(w *turn) { w.seek(start); w.pass(start.Add(1)) }, false, 0},
		{"a second token", func(w *turn) { w.seek(start); w.seek(start.Add(minStall)) }, false, 0},
		{"a token long after passed over", func(w *turn) { w.pass(start); w.seek(start.Add(2 * minStall)) }, false, minStall},
		{"a claim that had what there was", func(w *turn) { w.seek(start); w.ask(start.Add(1), false) }, true, -1},
		{"a claim that had all that it asked for", func(w *turn) { w.pass(start); w.ask(start.Add(1), true) }, false, 1},
		{"passed over after a claim", func(w *turn) { w.ask(start, false); w.pass(start.Add(2)) }, false, minStall + 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w turn
			test.events(&w)
			if w.asked() != test.asked {
				t.Errorf("asked is %t", w.asked())
			}
			if test.sought < 0 {
				if w.sought(start.Add(time.Hour)) {
					t.Error("sought")
				}
				return
			}
			if w.sought(start.Add(test.sought - 1)) {
				t.Error("sought too early")
			}
			if !w.sought(start.Add(test.sought)) {
				t.Error("not sought in time")
			}
		})
	}
}
