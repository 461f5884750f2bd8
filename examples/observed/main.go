// Observed runs pools under load and shows them on a page:
//
//	go run ./examples/observed
//
// It prints the address of the page, and runs until it is interrupted. One pool has work for all
// its workers, one rejects what is too much, one has a task that is stuck, and one has schedules of
// which one fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/ui/debug"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address of the page")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "observed:", err)
		os.Exit(1)
	}
}

// run shows pools under load at an address, which it writes to out, until ctx ends.
func run(ctx context.Context, address string, out io.Writer) error {
	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 200}
	stop, err := work(observer)
	if err != nil {
		return err
	}
	defer stop()

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/executors/", debug.Handler(observer))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Shutdown(context.Background()) })
	fmt.Fprintf(out, "http://%s/debug/executors/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// work starts the pools and their load. stop ends both.
func work(observer *executor.Observer) (stop func(), err error) {
	quiet := slog.New(slog.DiscardHandler)
	var pools []*executor.Pool
	add := func(p *executor.Pool, problem error) *executor.Pool {
		if problem != nil {
			err = errors.Join(err, problem)
		} else {
			pools = append(pools, p)
		}
		return p
	}
	resize := add(executor.New(executor.Config{Name: "thumbnails", Workers: 4, Observer: observer, Logger: quiet}))
	mail := add(executor.New(executor.Config{
		Name: "mail", Workers: 2, Max: 4, Queue: executor.Bounded(100), KeepAlive: 5 * time.Second,
		Observer: observer, Logger: quiet,
	}))
	reports := add(executor.New(executor.Config{Name: "reports", Workers: 3, Observer: observer, Logger: quiet}))
	timers, problem := executor.NewScheduled(executor.ScheduledConfig{
		Name: "timers", Workers: 2, Observer: observer, Logger: quiet,
	})
	if problem != nil {
		return nil, errors.Join(err, problem)
	}
	add(timers.Pool, nil)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithCancel(context.Background())
	err = schedule(ctx, timers)
	reports.Go(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }, executor.Named("yearly report"))
	var loads sync.WaitGroup
	loads.Go(func() { load(ctx, resize, "resize", 25*time.Millisecond, 7*time.Millisecond) })
	loads.Go(func() { load(ctx, mail, "send", 40*time.Millisecond, 9*time.Millisecond) })
	loads.Go(func() { load(ctx, reports, "report", 300*time.Millisecond, 200*time.Millisecond) })
	return func() {
		cancel()
		loads.Wait()
		for _, p := range pools {
			p.ShutdownNow()
			<-p.Terminated()
		}
	}, err
}

// load submits tasks of about the length of takes, one each pause, and sometimes many, until ctx ends.
func load(ctx context.Context, p *executor.Pool, name string, takes, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for n := 0; ; n++ {
		several := 1
		if n%500 == 400 {
			several = 150
		}
		for range several {
			kind := fmt.Sprintf("%s %d", name, rand.N(3)+1)
			p.Go(ctx, func(ctx context.Context) error {
				nap(ctx, time.Duration(rand.ExpFloat64()*float64(takes)))
				if rand.N(50) == 0 {
					return errors.New("no luck")
				}
				return nil
			}, executor.Named(kind)) // an error is counted by the pool
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// nap waits for d, or until ctx ends.
func nap(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// schedule adds periodic work.
func schedule(ctx context.Context, p *executor.ScheduledPool) error {
	short := func(ctx context.Context) error {
		nap(ctx, time.Duration(rand.N(50))*time.Millisecond)
		return nil
	}
	fails := func(context.Context) error { return errors.New("no such host") }
	_, e1 := p.AtFixedRate(ctx, 0, 5*time.Second, short, executor.Named("heartbeat"))
	_, e2 := p.WithFixedDelay(ctx, 0, 20*time.Second, short, executor.Named("clean up"))
	_, e3 := p.AtFixedRate(ctx, time.Second, 15*time.Second, fails, executor.Named("sync clock"))
	_, e4 := p.On(ctx, cron.MustParse("* * * * *"), short, executor.Named("every minute"))
	_, e5 := p.On(ctx, cron.MustParse("30 4 * * mon"), short, executor.Named("weekly report"))
	return errors.Join(e1, e2, e3, e4, e5)
}
