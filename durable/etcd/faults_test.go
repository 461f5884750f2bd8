package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// A line is the way to a cluster, on which a request goes wrong.
type line struct {
	clientv3.KV
	mu   sync.Mutex
	kind string
	nth  int
	met  bool
	// meanwhile, if not nil, is called before the caller of a request that comes late is told that its answer is lost.
	// The request comes when hold is closed, and came tells when it was answered.
	meanwhile  func()
	hold, came chan struct{}
}

var lineFaults = []string{"the request is lost", "the answer is lost", "the request comes late"}

func (l *line) plant(kind string, nth int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kind, l.nth, l.met = kind, nth, false
}

func (l *line) remove() (met bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nth = 0
	return l.met
}

// carry carries a request out, or not.
func carry[R any](ctx context.Context, l *line, request func(context.Context) (R, error)) (none R, err error) {
	l.mu.Lock()
	l.nth--
	kind := ""
	if l.nth == 0 {
		kind, l.met = l.kind, true
	}
	l.mu.Unlock()
	switch kind {
	case "":
		return request(ctx)
	case lineFaults[1]:
		request(ctx)
	case lineFaults[2]:
		late := context.WithoutCancel(ctx)
		if l.meanwhile == nil {
			time.AfterFunc(20*time.Millisecond, func() { request(late) })
			break
		}
		go func() {
			defer close(l.came)
			<-l.hold
			request(late)
		}()
		l.meanwhile()
	}
	return none, context.DeadlineExceeded
}

func (l *line) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return carry(ctx, l, func(ctx context.Context) (*clientv3.GetResponse, error) { return l.KV.Get(ctx, key, opts...) })
}

func (l *line) Put(ctx context.Context, key, value string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return carry(ctx, l, func(ctx context.Context) (*clientv3.PutResponse, error) { return l.KV.Put(ctx, key, value, opts...) })
}

func (l *line) Txn(ctx context.Context) clientv3.Txn { return &lineTxn{l: l, ctx: ctx} }

type lineTxn struct {
	l               *line
	ctx             context.Context
	cmps            []clientv3.Cmp
	then, otherwise []clientv3.Op
}

func (t *lineTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	t.cmps = c
	return t
}

func (t *lineTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = ops
	return t
}

func (t *lineTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.otherwise = ops
	return t
}

func (t *lineTxn) Commit() (*clientv3.TxnResponse, error) {
	return carry(t.ctx, t.l, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return t.l.KV.Txn(ctx).If(t.cmps...).Then(t.then...).Else(t.otherwise...).Commit()
	})
}

// Whichever request or answer is lost, or comes late, each call takes effect once and tells what is so.
func TestStoreFaults(t *testing.T) {
	all := members(t, 1, nil)
	storetest.RunFaults(t, func(t *testing.T) (store.Store, storetest.Faults) {
		s := all[0].another(t)
		l := &line{KV: s.home.client.KV}
		s.home.client.KV = l
		return s, storetest.Faults{Kinds: lineFaults, Plant: l.plant, Met: l.remove}
	})
}

// An act that was committed though the cluster says that it has no space is done, and one that was not is refused.
func TestStoreKnowsWhatWasDoneWithoutSpace(t *testing.T) {
	s := members(t, 1, nil)[0]
	kv := s.home.client.KV
	for _, done := range []bool{true, false} {
		s.home.client.KV = noSpace{kv, done}
		id := store.NewID()
		_, err := s.Insert(t.Context(), []store.NewJob{{ID: id, Kind: "k", Schedule: store.Once, Attempts: 1}}, store.Placement{})
		if done != (err == nil) || !done && !errors.Is(err, store.ErrFull) {
			t.Errorf("the insert was done: %v, and the error is %v", done, err)
		}
		if _, err := s.Get(t.Context(), id); done != (err == nil) {
			t.Errorf("the insert was done: %v, and then the error is %v", done, err)
		}
	}
}

// noSpace is a cluster that has no space left, which it notices before or after what it is asked for.
type noSpace struct {
	clientv3.KV
	after bool
}

func (n noSpace) Txn(ctx context.Context) clientv3.Txn { return &noSpaceTxn{n.KV.Txn(ctx), n.after} }

func (n noSpace) Put(context.Context, string, string, ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return nil, rpctypes.ErrNoSpace
}

type noSpaceTxn struct {
	clientv3.Txn
	after bool
}

func (t *noSpaceTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	t.Txn = t.Txn.If(c...)
	return t
}

func (t *noSpaceTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.Txn = t.Txn.Then(ops...)
	return t
}

func (t *noSpaceTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.Txn = t.Txn.Else(ops...)
	return t
}

func (t *noSpaceTxn) Commit() (*clientv3.TxnResponse, error) {
	if t.after {
		t.Txn.Commit()
	}
	return nil, rpctypes.ErrNoSpace
}

// A call that the cluster does not answer is not asked without a pause, and ends with what there was for an answer.
func TestSilenceEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		err := new(home).insist(t.Context(), func(context.Context) error { asked++; return rpctypes.ErrCorrupt })
		if !errors.Is(err, errSilence) || !errors.Is(err, rpctypes.ErrCorrupt) || asked > 1000 {
			t.Errorf("asked %d times, the error is %v", asked, err)
		}
		err = new(home).insist(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if err != errSilence {
			t.Errorf("the error is %v", err)
		}
	})
}

// A call that waits for the cluster ends with the store.
func TestCloseEndsCalls(t *testing.T) {
	s := members(t, 1, nil)[0]
	other := s.beside(t, s.home.prefix)
	asked := make(chan struct{}, 9)
	other.home.client.KV = silent{other.home.client.KV, asked}
	ended := make(chan error)
	go func() {
		_, err := other.Get(t.Context(), store.NewID())
		ended <- err
	}()
	<-asked
	began := time.Now()
	other.Close()
	if err := <-ended; !errors.Is(err, errClosed) || time.Since(began) > silence/2 {
		t.Errorf("after %v the error is %v", time.Since(began), err)
	}
	for range 9 { // the member ends after them
		go func() {
			for {
				s.Members(t.Context())
				if _, err := s.Get(t.Context(), store.NewID()); !errors.Is(err, store.ErrNotFound) {
					ended <- err
					return
				}
			}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	s.Close()
	for range 9 {
		if err := <-ended; !errors.Is(err, errClosed) {
			t.Errorf("the error is %v", err)
		}
	}
}

// silent is a cluster that does not answer.
type silent struct {
	clientv3.KV
	asked chan<- struct{}
}

func (s silent) Get(ctx context.Context, _ string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A store is opened whichever request or answer of that is lost, as when the lead changes hands.
func TestOpenTriesAgain(t *testing.T) {
	s := members(t, 1, nil)[0]
	id := insert(t, s)
	for nth, met := 1, true; met; nth++ {
		met = false
		for _, kind := range lineFaults[:2] {
			client := v3client.New(s.home.server.Server)
			l := &line{KV: client.KV}
			l.plant(kind, nth)
			client.KV = l
			set := settings{Prefix: s.home.prefix, Logger: s.home.log, http: s.home.clock.http, quiet: new(atomic.Bool)}
			again, err := open(t.Context(), client, set, func() error { client.Close(); return nil })
			if met = l.remove(); err != nil {
				t.Fatalf("%s, %d: %v", kind, nth, err)
			}
			if _, err := again.Get(t.Context(), id); err != nil {
				t.Error(err)
			}
			again.Close()
		}
	}
}

// A claim that comes late does not give a node a job that it does not know of.
func TestStoreRefusesWhatComesLate(t *testing.T) {
	s := members(t, 1, nil)[0]
	other := s.beside(t, s.home.prefix)
	l := &line{KV: s.home.client.KV, hold: make(chan struct{}), came: make(chan struct{})}
	s.home.client.KV = l
	add := func(s *Store, p store.Priority) store.ID {
		id := store.NewID()
		_, err := s.Insert(t.Context(), []store.NewJob{{ID: id, Kind: "k", Schedule: store.Once, Attempts: 1, Priority: p}}, store.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if _, err := s.Join(t.Context(), "n", time.Hour); err != nil {
		t.Fatal(err)
	}
	first, second := add(s, store.Normal), store.ID{}
	l.meanwhile = func() { second = add(other, store.High) }
	l.plant(lineFaults[2], 1)
	c, err := s.Claim(t.Context(), store.ClaimRequest{Node: "n", Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}})
	if err != nil || len(c.Jobs) != 1 || c.Jobs[0].ID != second {
		t.Fatalf("claimed %+v, %v, want the more urgent job", c.Jobs, err)
	}
	close(l.hold)
	<-l.came
	if j, err := s.Get(t.Context(), first); err != nil || j.State != store.Waiting {
		t.Errorf("the other job is %v, %v, want waiting", j.State, err)
	}
}
