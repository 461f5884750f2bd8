package rows

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/executor-go/executor/durable/store"
)

// Reads yields the keys of the rows that the transaction has read, in any order, with the versions that they had: those
// of [Rows.Set], or 0 for a row that was not there. It must be called before the rows change.
func (t *Tx) Reads() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, p := range t.parts() {
			if !p.reads(yield) {
				return
			}
		}
	}
}

// Writes yields the keys of the rows that the transaction has written, with their values, nil for those that it has
// removed. [Rows.Set] must get them in this order, or in that of the keys. It must be called before the rows change.
func (t *Tx) Writes() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, p := range t.parts() {
			if !p.writesTo(yield) {
				return
			}
		}
	}
}

// Set has the rows have a row of [Tx.Writes], as it was committed with that version, which is not 0. A nil value
// removes the row. Set keeps no part of value. The error is that of a key or a value which Writes has not made.
func (r *Rows) Set(key string, value []byte, version int64) error {
	if key == "" {
		return fmt.Errorf("a key is empty")
	}
	c := &coder{b: []byte(key[1:]), reading: true, rows: r}
	if key[0] == bodyLetter {
		return r.setBody(c, key, value)
	}
	t := r.tables[key[0]]
	if t == nil {
		return fmt.Errorf("key %q is of no table", key)
	}
	return t.decode(c, key, value, version)
}

// A decoder is a table, whatever its rows are.
type decoder interface {
	decode(c *coder, key string, value []byte, version int64) error
}

// A format is how the rows of a table are written. Each function writes the fields to c, or reads them.
type format[K comparable, V any] struct {
	letter byte // its keys begin with it
	key    func(c *coder, k *K)
	value  func(c *coder, k K, v *V)
	// apart, if not nil, yields what changes in other keys if a row was old, nil for none, and is now.
	apart func(k K, old *row[V], now *V, yield func(string, []byte) bool) bool
}

// decode has the table have a row. c reads the rest of its key.
func (t *table[K, V]) decode(c *coder, key string, value []byte, version int64) error {
	var k K
	if t.format.key(c, &k); c.wrong() {
		return fmt.Errorf("key %q is none of its table", key)
	}
	if value == nil {
		if t.rows[k] != nil {
			t.set(k, nil)
		}
		return nil
	}
	r := &row[V]{version: version}
	c.b = value
	if t.format.value(c, k, &r.value); c.wrong() {
		return fmt.Errorf("the value of key %q can't be read", key)
	}
	t.set(k, r)
	return nil
}

// keyOf returns the key of a row.
func (t *table[K, V]) keyOf(k K) string {
	c := &coder{b: append(make([]byte, 0, 40), t.format.letter)}
	t.format.key(c, &k)
	return string(c.b)
}

// reads yields the keys and versions of what was read.
func (p *part[K, V]) reads(yield func(string, int64) bool) bool {
	for k, u := range p.used {
		if !yield(p.keyOf(k), u.read) {
			return false
		}
	}
	return true
}

// writesTo yields the keys and values of what was written.
func (p *part[K, V]) writesTo(yield func(string, []byte) bool) bool {
	for k, u := range p.used {
		if !u.written || u.value == nil && u.read == 0 {
			continue
		}
		if p.format.apart != nil && !p.format.apart(k, p.rows[k], u.value, yield) {
			return false
		}
		var value []byte
		if u.value != nil {
			c := &coder{b: make([]byte, 0, 200)}
			p.format.value(c, k, u.value)
			value = c.b
		}
		if !yield(p.keyOf(k), value) {
			return false
		}
	}
	return true
}

// maxInline is how many bytes of a payload or a result are in the value of their job. What is longer has a key of its
// own, a body, which is written only when it changes.
const maxInline = 1 << 10

// bodyLetter is what the keys of bodies begin with. It comes before the letter of the jobs.
const bodyLetter = 'b'

type bodyKey struct {
	job    store.ID
	result bool
}

func (c *coder) bodyKey(k *bodyKey) {
	c.id(&k.job)
	c.bool(&k.result)
}

func (r *Rows) setBody(c *coder, key string, value []byte) error {
	var k bodyKey
	if c.bodyKey(&k); c.wrong() {
		return fmt.Errorf("key %q is none of a payload or a result", key)
	}
	if delete(r.bodies, k); value != nil {
		r.bodies[k] = bytes.Clone(value)
	}
	return nil
}

// bodies yields the bodies of a job that change.
func bodies(id store.ID, old *row[store.Job], now *store.Job, yield func(string, []byte) bool) bool {
	var was, is store.Job
	if old != nil {
		was = old.value
	}
	if now != nil {
		is = *now
	}
	return body(bodyKey{id, false}, was.Payload, is.Payload, yield) && body(bodyKey{id, true}, was.Result, is.Result, yield)
}

// body yields a body, if it changes.
func body(k bodyKey, was, is []byte, yield func(string, []byte) bool) bool {
	if len(was) <= maxInline {
		was = nil
	}
	if len(is) <= maxInline {
		is = nil
	}
	if bytes.Equal(was, is) {
		return true
	}
	c := &coder{b: []byte{bodyLetter}}
	c.bodyKey(&k)
	return yield(string(c.b), is)
}
