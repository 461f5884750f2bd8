package rows

import (
	"iter"

	"github.com/executor-go/executor/durable/store"
)

// A table is the rows of one sort, as they were committed.
type table[K comparable, V any] struct {
	format format[K, V]
	rows   map[K]*row[V]
	group  func(K) store.ID // the job that a row belongs to, nil if rows belong to none
	groups map[store.ID]map[K]bool
	// changed keeps the indexes: a row that was old, nil for none, is now, nil for none.
	changed func(k K, old, now *V)
}

// A row is never changed: another one takes its place.
type row[V any] struct {
	value   V
	version int64 // of the rows, when it was committed
}

// newTable makes a table of r.
func newTable[K comparable, V any](r *Rows, f format[K, V]) *table[K, V] {
	t := &table[K, V]{format: f, rows: make(map[K]*row[V])}
	r.tables[f.letter] = t
	return t
}

// newGrouped makes a table of r whose rows belong to jobs.
func newGrouped[K comparable, V any](r *Rows, f format[K, V], group func(K) store.ID) *table[K, V] {
	t := newTable(r, f)
	t.group, t.groups = group, make(map[store.ID]map[K]bool)
	return t
}

// version returns that of a row, 0 if it is not there.
func (t *table[K, V]) version(k K) int64 {
	if r := t.rows[k]; r != nil {
		return r.version
	}
	return 0
}

// set puts a row in the place of what there was, or removes that if now is nil.
func (t *table[K, V]) set(k K, now *row[V]) {
	old := t.rows[k]
	if t.changed != nil {
		t.changed(k, old.of(), now.of())
	}
	if t.group != nil {
		regroup(t.groups, t.group(k), k, now != nil)
	}
	if now == nil {
		delete(t.rows, k)
	} else {
		t.rows[k] = now
	}
}

// of returns the value of a row, nil for none.
func (r *row[V]) of() *V {
	if r == nil {
		return nil
	}
	return &r.value
}

// regroup puts a key into a group, or takes it out.
func regroup[G, K comparable](groups map[G]map[K]bool, g G, k K, in bool) {
	switch of := groups[g]; {
	case !in:
		if delete(of, k); len(of) == 0 {
			delete(groups, g)
		}
	case of == nil:
		groups[g] = map[K]bool{k: true}
	default:
		of[k] = true
	}
}

// A part is what a transaction has read and written of a table. What values refer to must not be changed.
type part[K comparable, V any] struct {
	*table[K, V]
	used  map[K]*use[V]
	added map[store.ID]map[K]bool // the keys of rows that the table does not have
	wrote bool
}

// A use is that of a row by a transaction.
type use[V any] struct {
	read    int64 // its version
	value   *V    // as it is now, nil if it is not there
	written bool
}

// use returns the use of a row, and notes its version.
func (p *part[K, V]) use(k K) *use[V] {
	u := p.used[k]
	if u == nil {
		if p.used == nil {
			p.used = make(map[K]*use[V])
		}
		u = new(use[V])
		if r := p.rows[k]; r != nil {
			u.read, u.value = r.version, &r.value
		}
		p.used[k] = u
	}
	return u
}

// look returns a row that must not be changed, nil if it is not there. It notes no version: it is for what nothing
// depends on, and for rows that are put after.
func (p *part[K, V]) look(k K) *V {
	if u := p.used[k]; u != nil {
		return u.value
	}
	return p.rows[k].of()
}

// get returns a row, and whether it is there.
func (p *part[K, V]) get(k K) (v V, ok bool) {
	if u := p.use(k); u.value != nil {
		return *u.value, true
	}
	return v, false
}

// put writes a row.
func (p *part[K, V]) put(k K, v V) { p.write(k, &v) }

// del removes a row, if it is there.
func (p *part[K, V]) del(k K) {
	if p.look(k) != nil {
		p.write(k, nil)
	}
}

func (p *part[K, V]) write(k K, v *V) {
	u := p.use(k)
	u.value, u.written, p.wrote = v, true, true
	if p.group != nil && u.read == 0 {
		if p.added == nil {
			p.added = make(map[store.ID]map[K]bool)
		}
		regroup(p.added, p.group(k), k, v != nil)
	}
}

// scan yields the rows that the transaction has found, as it has changed them, in any order; not those that it has
// added. The loop may change rows.
func (p *part[K, V]) scan(yield func(K, *V) bool) {
	for k := range p.rows {
		if v := p.look(k); v != nil && !yield(k, v) {
			return
		}
	}
}

// scanAdded yields the rows that the transaction has added, in any order. The loop may change them.
func (p *part[K, V]) scanAdded(yield func(K, *V) bool) {
	for k, u := range p.used {
		if u.read == 0 && u.value != nil && !yield(k, u.value) {
			return
		}
	}
}

// of yields the rows that belong to a job, also those that the transaction has added, in any order. The loop may remove
// rows.
func (p *part[K, V]) of(id store.ID) iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		for _, keys := range []map[K]bool{p.groups[id], p.added[id]} {
			for k := range keys {
				if v := p.look(k); v != nil && !yield(k, v) {
					return
				}
			}
		}
	}
}

// any reports whether the table has a row.
func (p *part[K, V]) any() bool {
	for range p.scan {
		return true
	}
	return false
}

// stale reports whether a row that was read has another version by now.
func (p *part[K, V]) stale() bool {
	for k, u := range p.used {
		if p.version(k) != u.read {
			return true
		}
	}
	return false
}

// writes reports whether the transaction writes a row.
func (p *part[K, V]) writes() bool { return p.wrote }

// commit has the table have what was written.
func (p *part[K, V]) commit(version int64) {
	if !p.wrote {
		return
	}
	for k, u := range p.used {
		switch {
		case !u.written:
		case u.value == nil:
			p.set(k, nil)
		default:
			p.set(k, &row[V]{*u.value, version})
		}
	}
}
