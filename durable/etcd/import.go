package etcd

import (
	"cmp"
	"context"
	"errors"
	"iter"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/rows"
)

// errImporting is the error of all calls but an import while there is one.
var errImporting = errors.New("durable/etcd: rows are being imported, or an import was broken off: " +
	"wait for it, or import again")

// Import adds rows to an empty store, in several transactions. All other calls of all programs fail until it has ended.
// If the program ends before, they fail until there is another Import, which begins with an empty store.
func (s *Store) Import(ctx context.Context, seq iter.Seq2[store.Row, error]) error {
	var all []store.Row
	for row, err := range seq {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		all = append(all, row)
	}
	h := s.home
	ctx, leave, err := h.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	me := string(h.acts.store[:])
	broken, err := h.beginImport(ctx, me)
	if err != nil {
		return err
	}
	clear := clientv3.OpDelete(h.prefix+"a", clientv3.WithRange(clientv3.GetPrefixRangeEnd(h.prefix)))
	if broken {
		err = h.carryOut(ctx, me, clear)
	}
	if err == nil {
		err = h.importAll(ctx, me, all)
	}
	end := []clientv3.Op{clientv3.OpDelete(h.prefix + keyImport)}
	if err != nil {
		end = append(end, clear)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), silence)
	defer cancel()
	return errors.Join(err, h.carryOut(ctx, me, end...))
}

// beginImport has all calls but those of the importer fail, if the store is empty or an earlier import was broken off.
// It reports whether that is so.
func (h *home) beginImport(ctx context.Context, me string) (broken bool, err error) {
	key, last := h.prefix+keyImport, h.prefix+keyAct
	for {
		var seen int64
		err := h.transact(ctx, "", func(t *rows.Tx) error {
			if seen = h.rev; !t.Empty() {
				return store.ErrNotEmpty
			}
			return nil
		})
		free := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0),
			clientv3.Compare(clientv3.ModRevision(last), "<", seen+1)} // it is empty still
		if broken = errors.Is(err, errImporting); broken {
			free = []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), ">", 0)}
		} else if err != nil {
			return false, err
		}
		var rev int64
		err = h.insist(ctx, func(ctx context.Context) error {
			resp, err := h.client.Txn(ctx).If(free...).
				Then(clientv3.OpPut(key, me), clientv3.OpPut(last, h.acts.next())).Else(clientv3.OpGet(key)).Commit()
			if err != nil {
				return err
			}
			if resp.Succeeded {
				rev = resp.Header.Revision
			} else if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 && string(kvs[0].Value) == me {
				rev = kvs[0].ModRevision // by an earlier try
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		if rev > 0 {
			return broken, h.reach(ctx, rev)
		}
	}
}

// importPart is how many rows, and bytes, are imported in one transaction.
const (
	importRows  = 5000
	importBytes = 8 << 20
)

// importAll adds all rows.
func (h *home) importAll(ctx context.Context, me string, all []store.Row) error {
	for len(all) > 0 {
		n, edges, size := 0, 0, 0
		for ; n < len(all) && n+edges < importRows && size < importBytes; n++ {
			switch row := all[n]; {
			case row.Job != nil:
				size += len(row.Job.Payload) + len(row.Job.Result)
			case row.After != nil:
				edges += 2 * len(row.After.Parents)
			case row.Run != nil:
				size += len(row.Run.Output)
			case row.Step != nil:
				size += len(row.Step.Result)
			}
		}
		err := h.transact(ctx, me, func(t *rows.Tx) error {
			for _, row := range all[:n] {
				t.Add(row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// imports holds if the store is that which imports rows, or if there is no such store and this is "".
func (h *home) imports(importer string) clientv3.Cmp {
	if importer == "" {
		return clientv3.Compare(clientv3.CreateRevision(h.prefix+keyImport), "=", 0)
	}
	return clientv3.Compare(clientv3.Value(h.prefix+keyImport), "=", importer)
}

// carryOut carries out operations if this store is the importer still.
func (h *home) carryOut(ctx context.Context, me string, ops ...clientv3.Op) error {
	var rev int64
	err := h.insist(ctx, func(ctx context.Context) error {
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), silence) // there may be many rows to remove
		defer cancel()
		act := clientv3.OpPut(h.prefix+keyAct, h.acts.next())
		resp, err := h.client.Txn(one).If(h.imports(me)).Then(append(ops, act)...).Commit()
		if err == nil && resp.Succeeded {
			rev = resp.Header.Revision
		}
		return err
	})
	if err != nil {
		return err
	}
	return h.reach(ctx, rev)
}
