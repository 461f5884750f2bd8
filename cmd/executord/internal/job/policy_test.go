package job

import (
	"testing"
	"time"
)

// A policy is read as it is written, and no other text is one.
func TestParseOverlap(t *testing.T) {
	for text, want := range map[string]Overlap{
		"": {}, "skip": {}, "queue": {Do: QueueOverlap}, "replace": {Do: ReplaceOverlap},
		"allow 1": {AllowOverlap, 1}, "allow  3": {AllowOverlap, 3}, "allow 100": {AllowOverlap, 100},
	} {
		got, err := ParseOverlap(text)
		again, wrong := ParseOverlap(got.String())
		if got != want || err != nil || again != want || wrong != nil {
			t.Errorf("%q: %+v, error %v; again %+v, error %v", text, got, err, again, wrong)
		}
	}
	for _, text := range []string{"Skip", "allow", "allow 0", "allow -1", "allow 101", "allow x", "queue 2", "replace all", "skip "} {
		if got, err := ParseOverlap(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// A policy is read as it is written, and no other text is one.
func TestParseMisfire(t *testing.T) {
	for text, want := range map[string]Misfire{
		"": {}, "once": {}, "all": {All: true}, "skip": {Within: time.Minute}, "2h": {Within: 2 * time.Hour}, "1s": {Within: time.Second},
	} {
		got, err := ParseMisfire(text)
		again, wrong := ParseMisfire(got.String())
		if got != want || err != nil || again != want || wrong != nil {
			t.Errorf("%q: %+v, error %v; again %+v, error %v", text, got, err, again, wrong)
		}
	}
	for _, text := range []string{"Once", "2", "-1h", "0s", "999ms", "within 2h"} {
		if got, err := ParseMisfire(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
