package ui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// BenchmarkPage is what a page costs that nobody has looked at: a look at 100 pools of 8 workers, all that is read of
// 100,000 jobs in memory, and the rendering.
func BenchmarkPage(b *testing.B) {
	o := newObserver(b)
	for i := range 100 {
		p := newPool(b, o, executor.Config{Name: fmt.Sprint("pool ", i), Workers: 8})
		for range 8 {
			hold(b, p, "a task")
		}
	}
	jobs := newJobs(b, nil)
	kind := durable.KindOf[int, int](jobs, "mail")
	payloads := make([]int, 10_000)
	for range 10 {
		if _, err := kind.AddAll(b.Context(), time.Hour, payloads); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, path string
		sources    []ui.Source
	}{
		{"pools", "/", nil},
		{"overview", "/", []ui.Source{{Jobs: jobs}}},
		{"jobs", "/jobs", []ui.Source{{Jobs: jobs}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				get(b, newUI(b, ui.Config{Observer: o, Jobs: c.sources}), c.path)
			}
		})
	}
}
