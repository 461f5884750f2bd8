package node

import (
	"context"
	"errors"
	"time"

	"github.com/executor-go/executor/durable/internal/timetable"
	"github.com/executor-go/executor/durable/store"
)

// want has the schedules reviewed.
func (v *reviews) want() { v.wanted.wake() }

// add has a job reviewed.
func (v *reviews) add(l late) {
	v.mu.Lock()
	v.late = append(v.late, l)
	v.mu.Unlock()
	v.want()
}

// saw notes that the clock was set back, and has the schedules reviewed.
func (v *reviews) saw(step time.Duration) {
	v.mu.Lock()
	v.step = step
	v.mu.Unlock()
	v.want()
}

// reviewLoop reviews schedules until ctx ends: once this node has joined, when the clock was set back, and when jobs
// were freed that some node had claimed by the clock as it was.
func (n *Node) reviewLoop(ctx context.Context) {
	outage := n.outage("list")
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.reviews.wanted:
		}
		for {
			err := n.review(ctx)
			if ctx.Err() != nil {
				return
			}
			if outage.over(err) {
				break
			}
			outage.wait(ctx)
		}
	}
}

// reviewPage is how many schedules a review lists at once.
const reviewPage = 500

// review has the schedules of this node's kinds go on from the present that do not. What is paused is left until it is
// resumed.
func (n *Node) review(ctx context.Context) error {
	v := &n.reviews
	v.mu.Lock()
	step, lates := v.step, v.late
	v.mu.Unlock()
	for _, l := range lates {
		opCtx, cancel := n.cfg.opContext(ctx)
		job, err := n.cfg.Store.Get(opCtx, l.id)
		if err == nil && job.Due.Equal(l.due) {
			_, err = n.cfg.SetBack(opCtx, []store.Job{job}, l.found, step, present(n.clock))
		}
		cancel()
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		v.mu.Lock()
		v.late = v.late[1:] // only this goroutine removes some
		v.mu.Unlock()
	}
	for _, kind := range n.cfg.Kinds() {
		now := present(n.clock)
		ahead := store.TimeRange{From: timetable.Ahead(now)}
		for _, f := range []store.Filter{
			{Kind: kind, States: []store.State{store.Waiting}, Updated: ahead, Due: ahead, Limit: reviewPage},
			{Kind: kind, States: []store.State{store.Confirmed, store.Running}, Updated: ahead, Limit: reviewPage},
		} {
			for more := true; more; {
				opCtx, cancel := n.cfg.opContext(ctx)
				page, err := n.cfg.Store.List(opCtx, f)
				if err == nil {
					f.After, more = last(page, f.After), len(page) == f.Limit
					var changed int
					if changed, err = n.cfg.SetBack(opCtx, page, time.Time{}, step, now); changed > 0 {
						n.Wake()
					}
				}
				cancel()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func last(page []store.Job, after store.ID) store.ID {
	if len(page) == 0 {
		return after
	}
	return page[len(page)-1].ID
}
