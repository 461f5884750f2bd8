package job

import (
	"math"
	"testing"
)

// The classes of ionice are read with their levels, and nothing else is.
func TestParseIONice(t *testing.T) {
	for text, want := range map[string]int{"": 0, "idle": 3 << 13, "best-effort": 2<<13 | 4, "best-effort 0": 2 << 13, "realtime 7": 1<<13 | 7} {
		if got, err := ParseIONice(text); got != want || err != nil {
			t.Errorf("%q: %d, error %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"Idle", "idle 3", "best-effort 8", "best-effort -1", "realtime x", "3", "best-effort "} {
		if got, err := ParseIONice(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// A limit is a name and a number, with a unit or without.
func TestParseLimit(t *testing.T) {
	for text, want := range map[string]uint64{
		"nofile=1024": 1024, "as=2G": 2 << 30, "core=0": 0, "stack=8M": 8 << 20, "fsize=1K": 1 << 10, "data=1T": 1 << 40,
		"memlock=unlimited": math.MaxUint64, "cpu=9223372036854775807": math.MaxInt64,
	} {
		if _, got, err := ParseLimit(text); got != want || err != nil {
			t.Errorf("%q: %d, error %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"files=1", "nofile", "nofile=", "nofile=-1", "nofile=1.5", "as=2GB", "as=G", "as=9000000000G", "cpu=9223372036854775808", "as=infinity"} {
		if name, got, err := ParseLimit(text); err == nil {
			t.Errorf("%q: %s %d", text, name, got)
		}
	}
}
