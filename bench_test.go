package executor_test

import (
	"context"
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
