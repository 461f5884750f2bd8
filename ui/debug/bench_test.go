package debug_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

// 100 pools of 8 workers are looked at, and the overview is made.
func BenchmarkOverview(b *testing.B) {
	o := &executor.Observer{Every: 1, MaxNames: 10, MaxEvents: 100}
	for i := range 100 {
		p := newPool(b, o, executor.Config{Name: fmt.Sprint("pool ", i), Workers: 8})
		for j := range 100 {
			p.Go(context.Background(), func(ctx context.Context) error {
				if j >= 90 {
					<-ctx.Done()
				}
				return nil
			}, executor.Named(fmt.Sprint("task ", j%20)))
		}
	}
	for b.Loop() {
		get(b, debug.Handler(o), "/") // one that has not looked yet
	}
}
