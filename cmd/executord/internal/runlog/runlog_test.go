package runlog

import (
	"log/slog"
	"math"
	"testing"
	"time"
)

// Durations have four digits in text, or are exact to the millisecond.
func TestLogShortensDurationsInText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1_234_567: "1.235ms", 9_999_999: "10ms", 12*time.Hour + 34*time.Minute + 56*time.Second: "12h34m56s",
		-1_234_567: "-1.235ms", math.MaxInt64: "2562047h47m16.854775807s",
	} {
		if got := shortInText(nil, slog.Duration("d", d)).Value.String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
