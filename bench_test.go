package executor_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/executor-go/executor"
)

// The cost of a fire-and-forget task, admission to end.
func BenchmarkGo(b *testing.B) {
	p := executor.Fixed(2)
	ctx := context.Background()
	f := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		p.Go(ctx, f)
	}
	p.Close()
}

// The cost of a task with a future that is not waited for.
func BenchmarkSubmitBatch(b *testing.B) {
	p := executor.Fixed(2)
	ctx := context.Background()
	f := func(context.Context) (int, error) { return 0, nil }
	b.ReportAllocs()
	for b.Loop() {
		executor.Submit(ctx, p, f)
	}
	p.Close()
}

// The cost of a timeout that is canceled in time, as most are.
func BenchmarkScheduleCancel(b *testing.B) {
	p := executor.Scheduled(2)
	ctx := context.Background()
	f := func(context.Context) (int, error) { return 0, nil }
	b.ReportAllocs()
	for b.Loop() {
		executor.Schedule(ctx, p, time.Hour, f).Cancel()
	}
	p.Close()
}

// The cost of a task that does nothing, where one in so many is measured.
func BenchmarkObserved(b *testing.B) {
	for _, every := range []int{0, 64, 1} {
		b.Run("every="+strconv.Itoa(every), func(b *testing.B) {
			p := executor.Fixed(2)
			if every > 0 {
				newObserver(b, executor.ObserverConfig{Every: every}).Watch(p)
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				p.Go(ctx, nop)
			}
			p.Close()
		})
	}
}
