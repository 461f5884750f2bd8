//go:build linux

package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

var (
	errDown = errors.New("the store is down")
	errLost = errors.New("the answer was lost")
)

// A line is what a node of a program has of the store: calls fail, come late, and lose their answers.
type line struct {
	store.Full
	asks *sync.WaitGroup // has the calls that come late

	mu struct {
		sync.Mutex
		draw *rand.Rand
		calm bool      // nothing goes wrong any more
		dead bool      // the node was killed
		cut  time.Time // until then all calls fail
	}
}

func newLine(s store.Full, asks *sync.WaitGroup, draw *rand.Rand) *line {
	l := &line{Full: s, asks: asks}
	l.mu.draw = draw
	return l
}

func (l *line) calm() { l.mu.Lock(); defer l.mu.Unlock(); l.mu.calm = true }
func (l *line) die()  { l.mu.Lock(); defer l.mu.Unlock(); l.mu.dead = true }

func (l *line) cut(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.cut = time.Now().Add(d)
}

// lateBy is how much later than it was given up a call comes: less than a lease.
const lateBy = 700 * time.Millisecond

// fate returns how a call fails: before it takes effect, after that, or as one that is given up and comes late.
func (l *line) fate() (pause time.Duration, before, after error, late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch k := l.mu.draw.IntN(200); {
	case l.mu.dead:
		before = errDown
	case l.mu.calm:
	case time.Now().Before(l.mu.cut), k < 4:
		before = errDown
	case k < 10:
		after = errLost
	case k < 20:
		pause = time.Duration(l.mu.draw.IntN(300)) * time.Millisecond
	case k < 24:
		l.asks.Add(1) // under the lock, so that none is added after calm
		late = true
	}
	return pause, before, after, late
}

// by makes a call by a line, which may come late.
func by[T any](l *line, call func() (T, error)) (v T, err error) { return byOr(l, true, call) }

// byOr makes a call by a line.
func byOr[T any](l *line, mayBeLate bool, call func() (T, error)) (v T, err error) {
	pause, before, after, late := l.fate()
	time.Sleep(pause)
	switch {
	case before != nil:
		return v, before
	case late && mayBeLate:
		go func() {
			defer l.asks.Done()
			time.Sleep(lateBy)
			call()
		}()
		return v, errLost
	case late:
		l.asks.Done()
	}
	v, err = call()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.dead || after != nil {
		var none T
		return none, errLost
	}
	return v, err
}

func (l *line) Insert(ctx context.Context, jobs []durable.NewJob, p store.Placement) ([]durable.InsertResult, error) {
	return by(l, func() ([]durable.InsertResult, error) { return l.Full.Insert(ctx, jobs, p) })
}

func (l *line) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	return by(l, func() (time.Time, error) { return l.Full.Join(ctx, node, lease) })
}

func (l *line) Heartbeat(ctx context.Context, node string, lease time.Duration, w store.Watch) (store.HeartbeatResult, error) {
	return by(l, func() (store.HeartbeatResult, error) { return l.Full.Heartbeat(ctx, node, lease, w) })
}

func (l *line) Leave(ctx context.Context, node string) error {
	_, err := by(l, func() (int, error) { return 0, l.Full.Leave(ctx, node) })
	return err
}

func (l *line) Claim(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return by(l, func() (store.ClaimResult, error) { return l.Full.Claim(ctx, r) })
}

func (l *line) ClaimLimited(ctx context.Context, r store.ClaimRequest) (store.ClaimResult, error) {
	return by(l, func() (store.ClaimResult, error) { return l.Full.ClaimLimited(ctx, r) })
}

func (l *line) ClaimQueue(ctx context.Context, queue string, r store.ClaimRequest) (store.ClaimResult, error) {
	return by(l, func() (store.ClaimResult, error) { return l.Full.ClaimQueue(ctx, queue, r) })
}

func (l *line) Release(ctx context.Context, node string, keep []durable.ID) (bool, error) {
	// Late, it would free what was claimed since. Stores see to that: see store.Store.
	return byOr(l, false, func() (bool, error) { return l.Full.Release(ctx, node, keep) })
}

func (l *line) Commit(ctx context.Context, r store.CommitRequest) (store.CommitResult, error) {
	return by(l, func() (store.CommitResult, error) { return l.Full.Commit(ctx, r) })
}

func (l *line) Change(ctx context.Context, id durable.ID, c durable.Change) (durable.Answer, error) {
	return by(l, func() (durable.Answer, error) { return l.Full.Change(ctx, id, c) })
}

func (l *line) KeepStep(ctx context.Context, of store.Ref, k durable.KeptStep) (result []byte, ok bool, err error) {
	type answer struct {
		result []byte
		ok     bool
	}
	a, err := by(l, func() (a answer, err error) {
		a.result, a.ok, err = l.Full.KeepStep(ctx, of, k)
		return a, err
	})
	return a.result, a.ok && err == nil, err
}

func (l *line) KeptSteps(ctx context.Context, id durable.ID) ([]durable.KeptStep, error) {
	return by(l, func() ([]durable.KeptStep, error) { return l.Full.KeptSteps(ctx, id) })
}

func (l *line) Signal(ctx context.Context, id durable.ID, name string, payload []byte) (durable.Answer, error) {
	return by(l, func() (durable.Answer, error) { return l.Full.Signal(ctx, id, name, payload) })
}

func (l *line) DrainNode(ctx context.Context, node string, drain bool) (bool, error) {
	return by(l, func() (bool, error) { return l.Full.DrainNode(ctx, node, drain) })
}
