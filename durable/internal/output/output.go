// Package output has what runs write: its beginning and its end, in memory and as the stores keep it.
package output

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Most is the most bytes of the beginning, and of the end, that may be kept.
const Most = 1 << 20

// A Log is what a run has written, as durable.RunOutput, to which it converts.
type Log struct {
	Seq     int64
	Head    []byte
	Tail    []byte
	Written int64
	Live    bool
}

// NewBuffer returns a Buffer that keeps so many bytes of the beginning, and of the end.
func NewBuffer(limit int) *Buffer { return &Buffer{limit: limit} }

// A Buffer is what a run has written. It keeps the first limit bytes, and the last limit of those that follow.
type Buffer struct {
	limit int
	mu    struct {
		sync.Mutex
		head    []byte
		tail    []byte // a ring, once it has limit bytes
		at      int    // where the oldest byte of a full tail is
		written int64
		closed  bool
	}
}

// Write keeps p, or a part of it.
func (o *Buffer) Write(p []byte) (int, error) {
	n := len(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.closed {
		return n, nil
	}
	o.mu.written += int64(n)
	k := min(o.limit-len(o.mu.head), len(p))
	o.mu.head, p = append(o.mu.head, p[:k]...), p[k:]
	p = p[max(len(p)-o.limit, 0):]
	k = min(o.limit-len(o.mu.tail), len(p))
	o.mu.tail, p = append(o.mu.tail, p[:k]...), p[k:]
	for len(p) > 0 {
		k = copy(o.mu.tail[o.mu.at:], p)
		o.mu.at, p = (o.mu.at+k)%o.limit, p[k:]
	}
	return n, nil
}

// Close drops what is written from now on.
func (o *Buffer) Close() {
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.mu.closed = true
	}
}

// Snapshot returns a copy of what was written. That of a nil Buffer is empty.
func (o *Buffer) Snapshot() Log {
	if o == nil {
		return Log{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return Log{Head: slices.Clone(o.mu.head), Tail: slices.Concat(o.mu.tail[o.mu.at:], o.mu.tail[:o.mu.at]),
		Written: o.mu.written}
}

// outputFormat is the first byte of what Pack returns. What follows is compressed: how many bytes were written,
// how many of them are the head, the head and the tail.
const outputFormat = 1

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one that is known
	}
	return w
}}

// Pack returns a Log as a store keeps it.
func Pack(o Log) []byte {
	var b bytes.Buffer
	b.WriteByte(outputFormat)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&b) // which takes any write
	w.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(o.Written)), uint64(len(o.Head))))
	w.Write(o.Head)
	w.Write(o.Tail)
	w.Close()
	return b.Bytes()
}

// Unpack is the inverse of Pack.
func Unpack(data []byte) (Log, error) {
	if len(data) == 0 {
		return Log{}, nil
	}
	if data[0] != outputFormat {
		return Log{}, fmt.Errorf("its format is %d; this program reads up to %d: use a newer program", data[0], outputFormat)
	}
	const numbers = 2 * binary.MaxVarintLen64
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1:])), 2*Most+numbers))
	if err != nil {
		return Log{}, fmt.Errorf("it is damaged: %w", err)
	}
	written, n := binary.Uvarint(text)
	head, m := binary.Uvarint(text[max(n, 0):])
	if n <= 0 || m <= 0 || head > uint64(len(text)-n-m) || written > 1<<62 || uint64(len(text)-n-m) > written {
		return Log{}, fmt.Errorf("it is damaged: %d bytes, of which %d are the beginning, and %d are there", written, head, len(text))
	}
	text = text[n+m:]
	return Log{Head: text[:head:head], Tail: text[head:], Written: int64(written)}, nil
}
