package alarm_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkLateness measures how late an idle process wakes up, with an alarm and with
// an ordinary timer in turns: one wait of up to five milliseconds an operation.
//
//	go test -run '^$' -bench Lateness -benchtime 1000x ./internal/alarm
func BenchmarkLateness(b *testing.B) {
	a := newBell()
	defer a.Close()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	var alarmed, timed []time.Duration
	for b.Loop() {
		d := time.Millisecond + rand.N(4*time.Millisecond)

		due := time.Now().Add(d)
		a.Set(d)
		a.Wait()
		alarmed = append(alarmed, time.Since(due))

		due = time.Now().Add(d)
		timer.Reset(d)
		<-timer.C
		timed = append(timed, time.Since(due))
	}
	for _, m := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		a, t := quantile(alarmed, m.at), quantile(timed, m.at)
		b.ReportMetric(a, "alarm-"+m.name+"-us")
		b.ReportMetric(t, "timer-"+m.name+"-us")
		b.ReportMetric(t/a, "timer/alarm-"+m.name)
	}
}

func quantile(ds []time.Duration, at float64) float64 {
	slices.Sort(ds)
	return float64(ds[int(at*float64(len(ds)-1))]) / float64(time.Microsecond)
}

// BenchmarkSetLater measures settings that are later than the one before, as most are.
func BenchmarkSetLater(b *testing.B) {
	a := newBell()
	defer a.Close()
	d := time.Hour
	for b.Loop() {
		d += time.Microsecond
		a.Set(d)
	}
}

// BenchmarkSetEarlier measures settings that are earlier than the one before.
func BenchmarkSetEarlier(b *testing.B) {
	a := newBell()
	defer a.Close()
	d := 24 * 365 * time.Hour
	for b.Loop() {
		d -= time.Microsecond
		a.Set(d)
	}
}

// BenchmarkTimerReset measures the timer alone.
func BenchmarkTimerReset(b *testing.B) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	d := time.Hour
	for b.Loop() {
		d += time.Microsecond
		timer.Reset(d)
	}
}
