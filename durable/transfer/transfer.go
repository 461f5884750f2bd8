// Package transfer moves all that a store keeps into another one, as lines of JSON: from a file of SQLite to PostgreSQL
// and back, into a new version of a database, or into a test. It is for any [store.Mover], as are those of packages
// sqlite, postgres and memory.
//
// What is moved are jobs in all states and schedules, with their IDs, keys, tags, payloads and results as they are
// stored (a Codec sees none of them), what waits for what, the history with its output, steps and signals, kinds that
// are paused, what is left of rates, the turns of partitions, and the acts of people. Nodes, and what they report of
// runs in progress, are not: a node is alive in the store whose lease it renews.
//
// An Export is what the store had at one moment, while programs go on with it. To switch to another store, end all
// programs that use the old one, nodes and those that add jobs; export, import, and start them with the new one. Jobs
// that a node had at the moment of the Export, as one that was killed or has not been ended, are taken from it as from
// a node that is lost: what had begun is begun again, and that was an attempt.
package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store"
)

// Format is the version of the lines that Export writes. Import reads those up to it.
const Format = 1

// A Summary says what is in an export.
type Summary struct {
	Format   int       `json:"format"`
	Exported time.Time `json:"exported"` // a time of the store just before
	Rows     Rows      `json:"rows"`
	Held     int       `json:"held"` // of the jobs, those that a node had
}

// Rows counts the rows of each sort.
type Rows struct {
	Jobs    int `json:"jobs"`
	After   int `json:"after"` // jobs with parents
	Runs    int `json:"runs"`
	Steps   int `json:"steps"` // and signals
	Paused  int `json:"paused"`
	Buckets int `json:"buckets"`
	Turns   int `json:"turns"`
	Acts    int `json:"acts"`
}

// Options change an Import.
type Options struct {
	// Add lets the store have something already. A job whose ID is there is left alone, with all that belongs to it, so
	// that an Import may be repeated; a key that another job has is an error.
	Add bool
}

// A Result says what an Import has done.
type Result struct {
	Summary
	store.ImportResult
}

// Export writes all that a store keeps, as it was at one moment. What it has written after an error is no export, and
// Import declines it: the last line has the number of rows and a checksum.
func Export(ctx context.Context, from store.Store, w io.Writer) (Summary, error) {
	m, err := mover(from)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Format: Format}
	if s.Exported, err = from.Now(ctx); err != nil {
		return Summary{}, fmt.Errorf("durable/transfer: export: %w", err)
	}
	out := newWriter(w)
	err = out.write(line{Store: &header{Format: s.Format, Exported: s.Exported}})
	if err == nil {
		err = m.Export(ctx, func(row store.Row) error {
			s.count(row)
			return out.write(lineOf(row))
		})
	}
	if err == nil {
		err = out.write(line{End: &end{Rows: s.Rows, SHA256: out.sum()}})
	}
	if err == nil {
		err = out.buffer.Flush()
	}
	if err != nil {
		return Summary{}, fmt.Errorf("durable/transfer: export: %w", err)
	}
	return s, nil
}

// Import adds what Export has written, all or none: also what is wrong with the last line leaves the store as it was.
// The error names the line and the field. It matches store.ErrNotEmpty if the store has jobs, paused kinds or acts and
// Options.Add is not set; and executor.ErrInvalid if something is wrong with what was read.
func Import(ctx context.Context, to store.Store, r io.Reader, o Options) (Result, error) {
	m, err := mover(to)
	if err != nil {
		return Result{}, err
	}
	in := newReader(r)
	done, err := m.Import(ctx, in.rows, o.Add)
	if err != nil {
		return Result{}, fmt.Errorf("durable/transfer: import: %w", err)
	}
	return Result{in.Summary, done}, nil
}

// Check reads what Export has written as Import does, and adds it to no store.
func Check(r io.Reader) (Summary, error) {
	in := newReader(r)
	for _, err := range in.rows {
		if err != nil {
			return Summary{}, fmt.Errorf("durable/transfer: %w", err)
		}
	}
	return in.Summary, nil
}

func mover(s store.Store) (store.Mover, error) {
	m := store.PartsOf(s).Mover
	if m == nil {
		return nil, argument.Invalid("durable/transfer: the store is a %T, which can't be moved: it is not a store.Mover", s)
	}
	return m, nil
}

// count counts a row.
func (s *Summary) count(row store.Row) {
	switch {
	case row.Job != nil:
		s.Rows.Jobs++
		if row.Job.State.Held() {
			s.Held++
		}
	case row.After != nil:
		s.Rows.After++
	case row.Run != nil:
		s.Rows.Runs++
	case row.Step != nil:
		s.Rows.Steps++
	case row.Paused != nil:
		s.Rows.Paused++
	case row.Bucket != nil:
		s.Rows.Buckets++
	case row.Turn != nil:
		s.Rows.Turns++
	case row.Act != nil:
		s.Rows.Acts++
	}
}

// writer writes lines.
type writer struct {
	buffer *bufio.Writer
	hash   hash.Hash
	json   *json.Encoder
}

func newWriter(w io.Writer) *writer {
	out := &writer{buffer: bufio.NewWriterSize(w, 1<<16), hash: sha256.New()}
	out.json = json.NewEncoder(io.MultiWriter(out.buffer, out.hash))
	out.json.SetEscapeHTML(false)
	return out
}

func (w *writer) write(l line) error { return w.json.Encode(l) }

// sum returns the checksum of what was written.
func (w *writer) sum() string { return hex.EncodeToString(w.hash.Sum(nil)) }
