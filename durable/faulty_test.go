package durable_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
)

var (
	errDown = errors.New("store is down")
	errLost = errors.New("answer was lost")
)

// faulty is a node's connection to a store that can fail: before the call takes
// effect, or after it.
type faulty struct {
	durable.Store
	skew time.Duration // of the store's clock against this machine's

	mu sync.Mutex
	// fault is asked before each call; err1 makes it fail without effect, err2
	// after it took effect. It may sleep.
	fault func(op string) (err1, err2 error)
	calls map[string]int
	late  map[string]time.Duration // how long an answer takes, after the call took effect
	// around, unless nil, makes the calls in place of all that.
	around func(op string, call func() error) error
}

func newFaulty(s durable.Store) *faulty {
	return &faulty{Store: s, calls: make(map[string]int), late: make(map[string]time.Duration)}
}

// set changes the fault; nil means none.
func (f *faulty) set(fault func(op string) (error, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *faulty) down()      { f.set(func(string) (error, error) { return errDown, nil }) }
func (f *faulty) up()        { f.set(nil) }
func (f *faulty) count() int { f.mu.Lock(); defer f.mu.Unlock(); return f.calls["all"] }

// callsOf gives how many calls there were of that sort.
func (f *faulty) callsOf(op string) int { f.mu.Lock(); defer f.mu.Unlock(); return f.calls[op] }

// delay sets how long the answers to calls of that sort take.
func (f *faulty) delay(op string, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late[op] = d
}

func (f *faulty) do(op string, call func() error) error {
	f.mu.Lock()
	fault, around := f.fault, f.around
	f.calls[op]++
	f.calls["all"]++
	f.mu.Unlock()
	if around != nil {
		return around(op, call)
	}
	var err1, err2 error
	if fault != nil {
		err1, err2 = fault(op)
	}
	if err1 != nil {
		return err1
	}
	err := call()
	f.mu.Lock()
	late := f.late[op]
	f.mu.Unlock()
	time.Sleep(late)
	return errors.Join(err, err2)
}

func (f *faulty) Insert(ctx context.Context, jobs []durable.NewJob, p durable.Placement) (r []durable.InsertResult, err error) {
	err = f.do("insert", func() (err error) {
		for i := range jobs {
			if !jobs[i].Due.IsZero() {
				jobs[i].Due = jobs[i].Due.Add(-f.skew)
			}
		}
		r, err = f.Store.Insert(ctx, jobs, p)
		for i := range r {
			r[i].Now = r[i].Now.Add(f.skew)
			f.shift(&r[i].Job)
		}
		return err
	})
	return r, err
}

func (f *faulty) shift(j *durable.Job) {
	j.Due, j.Occurrence, j.Anchor = j.Due.Add(f.skew), j.Occurrence.Add(f.skew), j.Anchor.Add(f.skew)
}

func (f *faulty) Join(ctx context.Context, node string, lease time.Duration) (t time.Time, err error) {
	err = f.do("join", func() (err error) { t, err = f.Store.Join(ctx, node, lease); return err })
	return t.Add(f.skew), err
}

func (f *faulty) Heartbeat(ctx context.Context, node string, lease time.Duration, w durable.Watch) (p durable.HeartbeatResult, err error) {
	err = f.do("heartbeat", func() (err error) { p, err = f.Store.Heartbeat(ctx, node, lease, w); return err })
	p.Now = p.Now.Add(f.skew)
	return p, err
}

func (f *faulty) Leave(ctx context.Context, node string) error {
	return f.do("leave", func() error { return f.Store.Leave(ctx, node) })
}

func (f *faulty) Claim(ctx context.Context, r durable.ClaimRequest) (c durable.ClaimResult, err error) {
	err = f.do("claim", func() (err error) { c, err = f.Store.Claim(ctx, r); return err })
	c.Now = c.Now.Add(f.skew)
	for i := range c.Jobs {
		f.shift(&c.Jobs[i])
	}
	return c, err
}

func (f *faulty) Release(ctx context.Context, node string, keep []durable.ID) (left bool, err error) {
	err = f.do("release", func() (err error) { left, err = f.Store.Release(ctx, node, keep); return err })
	return left, err
}

func (f *faulty) Now(ctx context.Context) (t time.Time, err error) {
	err = f.do("now", func() (err error) { t, err = f.Store.Now(ctx); return err })
	return t.Add(f.skew), err
}

func (f *faulty) Commit(ctx context.Context, b durable.CommitRequest) (s durable.CommitResult, err error) {
	err = f.do("commit", func() (err error) {
		for i := range b.Outcomes {
			o := &b.Outcomes[i]
			o.Due, o.Occurrence = o.Due.Add(-f.skew), o.Occurrence.Add(-f.skew)
		}
		for i := range b.Confirms {
			if c := &b.Confirms[i]; !c.Occurrence.IsZero() {
				c.Occurrence = c.Occurrence.Add(-f.skew)
			}
		}
		s, err = f.Store.Commit(ctx, b)
		return err
	})
	s.Now = s.Now.Add(f.skew)
	return s, err
}

func (f *faulty) Change(ctx context.Context, id durable.ID, c durable.Change) (a durable.Answer, err error) {
	if !c.Due.IsZero() {
		c.Due = c.Due.Add(-f.skew)
	}
	err = f.do("change", func() (err error) { a, err = f.Store.Change(ctx, id, c); return err })
	return a, err
}

func (f *faulty) Get(ctx context.Context, id durable.ID) (j durable.Job, err error) {
	err = f.do("get", func() (err error) { j, err = f.Store.Get(ctx, id); return err })
	f.shift(&j)
	return j, err
}
