package durable

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/internal/output"
)

// RunOutput is what a run has written to its Output: all of it, or the beginning and the end.
type RunOutput struct {
	Seq     int64  `json:"seq"`     // of the run
	Head    []byte `json:"head"`    // the beginning, up to Config.Output bytes
	Tail    []byte `json:"tail"`    // the end of the rest, up to Config.Output bytes
	Written int64  `json:"written"` // how many bytes the run has written in all
	Live    bool   `json:"live"`    // the run goes on, on this node
}

// Omitted returns how many bytes were not kept, between Head and Tail.
func (o *RunOutput) Omitted() int64 { return o.Written - int64(len(o.Head)) - int64(len(o.Tail)) }

// From returns the kept bytes from an offset on, and the next offset. To follow a run that is Live, begin with 0 and
// pass the offset that the last call has returned. If some of the bytes were not kept, next is greater than offset plus
// the length of data.
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

// Output returns a writer for the output of the run that ctx belongs to. Its first and last 64 KiB, see Config.Output,
// are kept with the run, compressed, for as long as the history has the run; Jobs.Output returns them. Until the run
// has ended, the output is in memory: if the run is lost with its node, so is its output.
//
// The writer may be used by several goroutines. It does not block, and returns no error. What is written after the
// handler has returned is dropped. If ctx is not a handler's, the writer is io.Discard.
func Output(ctx context.Context) io.Writer {
	mustContext(ctx)
	if h, ok := node.Of(ctx); ok {
		return h.Output()
	}
	return io.Discard
}

// Output returns what a run has written to its Output: seq is the number of the run in the history, or 0 for the last
// run. A run in progress on this program's node counts as the last run, and has the number that it will have in the
// history. The error is ErrNotFound if there is no such run. For a run that has written nothing, RunOutput is empty.
func (j *Jobs) Output(ctx context.Context, id ID, seq int64) (RunOutput, error) {
	mustContext(ctx)
	if seq < 0 {
		return RunOutput{}, invalid("run %d: its number must not be negative", seq)
	}
	if o, ok := j.node().Output(id, seq); ok {
		return RunOutput(o), nil
	}
	if j.parts.History == nil {
		return RunOutput{}, j.lacks("output", "History")
	}
	if seq == 0 {
		runs, err := j.parts.History.Runs(ctx, id, 0, 1)
		if err != nil {
			return RunOutput{}, failed("output", err)
		}
		if len(runs) == 0 {
			return RunOutput{}, ErrNotFound
		}
		seq = runs[0].Seq
	}
	data, err := j.parts.History.Output(ctx, id, seq)
	if err != nil {
		return RunOutput{}, failed("output", err)
	}
	o, err := output.Unpack(data)
	if err != nil {
		return RunOutput{}, fmt.Errorf("durable: output of run %d of job %s: %w", seq, id, err)
	}
	o.Seq = seq
	return RunOutput(o), nil
}
