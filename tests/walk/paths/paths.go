// Command paths walks one warm path of the library many times, for package walk, which builds it with
// counters in each block of the code:
//
//	paths PATH TIMES DIR
//
// It writes the counters of TIMES walks into DIR, and prints how many objects each walk allocated.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/coverage"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor"
)

// path makes what a walk needs, and returns the walk.
type path func() (walk func())

var paths = map[string]path{
	"submit": func() func() {
		pool := executor.Fixed(1)
		return func() { executor.Submit(background, pool, one).Get(background) }
	},
	"go": func() func() {
		pool, done := executor.Fixed(1), make(chan struct{})
		fn := func(context.Context) error { done <- struct{}{}; return nil }
		return func() {
			pool.Go(background, fn)
			<-done
		}
	},
	"group8": func() func() {
		pool := executor.Fixed(2)
		return func() {
			g := executor.NewGroup(background, pool)
			for range 8 {
				g.Go(nothing)
			}
			g.Wait()
		}
	},
	"map8": func() func() {
		pool := executor.Fixed(2)
		seq := slices.Values([]int{1, 2, 3, 4, 5, 6, 7, 8})
		return func() {
			for range executor.Map(background, pool, 2, seq, func(context.Context, int) (int, error) { return 0, nil }) {
			}
		}
	},
	"share": func() func() {
		share, err := executor.Fixed(1).Share(executor.ShareConfig{Limit: 1})
		if err != nil {
			panic(err)
		}
		return func() { executor.Submit(background, share, one).Get(background) }
	},
	"keyed": func() func() {
		keyed := executor.NewKeyed[int](executor.Fixed(1), 1)
		return func() { executor.Submit(background, keyed.For(1), one).Get(background) }
	},
	"retry": func() func() {
		pool := executor.Fixed(1)
		again := executor.Retry(2, func(int) time.Duration { return 0 })
		return func() {
			n := 0
			executor.Submit(background, pool, func(context.Context) (int, error) {
				if n++; n < 2 {
					return 0, executor.ErrNotDone
				}
				return n, nil
			}, again).Get(background)
		}
	},
	"schedule and cancel": func() func() {
		pool := executor.Scheduled(1)
		return func() { executor.SubmitAfter(background, pool, time.Hour, one).Cancel() }
	},
	"periodic run": func() func() {
		pool, runs := executor.Scheduled(1), make(chan struct{})
		_, err := pool.AtFixedRate(background, 0, time.Microsecond, func(context.Context) error {
			runs <- struct{}{}
			return nil
		})
		if err != nil {
			panic(err)
		}
		return func() { <-runs }
	},
}

var background = context.Background()

func one(context.Context) (int, error) { return 1, nil }
func nothing(context.Context) error    { return nil }
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "paths:", err)
		os.Exit(1)
	}
	return v
}

func main() {
	name, times, dir := os.Args[1], must(strconv.Atoi(os.Args[2])), os.Args[3]
	walk := paths[name]()
	for range 1000 { // until it is warm
		walk()
	}
	var before, after runtime.MemStats
	runtime.GC()
	must(0, coverage.ClearCounters())
	runtime.ReadMemStats(&before)
	for range times {
		walk()
	}
	runtime.ReadMemStats(&after)
	must(0, coverage.WriteMetaDir(dir))
	must(0, coverage.WriteCountersDir(dir))
	fmt.Println(float64(after.Mallocs-before.Mallocs) / float64(times))
}
