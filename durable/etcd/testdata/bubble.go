package etcd

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	mvccpb "go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/executor-go/executor/durable/store/rows"
)

// NewBubble returns a home whose cluster is a map, for tests in bubbles of testing/synctest, in which there is no
// network: all else is as in a store. The mirror hears of a commit before the commit returns.
func NewBubble(now func() time.Time) rows.Home {
	kv := &bubble{values: make(map[string]*mvccpb.KeyValue), rev: 1}
	client := clientv3.NewCtxClient(context.Background())
	client.KV = kv
	h := &home{client: client, prefix: "bubble/", log: slog.New(slog.DiscardHandler)}
	h.limits = limits{ops: 1 << 30, bytes: 1 << 30} // a map takes as much as memory does
	kv.home = h
	h.mirror.init()
	h.clock.init(now, nil)
	if err := h.agree(context.Background()); err != nil {
		panic(err)
	}
	if err := h.load(context.Background()); err != nil {
		panic(err)
	}
	if err := h.fenced(context.Background()); err != nil {
		panic(err)
	}
	return inBubble{h}
}

// inBubble has each call know the time. Like those of package memory, calls ignore their contexts, which may come from
// elsewhere.
type inBubble struct{ *home }

func (h inBubble) Transact(_ context.Context, decide func(*rows.Tx) error) error {
	c := &h.clock
	c.mu.Lock()
	c.base, c.mu.ahead, c.mu.known = time.Now(), []time.Duration{time.Duration(c.own().UnixNano())}, true
	c.mu.Unlock()
	return h.home.Transact(context.Background(), decide)
}

type bubble struct {
	clientv3.KV
	home   *home
	mu     sync.Mutex
	rev    int64
	values map[string]*mvccpb.KeyValue
}

func (b *bubble) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.get(clientv3.OpGet(key, opts...)), nil
}

func (b *bubble) get(op clientv3.Op) *clientv3.GetResponse {
	r := &clientv3.GetResponse{Header: &pb.ResponseHeader{Revision: b.rev}}
	for key, kv := range b.values {
		from, end := string(op.KeyBytes()), op.RangeBytes()
		if key == from || end != nil && key >= from && key < string(end) {
			r.Kvs = append(r.Kvs, kv)
		}
	}
	slices.SortFunc(r.Kvs, func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) })
	return r
}

func (b *bubble) Put(ctx context.Context, key, value string, _ ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	r, err := b.Txn(ctx).Then(clientv3.OpPut(key, value)).Commit()
	return &clientv3.PutResponse{Header: r.Header}, err
}

func (b *bubble) Txn(context.Context) clientv3.Txn { return &bubbleTxn{b: b} }

type bubbleTxn struct {
	b               *bubble
	cmps            []clientv3.Cmp
	then, otherwise []clientv3.Op
}

func (t *bubbleTxn) If(c ...clientv3.Cmp) clientv3.Txn {
	t.cmps = c
	return t
}

func (t *bubbleTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = ops
	return t
}

func (t *bubbleTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.otherwise = ops
	return t
}

// holds reports whether what is compared is equal.
func (b *bubble) holds(c clientv3.Cmp) bool {
	of := c.GetCompare()
	kv := b.values[string(of.Key)]
	switch want := of.TargetUnion.(type) {
	case *pb.Compare_ModRevision:
		return kv == nil && want.ModRevision == 0 || kv != nil && kv.ModRevision == want.ModRevision
	case *pb.Compare_CreateRevision:
		return kv == nil && want.CreateRevision == 0 || kv != nil && kv.CreateRevision == want.CreateRevision
	case *pb.Compare_Value:
		return kv != nil && bytes.Equal(kv.Value, want.Value)
	}
	panic("not compared here")
}

func (t *bubbleTxn) Commit() (*clientv3.TxnResponse, error) {
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &clientv3.TxnResponse{Succeeded: !slices.ContainsFunc(t.cmps, func(c clientv3.Cmp) bool { return !b.holds(c) })}
	if !r.Succeeded {
		for _, op := range t.otherwise {
			found := &pb.ResponseOp_ResponseRange{ResponseRange: (*pb.RangeResponse)(b.get(op))}
			r.Responses = append(r.Responses, &pb.ResponseOp{Response: found})
		}
		r.Header = &pb.ResponseHeader{Revision: b.rev}
		return r, nil
	}
	b.rev++
	var events []*clientv3.Event
	for _, op := range t.then {
		key := string(op.KeyBytes())
		old := b.values[key]
		kv := &mvccpb.KeyValue{Key: op.KeyBytes(), Value: slices.Clone(op.ValueBytes())}
		kv.ModRevision, kv.CreateRevision = b.rev, b.rev
		e := &clientv3.Event{Type: mvccpb.PUT, Kv: kv}
		switch {
		case op.IsPut():
			if old != nil {
				kv.CreateRevision = old.CreateRevision
			}
			b.values[key] = kv
		case old == nil:
			continue
		default:
			e.Type, kv.Value = mvccpb.DELETE, nil
			delete(b.values, key)
		}
		events = append(events, e)
	}
	r.Header = &pb.ResponseHeader{Revision: b.rev}
	if b.home.rows == nil {
		return r, nil // it is about to be read
	}
	return r, b.home.apply(events)
}
