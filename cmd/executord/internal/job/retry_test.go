package job

import (
	"math"
	"testing"
	"time"
)

// The wait before an attempt grows by the factor, up to the most.
func TestRetryPauseGrows(t *testing.T) {
	for _, test := range []struct {
		retry Retry
		want  []time.Duration // before attempts 2, 3, ...
	}{
		{Retry{}, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second}},
		{Retry{Wait: time.Minute, Factor: 1}, []time.Duration{time.Minute, time.Minute, time.Minute}},
		{Retry{Wait: time.Minute, Factor: 10, Most: 5 * time.Minute}, []time.Duration{time.Minute, 5 * time.Minute, 5 * time.Minute}},
		{Retry{Wait: time.Minute, Most: time.Second}, []time.Duration{time.Second, time.Second}},
		{Retry{Wait: 2 * time.Hour}, []time.Duration{2 * time.Hour, 2 * time.Hour}},
		{Retry{Wait: -1}, []time.Duration{0, 0}},
		{Retry{Wait: math.MaxInt64 / 2, Factor: 3, Most: math.MaxInt64}, []time.Duration{math.MaxInt64 / 2, math.MaxInt64, math.MaxInt64}},
	} {
		for i, want := range test.want {
			if got := test.retry.Pause(i + 2); got != want {
				t.Errorf("%+v: %v before attempt %d, want %v", test.retry, got, i+2, want)
			}
		}
	}
}
