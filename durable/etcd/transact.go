package etcd

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/rows"
)

// limits are what one transaction may have.
type limits struct{ ops, bytes int }

// memberLimits are those of members.
var memberLimits = limits{ops: 100_000, bytes: 32 << 20}

// overhead is how many bytes an operation, or a comparison, takes besides its key and value, at most.
const overhead = 24

// patience is how long a request waits for its answer: if the leader dies, nobody tells that what it was sent is lost.
// silence is how long a call waits for a cluster that does not answer.
const (
	patience = 700 * time.Millisecond
	silence  = 10 * time.Second
)

var errSilence = fmt.Errorf("durable/etcd: the cluster has not answered for %v: a majority of its members must run, "+
	"and reach each other", silence)

// An act is what a call has decided by the rows as of one revision.
type act struct {
	rev  int64
	cmps []clientv3.Cmp
	ops  []clientv3.Op // none if it only reads
	size int
}

// Transact has decide decide by the mirror, and commits that if the rows which it has read are still as they were.
// Otherwise it decides again, once the mirror has what has changed. What only reads is decided by rows that are as new
// as the call.
func (h *home) Transact(ctx context.Context, decide func(*rows.Tx) error) error {
	return h.transact(ctx, "", decide)
}

// transact is Transact for the store that imports rows, or for all others if that is "".
func (h *home) transact(ctx context.Context, importer string, decide func(*rows.Tx) error) error {
	ctx, leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := h.settle(ctx); err != nil {
		return err
	}
	fresh := int64(-1) // what was committed before the call has at most this revision, if it is not -1
	for try := 0; ; {
		a, err := h.decide(decide, importer, try)
		if err != nil || len(a.ops) == 0 {
			if a.rev < 0 || fresh >= 0 && a.rev >= fresh {
				return err
			}
			newest, failed := h.newest(ctx)
			if failed != nil {
				return failed
			}
			if fresh = newest; a.rev >= fresh {
				return err
			}
		} else {
			var done bool
			if done, fresh, err = h.commit(ctx, a); done || err != nil {
				return err
			}
			if try++; try > 3 { // so that of many that meet some come through
				pause(ctx, randv2.N(time.Millisecond<<min(try, 6)))
			}
		}
		if err := h.reach(ctx, fresh); err != nil {
			return err
		}
	}
}

// decide decides once. If there is no mirror to decide by, the act has the revision -1.
func (h *home) decide(decide func(*rows.Tx) error, importer string, try int) (act, error) {
	now, err := h.clock.now()
	if err = errors.Join(context.Cause(h.over), err); err != nil {
		return act{rev: -1}, err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	a := act{rev: h.rev}
	if h.importer != importer {
		return a, errImporting
	}
	t := h.rows.Begin(now, try)
	if err := decide(t); err != nil {
		return a, err
	}
	for key, value := range t.Writes() {
		key = h.prefix + key
		if a.size += overhead + len(key) + len(value); value == nil {
			a.ops = append(a.ops, clientv3.OpDelete(key))
		} else {
			a.ops = append(a.ops, clientv3.OpPut(key, string(value)))
		}
	}
	if len(a.ops) == 0 {
		return a, nil
	}
	a.cmps = append(a.cmps, clientv3.Compare(clientv3.ModRevision(h.prefix+h.fence), "=", h.fenceRev), h.imports(importer))
	for key, version := range t.Reads() {
		a.size += overhead + len(h.prefix) + len(key)
		a.cmps = append(a.cmps, clientv3.Compare(clientv3.ModRevision(h.prefix+key), "=", version))
	}
	if n := max(len(a.ops)+1, len(a.cmps)); n > h.limits.ops || a.size > h.limits.bytes {
		return act{rev: -1}, invalidf("one step writes %d rows and %d bytes; the cluster takes up to %d and %d: "+
			"ask for less at a time", n, a.size, h.limits.ops, h.limits.bytes)
	}
	return a, nil
}

// numbers are those of the acts of a store.
type numbers struct {
	store [8]byte // nobody else has it
	last  atomic.Uint64
}

// next returns an act that there was not before.
func (n *numbers) next() string {
	return string(binary.BigEndian.AppendUint64(n.store[:8:8], n.last.Add(1)))
}

// commit commits an act if what it has read is still so, and returns the revision that the mirror needs for the next
// try if not.
//
// If the answer is lost, the act may have been committed, or may be later. So each act is refused if the fence of its
// store has changed: commit writes the fence, after which the act can be committed no more, and looks whether the
// mirror has met the act until then. That there is no space the cluster says of an act that it has committed, too, but of
// none that it will: then there is nothing to write, nor the space for it.
func (h *home) commit(ctx context.Context, a act) (done bool, next int64, err error) {
	id := h.acts.next()
	h.mu.Lock()
	h.mine[id] = false
	loads := h.loads
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.mine, id)
	}()
	if h.between != nil {
		h.between()
	}
	resp, err := h.send(ctx, a, id)
	switch {
	case err == nil && resp.Succeeded:
		h.mu.Lock()
		h.floor = max(h.floor, resp.Header.Revision)
		h.mu.Unlock()
		h.reach(ctx, resp.Header.Revision) // if it can't, the calls that come next do
		return true, 0, nil
	case err == nil:
		if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
			next = kvs[0].ModRevision
		}
		return false, next, nil
	}
	var refused error
	if declined(err) {
		refused = explain(err)
	}
	switch {
	case refused == nil:
		next, err = h.raise(ctx)
	case errors.Is(err, rpctypes.ErrNoSpace):
		next, err = h.newest(ctx)
	default:
		return false, 0, refused
	}
	if err == nil {
		err = h.reach(ctx, next)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.mine[id]:
		return true, 0, nil
	case err == nil && h.loads != loads:
		err = errors.New("durable/etcd: nobody knows whether it was done")
	}
	if err != nil {
		h.doubts++
		return false, 0, err
	}
	return false, next, refused
}

// settle waits until the mirror has all that this store has committed. What scans find has no version, and a node that
// does not know what became of its claim has Release free what it holds: so an earlier act, of which nobody knows
// whether it was or will be committed, must not come behind the call, nor be missed by it.
func (h *home) settle(ctx context.Context) error {
	h.mu.RLock()
	doubts, settled, floor := h.doubts, h.settled, h.floor
	h.mu.RUnlock()
	if doubts > settled {
		rev, err := h.raise(ctx)
		if err != nil {
			return err
		}
		h.mu.Lock()
		h.settled, h.floor = max(h.settled, doubts), max(h.floor, rev)
		floor = h.floor
		h.mu.Unlock()
	}
	return h.reach(ctx, floor)
}

// send asks the cluster to commit an act.
func (h *home) send(ctx context.Context, a act, id string) (*clientv3.TxnResponse, error) {
	work := time.Duration(len(a.ops))*100*time.Microsecond + time.Duration(a.size)*100*time.Nanosecond // at most, as a rule
	ctx, cancel := context.WithTimeout(ctx, patience+work)
	defer cancel()
	key := h.prefix + keyAct
	ops := append(a.ops, clientv3.OpPut(key, id))
	return h.client.Txn(ctx).If(a.cmps...).Then(ops...).Else(clientv3.OpGet(key)).Commit()
}

// raise writes the fence, and returns its revision.
func (h *home) raise(ctx context.Context) (rev int64, err error) {
	err = h.insist(ctx, func(ctx context.Context) error {
		resp, err := h.client.Put(ctx, h.prefix+h.fence, "")
		if err == nil {
			rev = resp.Header.Revision
		}
		return err
	})
	return rev, err
}

// newest returns the revision of the rows, as they are in the cluster.
func (h *home) newest(ctx context.Context) (rev int64, err error) {
	err = h.insist(ctx, func(ctx context.Context) error {
		resp, err := h.client.Get(ctx, h.prefix+keyAct)
		if err == nil && len(resp.Kvs) > 0 {
			rev = resp.Kvs[0].ModRevision
		}
		return err
	})
	return rev, err
}

// insist asks for something that may be done twice, until there is an answer or ctx ends.
func (h *home) insist(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, silence, errSilence)
	defer cancel()
	for {
		one, cancel := context.WithTimeout(ctx, patience)
		err := ask(one)
		late := one.Err() != nil
		switch cancel(); {
		case err == nil:
			return nil
		case declined(err):
			return explain(err)
		case !late:
			pause(ctx, 20*time.Millisecond)
		}
		if ctx.Err() == nil {
			continue
		}
		cause := context.Cause(ctx)
		if !late && cause == errSilence {
			return fmt.Errorf("%w; its last answer is: %w", cause, err)
		}
		return cause
	}
}

// mostFences is how many fences are kept: those of programs that were killed are of no use, and one that is missed is
// written again.
const mostFences = 200

// fenced names the fence of the store, and removes what is too many.
func (h *home) fenced(ctx context.Context) error {
	rand.Read(h.acts.store[:])
	h.fence = fmt.Sprintf("%s%x", keyFence, h.acts.store)
	old, err := h.client.Get(ctx, h.prefix+keyFence, clientv3.WithPrefix(), clientv3.WithKeysOnly(),
		clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend))
	if err != nil {
		return err
	}
	for _, kv := range old.Kvs[min(mostFences, len(old.Kvs)):] {
		if _, err := h.client.Delete(ctx, string(kv.Key)); err != nil {
			return err
		}
	}
	return nil
}

// declined reports whether the cluster has refused what it was asked for, so that it is not done.
func declined(err error) bool {
	switch code(err) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return true
	}
	return errors.Is(err, rpctypes.ErrNoSpace)
}

func code(err error) codes.Code {
	if e := (rpctypes.EtcdError{}); errors.As(err, &e) {
		return e.Code()
	}
	return status.Code(err)
}

// explain adds to an error of the cluster what to do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		err = fmt.Errorf("%w, at its Quota: raise Member.Quota of all members, then keep less (%w)", store.ErrFull, err)
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrRequestTooLarge):
		err = fmt.Errorf("%w: start the servers with --max-txn-ops=%d --max-request-bytes=%d", err,
			memberLimits.ops, memberLimits.bytes)
	}
	return fmt.Errorf("durable/etcd: %w", err)
}
