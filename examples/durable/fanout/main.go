// Command fanout counts the primes below ten million by 10,000 jobs, and one that waits for all of them and adds up.
// The program may be killed at any time: when it is started again, it goes on with the jobs that are left.
//
//	go run ./examples/durable/fanout -crash 3s    # exits without cleanup, as after kill -9
//	go run ./examples/durable/fanout              # continues
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

// size is how many numbers a job looks at.
const size = 1000

func main() {
	n := flag.Int("n", 10_000, "how many jobs count, each a thousand numbers")
	world.Main("primes", func(ctx context.Context, store durable.Store, outside *world.Ledger) error {
		return run(ctx, store, outside, *n)
	})
}

func run(ctx context.Context, store durable.Store, outside *world.Ledger, n int) error {
	workers := executor.Scheduled(100) // the store commits the results of all that end at the same time at once
	defer workers.Close()
	jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second, Executor: workers})
	if err != nil {
		return err
	}
	f := register(jobs, outside)
	sum, err := f.add(ctx, n)
	if err != nil {
		return err
	}
	defer world.Start(ctx, jobs)()
	go show(ctx, jobs, sum)
	primes, err := f.sum.Await(ctx, sum)
	if err == nil {
		fmt.Printf("there are %d primes below %d\n", primes, n*size)
	}
	return err
}

// fan has the kinds: of the jobs that count, and of the one that adds up.
type fan struct {
	jobs  *durable.Jobs
	count *durable.Kind[int, int]
	sum   *durable.Kind[int, int]
}

// register sets the handlers.
func register(jobs *durable.Jobs, outside *world.Ledger) fan {
	count := func(ctx context.Context, from int) (primes int, err error) {
		if from%(50*size) == 0 {
			fmt.Println("counting from", from)
		}
		for i := from; i < from+size; i++ {
			if prime(i) {
				primes++
			}
		}
		job, _ := durable.Current(ctx)
		_, err = outside.Do("count", job.Key, fmt.Sprint(primes))
		return primes, err
	}
	sum := func(ctx context.Context, _ int) (primes int, err error) {
		counts, err := durable.ParentResults[int](ctx)
		if err != nil {
			return 0, err
		}
		for _, c := range counts {
			primes += c
		}
		job, _ := durable.Current(ctx)
		_, err = outside.Do("sum", job.Key, fmt.Sprint(primes))
		return primes, err
	}
	return fan{jobs, durable.Handle(jobs, "count", count), durable.Handle(jobs, "sum", sum)}
}

// add adds n jobs and the one after them, all or none, unless they are there, and returns the ID of that one.
func (f fan) add(ctx context.Context, n int) (durable.ID, error) {
	const key = "sum"
	job, err := f.jobs.Find(ctx, key)
	if err != durable.ErrNotFound {
		return job.ID, err
	}
	var batch []durable.Prepared
	var counts []durable.ID
	for i := range n {
		count := f.count.Prepare(0, i*size, durable.Key(fmt.Sprint("from-", i*size)))
		batch, counts = append(batch, count), append(counts, count.ID())
	}
	sum := f.sum.Prepare(0, n, durable.Key(key), durable.After(counts...))
	ids, err := f.jobs.Add(ctx, append(batch, sum)...)
	if err != nil {
		return durable.ID{}, err
	}
	return ids[n], nil
}

// show prints how many jobs have ended.
func show(ctx context.Context, jobs *durable.Jobs, sum durable.ID) {
	for tick := time.Tick(200 * time.Millisecond); ctx.Err() == nil; <-tick {
		if c, err := jobs.CountParents(ctx, sum); err == nil {
			fmt.Printf("%d of %d\n", c.Succeeded, c.Total)
		}
	}
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}
