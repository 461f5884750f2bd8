package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store/rows"
)

// logic is what the methods of a Store do, over rows.
type logic = rows.Store

// A Store is a durable.Store in etcd. Its methods wait for the cluster, for up to ten seconds at a time if
// that does not answer.
type Store struct {
	logic
	home *home
}

// A home has the rows of a store in etcd, and a mirror of them.
type home struct {
	mirror
	clock  clock
	client *clientv3.Client
	prefix string // of the keys
	log    *slog.Logger
	limits limits
	fence  string // the key of the fence of this store, see commit
	acts   numbers
	one    Client // how a member is reached, but for its address
	quiet  *atomic.Bool

	server *embed.Etcd    // the member in this program, if there is one
	going  sync.WaitGroup // calls, and what looks after the store
	close  func() error

	between func() // see storetest.Run; nil but in tests
}

// open returns the store that the client reaches. It closes what it was given if it fails, and when the store is
// closed.
func open(ctx context.Context, c *clientv3.Client, s settings, end func() error) (*Store, error) {
	h := &home{client: c, prefix: cmp.Or(s.Prefix, "executor/"), log: cmp.Or(s.Logger, slog.Default()), limits: memberLimits, one: s.one, quiet: s.quiet}
	h.mirror.init()
	h.clock.init(s.now, s.http)
	h.close = sync.OnceValue(func() error {
		h.mu.Lock()
		h.fail(errClosed)
		h.mu.Unlock()
		h.going.Wait()
		return end()
	})
	if err := h.begin(ctx); err != nil {
		h.close()
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	return &Store{*rows.NewStore(h), h}, nil
}

// settings are what all ways to a store have.
type settings struct {
	Prefix string
	Logger *slog.Logger
	now    func() time.Time // of this machine
	http   *httpClient
	one    Client
	quiet  *atomic.Bool // see zapLogger
}

// begin reads all rows, and keeps the mirror and the clock. What fails because nobody leads it tries again until ctx ends.
func (h *home) begin(ctx context.Context) error {
	for _, step := range []func(context.Context) error{h.agree, h.load, h.fenced, h.askOften} {
		for err := step(ctx); err != nil; err = step(ctx) {
			if ctx.Err() != nil || declined(err) || errors.As(err, new(unreadable)) {
				return err
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
	h.going.Go(func() { h.follow(h.over) })
	h.going.Go(func() { h.keepTime(h.over) })
	return nil
}

// unreadable is an error of rows that this program can't read.
type unreadable struct{ error }

func (e unreadable) Unwrap() error { return e.error }

// enter returns a context for a call, which ends with the store: what the call asks for must not meet a member that has
// ended, so that Close waits until all calls have left.
func (h *home) enter(ctx context.Context) (context.Context, func(), error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if err := context.Cause(h.over); err != nil {
		return nil, nil, err
	}
	h.going.Add(1)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.over, func() { end(context.Cause(h.over)) })
	return ctx, func() { stop(); end(nil); h.going.Done() }, nil
}

// Close closes the store, and ends the membership in this program. It waits for calls under way, which end with an error.
func (s *Store) Close() error { return s.home.close() }

// Now returns the store's time.
func (s *Store) Now(context.Context) (time.Time, error) {
	now, err := s.home.clock.now()
	return now.Truncate(time.Microsecond), err
}

// Listen calls wake whenever a job may be due soon or a running job is to be canceled.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	h := s.home
	woken := make(chan struct{}, 1)
	woken <- struct{}{}
	h.mu.Lock()
	h.listeners[woken] = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, woken)
	}()
	for {
		select {
		case <-woken:
			wake()
		case <-h.over.Done():
			return context.Cause(h.over)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errClosed = errors.New("durable/etcd: the store is closed")

// invalid is an error that matches executor.ErrInvalid, without its text.
type invalid struct{ error }

func (e invalid) Unwrap() []error { return []error{executor.ErrInvalid, e.error} }

func invalidf(format string, args ...any) error {
	return invalid{fmt.Errorf("durable/etcd: "+format, args...)}
}
