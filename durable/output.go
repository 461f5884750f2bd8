package durable

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
)

// RunOutput is what a run has written to its Output: all of it, or its beginning and its end.
type RunOutput struct {
	Seq     int64  `json:"seq"`     // of the run
	Head    []byte `json:"head"`    // the beginning, up to Config.Output bytes
	Tail    []byte `json:"tail"`    // the end of what follows Head, as many
	Written int64  `json:"written"` // how many bytes there were in all
	Live    bool   `json:"live"`    // the run goes on, on this node
}

// Omitted returns how many bytes were not kept, between Head and Tail.
func (o *RunOutput) Omitted() int64 { return o.Written - int64(len(o.Head)) - int64(len(o.Tail)) }

// From returns what is kept from an offset on, and the offset of what follows it. It is for following a run that is
// Live: 0 begins, and the next call has the offset that this one returned. Where bytes were not kept, the second offset
// is further than the length of data accounts for.
func (o *RunOutput) From(offset int64) (data []byte, next int64) {
	head := int64(len(o.Head))
	offset = max(offset, 0)
	switch tail := o.Written - int64(len(o.Tail)); {
	case offset >= o.Written:
		return nil, o.Written
	case offset < head && tail == head:
		return slices.Concat(o.Head[offset:], o.Tail), o.Written
	case offset < head:
		return o.Head[offset:], head
	default:
		return o.Tail[max(offset, tail)-tail:], o.Written
	}
}

// Output returns a writer for what the run that ctx belongs to says, as a log of its own. The first and the last 64 KiB
// of it, see Config.Output, are kept with the run, compressed, for as long as the history has it; Jobs.Output returns
// them. Until the run has ended they are in memory: those of a run that is lost with its node are lost.
//
// The writer may be used by several goroutines. It does not block, and returns no error. What is written after the
// handler has returned is dropped. If ctx is not a handler's, the writer is io.Discard.
func Output(ctx context.Context) io.Writer {
	mustContext(ctx)
	c, ok := ctx.Value(currentKey{}).(current)
	if !ok || c.n.jobs.cfg.Output == 0 {
		return io.Discard
	}
	if o := c.output.Load(); o != nil {
		return o
	}
	c.output.CompareAndSwap(nil, &output{limit: c.n.jobs.cfg.Output})
	return c.output.Load()
}

// Output returns what a run has written to its Output: seq is its number in the history, or 0 for the last run that is
// there. A run in progress on this program's node is the last, and has the number that its history will have. The
// error is ErrNotFound if there is no such run. One that has written nothing has an empty RunOutput.
func (j *Jobs) Output(ctx context.Context, id ID, seq int64) (RunOutput, error) {
	mustContext(ctx)
	if seq < 0 {
		return RunOutput{}, invalid("run %d: its number must not be negative", seq)
	}
	if o, ok := j.node().output(id, seq); ok {
		return o, nil
	}
	if seq == 0 {
		runs, err := j.store.Runs(ctx, id, 0, 1)
		if err != nil {
			return RunOutput{}, failed("output", err)
		}
		if len(runs) == 0 {
			return RunOutput{}, ErrNotFound
		}
		seq = runs[0].Seq
	}
	data, err := j.store.Output(ctx, id, seq)
	if err != nil {
		return RunOutput{}, failed("output", err)
	}
	o, err := unpackOutput(data)
	if err != nil {
		return RunOutput{}, fmt.Errorf("durable: output of run %d of job %s: %w", seq, id, err)
	}
	o.Seq = seq
	return o, nil
}

// output returns what a run of this node has written so far.
func (n *node) output(id ID, seq int64) (RunOutput, bool) {
	if n == nil {
		return RunOutput{}, false
	}
	n.mu.Lock()
	r := n.mu.held[id]
	if r == nil || r.state != begun && r.state != committing || seq != 0 && seq != r.job.Runs+1 {
		n.mu.Unlock()
		return RunOutput{}, false
	}
	live, number := r.state == begun, r.job.Runs+1
	n.mu.Unlock()
	o := r.output.Load().snapshot()
	o.Seq, o.Live = number, live
	return o, true
}

// output is what a run has written. It keeps the first limit bytes, and the last limit of those that follow.
type output struct {
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
func (o *output) Write(p []byte) (int, error) {
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

// close drops what is written from now on.
func (o *output) close() {
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.mu.closed = true
	}
}

// snapshot returns a copy of what was written. That of a nil output is empty.
func (o *output) snapshot() RunOutput {
	if o == nil {
		return RunOutput{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return RunOutput{Head: slices.Clone(o.mu.head), Tail: slices.Concat(o.mu.tail[o.mu.at:], o.mu.tail[:o.mu.at]),
		Written: o.mu.written}
}

// packed returns the output of the run as the store keeps it, nil if there is none.
func (r *run) packed() []byte {
	if o := r.output.Load().snapshot(); o.Written > 0 {
		return packOutput(o)
	}
	return nil
}

// outputFormat is the first byte of what packOutput returns. What follows is compressed: how many bytes were written,
// how many of them are the head, the head and the tail.
const outputFormat = 1

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one that is known
	}
	return w
}}

func packOutput(o RunOutput) []byte {
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

// unpackOutput is the inverse of packOutput.
func unpackOutput(data []byte) (RunOutput, error) {
	if len(data) == 0 {
		return RunOutput{}, nil
	}
	if data[0] != outputFormat {
		return RunOutput{}, fmt.Errorf("it has format %d, and this program reads %d; use a newer one", data[0], outputFormat)
	}
	const numbers = 2 * binary.MaxVarintLen64
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1:])), 2*maxOutput+numbers))
	if err != nil {
		return RunOutput{}, fmt.Errorf("it is damaged: %w", err)
	}
	written, n := binary.Uvarint(text)
	head, m := binary.Uvarint(text[max(n, 0):])
	if n <= 0 || m <= 0 || head > uint64(len(text)-n-m) || written > 1<<62 || uint64(len(text)-n-m) > written {
		return RunOutput{}, fmt.Errorf("it is damaged: %d bytes, of which %d are the beginning, and %d are there", written, head, len(text))
	}
	text = text[n+m:]
	return RunOutput{Head: text[:head:head], Tail: text[head:], Written: int64(written)}, nil
}
