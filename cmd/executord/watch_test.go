package main

import (
	"os"
	"testing"
	"time"
)

// A change is reported once, when it has settled, and what is as before is none.
func TestWatchReportsSettledChangesOnce(t *testing.T) {
	names := files(t, "a", "one", "b", "two")
	w := newWatch(sources{names: names, dirs: new([]string), format: &choice{value: "auto"}})
	expect := func(when string, want ...bool) {
		t.Helper()
		for i, want := range want {
			if got := w.changed(); got != want {
				t.Errorf("%s, look %d: changed %v, want %v", when, i+1, got, want)
			}
		}
	}
	set := func(name, text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now().Truncate(time.Second)
	expect("at the begin", false, false)
	set(names[1], "more", begin)
	expect("written", false, true, false, false)
	set(names[0], "two", begin.Add(time.Second))
	expect("of the same size", false)
	set(names[0], "two", begin.Add(2*time.Second))
	expect("still being written", false, true, false)
	set(names[0], "six", begin.Add(3*time.Second))
	expect("changed", false)
	set(names[0], "two", begin.Add(2*time.Second))
	expect("and back", false, false, false)
	if err := os.Remove(names[1]); err != nil {
		t.Fatal(err)
	}
	expect("removed", false, true, false)
}
