// Shaping sends news about documents, and bounds how much of what is done at the same time, and how often:
//
//	go run ./examples/shaping
//
// A document that changes often is indexed when it has been left alone for a second. Mails are sent two at a time and
// ten in a second. Reports take two of the workers at most; so they leave room for the rest, and what is too much is
// refused. A status is shown once in a second at most.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/executor-go/executor"
)

func main() {
	s, err := newShaper(16)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shaping:", err)
		os.Exit(1)
	}
	ctx, start := context.Background(), time.Now()
	at := func(what string, takes time.Duration) func(context.Context) error {
		return func(context.Context) error {
			fmt.Printf("%6.2f s %s\n", time.Since(start).Seconds(), what)
			time.Sleep(takes)
			return nil
		}
	}
	for i := range 15 {
		s.mail.Go(ctx, at(fmt.Sprint("mail ", i), 50*time.Millisecond))
		s.index.call(ctx, at("index", 0))
		s.status.Go(ctx, at(fmt.Sprint("status ", i), 0))
		if err := s.reports.Go(ctx, at(fmt.Sprint("report ", i), time.Second)); err != nil {
			fmt.Println("         report", i, "refused:", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.close()
}

// shaper has one pool of workers and a share of it for each kind of work.
type shaper struct {
	pool    *executor.ScheduledPool
	mail    *executor.Pool // 2 at a time, 10 in a second; what is too much waits
	reports *executor.Pool // 2 at a time, and 4 that wait; what is too much is refused
	status  *executor.Pool // 1 in a second; what is too much is refused
	index   quiet          // what has not changed for a second
}

func newShaper(workers int) (*shaper, error) {
	s := &shaper{pool: executor.Scheduled(workers)}
	s.index.pool, s.index.after = s.pool, time.Second
	var e1, e2, e3 error
	s.mail, e1 = s.pool.Share(executor.ShareConfig{Name: "mail", Limit: 2, Rate: executor.Rate{PerSecond: 10}})
	s.reports, e2 = s.pool.Share(executor.ShareConfig{Name: "reports", Limit: 2, Queue: executor.Bounded(4)})
	once := executor.Rate{PerSecond: 1}
	s.status, e3 = s.pool.Share(executor.ShareConfig{Name: "status", Rate: once, Queue: executor.Handoff()})
	return s, errors.Join(e1, e2, e3)
}

// close finishes all work.
func (s *shaper) close() { s.pool.Close() }

// quiet runs a function once when there was no call for a while.
type quiet struct {
	pool  *executor.ScheduledPool
	after time.Duration

	mu   sync.Mutex
	next *executor.Future[struct{}] // of what is due, or has run; nil at first
}

// call puts off what is due. What has begun goes on.
func (q *quiet) call(ctx context.Context, fn func(context.Context) error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next != nil {
		q.pool.Remove(q.next)
	}
	next, err := q.pool.GoAfter(ctx, q.after, fn)
	q.next = next
	return err
}
