package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	mvccpb "go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/rows"
)

// The keys, behind the prefix of the store: those of package rows, and, before them in order,
const (
	keyAct    = "!act"    // the last act: written by all that writes, so that its revision is that of the rows
	keyFence  = "!fence/" // the fence of a store, see commit
	keyImport = "!import" // an import is under way, and all else has to wait
	keySchema = "!schema" // the version of the keys and values
	keyGone   = "!gone/"  // a member that Replace has removed, while there is no room yet for the other one
)

// A mirror has all rows as of one revision. etcd tells it of all that comes after.
type mirror struct {
	mu        sync.RWMutex
	rows      *rows.Rows
	rev       int64           // of the latest act
	moved     chan struct{}   // closed when rev rises
	fenceRev  int64           // of the fence of this store
	importer  string          // the store that rows are imported by, "" for none
	loads     int             // how often all was read
	floor     int64           // of what this store has committed
	doubts    int             // how many acts of this store have an unknown outcome,
	settled   int             // and how many of them can't be committed any more, but up to the floor
	mine      map[string]bool // the acts of this store that wait for an answer: whether they were committed
	listeners map[chan struct{}]bool
	soon      time.Time // a job that is due before this is one to tell the listeners of
	hint      bool      // such a job has come

	over context.Context // ends when there is no mirror any more; its cause says why
	fail context.CancelCauseFunc
}

func (m *mirror) init() {
	m.moved, m.mine, m.listeners = make(chan struct{}), make(map[string]bool), make(map[chan struct{}]bool)
	m.over, m.fail = context.WithCancelCause(context.Background())
}

// near is how soon a job is due that listeners are told of.
const near = 1500 * time.Millisecond

// load reads all rows.
func (h *home) load(ctx context.Context) error {
	m := &mirror{rows: rows.New()}
	from, end := h.prefix, clientv3.GetPrefixRangeEnd(h.prefix)
	limit, rev := int64(64), int64(0)
	for more := true; more; {
		resp, err := h.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithRev(rev),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
		if err != nil {
			return err
		}
		if rev == 0 {
			rev = resp.Header.Revision
		}
		size := 1
		for _, kv := range resp.Kvs {
			if err := h.set(m, kv, false); err != nil {
				return err
			}
			size += len(kv.Value)
			from = string(kv.Key) + "\x00"
		}
		more = resp.More
		limit = min(4*limit, max(1, limit*pageSize/int64(size)), 10_000)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows, h.fenceRev, h.importer = m.rows, m.fenceRev, m.importer
	h.rows.Changed = h.changed
	h.loads++
	h.advanceLocked(rev)
	h.wakeLocked()
	return nil
}

// pageSize is how many bytes are read at a time, as far as what came before tells.
const pageSize = 8 << 20

// set has a mirror have a key as it is now.
func (h *home) set(m *mirror, kv *mvccpb.KeyValue, removed bool) error {
	key := strings.TrimPrefix(string(kv.Key), h.prefix)
	switch {
	case !strings.HasPrefix(key, "!"):
		value := kv.Value
		if removed {
			value = nil
		} else if value == nil {
			value = []byte{}
		}
		if err := m.rows.Set(key, value, kv.ModRevision); err != nil {
			return unreadable{fmt.Errorf("the rows below %q: %w", h.prefix, err)}
		}
	case key == keyAct:
		if _, waits := m.mine[string(kv.Value)]; waits {
			m.mine[string(kv.Value)] = true
		}
	case key == h.fence:
		if m.fenceRev = kv.ModRevision; removed {
			m.fenceRev = 0
		}
	case key == keyImport:
		m.importer = string(kv.Value) // nil if it was removed
	case key == keySchema:
		return newer(kv.Value)
	}
	return nil
}

// newer returns an error if a value of keySchema is that of a later version.
func newer(value []byte) error {
	if v, err := strconv.Atoi(string(value)); err != nil || v > rows.Schema {
		return unreadable{fmt.Errorf("%w: the rows have version %q, and this program knows %d", store.ErrNewerSchema, value, rows.Schema)}
	}
	return nil
}

// agree finds that the version of the rows is known, or writes it if there is none. It writes nothing else: a store is
// opened, and can be read, also if the cluster has no space.
func (h *home) agree(ctx context.Context) error {
	key := h.prefix + keySchema
	resp, err := h.client.Get(ctx, key)
	switch {
	case err != nil:
		return err
	case len(resp.Kvs) > 0:
		return newer(resp.Kvs[0].Value)
	}
	_, err = h.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, strconv.Itoa(rows.Schema))).Commit()
	if err != nil {
		return err
	}
	return h.agree(ctx)
}

// changed notes that a job has changed of which listeners have to know. The caller holds the lock.
func (h *home) changed(j *store.Job) {
	if j.State == store.Waiting && j.Due.Before(h.soon) || j.State.Held() && j.Pending == store.PendingCancel {
		h.hint = true
	}
}

// advanceLocked notes that the mirror has all up to a revision.
func (m *mirror) advanceLocked(rev int64) {
	if rev > m.rev {
		m.rev = rev
		close(m.moved)
		m.moved = make(chan struct{})
	}
}

// follow has the mirror have all that is committed, until ctx ends.
func (h *home) follow(ctx context.Context) {
	for ctx.Err() == nil {
		h.mu.RLock()
		from := h.rev + 1
		h.mu.RUnlock()
		err := h.watch(ctx, from)
		if errors.Is(err, rpctypes.ErrCompacted) {
			err = h.load(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.log.Warn("durable/etcd: changes are not heard of; trying again", "error", err)
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// watch applies what is committed from a revision on. If it can't, there is no mirror any more.
func (h *home) watch(ctx context.Context, from int64) error {
	ctx, stop := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer stop()
	for resp := range h.client.Watch(ctx, h.prefix, clientv3.WithPrefix(), clientv3.WithRev(from)) {
		if err := resp.Err(); err != nil {
			return err
		}
		if err := h.apply(resp.Events); err != nil {
			h.log.Error("durable/etcd: the store can't go on", "error", err)
			h.fail(fmt.Errorf("durable/etcd: %w", err))
			return nil
		}
	}
	return nil
}

// apply has the mirror have what was committed: all of some revisions.
func (h *home) apply(events []*clientv3.Event) error {
	if len(events) == 0 {
		return nil
	}
	now, _ := h.clock.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.soon, h.hint = now.Add(near), false
	for _, e := range events {
		if err := h.set(&h.mirror, e.Kv, e.Type == mvccpb.DELETE); err != nil {
			return err
		}
	}
	h.advanceLocked(events[len(events)-1].Kv.ModRevision)
	if h.hint {
		h.wakeLocked()
	}
	return nil
}

// wakeLocked has Listen wake.
func (m *mirror) wakeLocked() {
	for woken := range m.listeners {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}

// reach waits until the mirror has all up to a revision.
func (h *home) reach(ctx context.Context, rev int64) error {
	there, moved := h.reached(rev)
	if there {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, silence, errSilence)
	defer cancel()
	for ; !there; there, moved = h.reached(rev) {
		select {
		case <-moved:
		case <-h.over.Done():
			return context.Cause(h.over)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// reached reports whether the mirror has all up to a revision, and returns what is closed when it has more.
func (h *home) reached(rev int64) (bool, <-chan struct{}) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.rev >= rev, h.moved
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
