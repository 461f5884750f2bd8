// Package transfer moves the whole content of a store into another store, as lines of JSON: from a file of SQLite to
// PostgreSQL and back, into a new version of a database, or into a test. Both stores must be a [store.Mover], as those
// of packages sqlite, postgres and memory are.
//
// An export has jobs in all states and schedules, with their IDs, keys and tags, and with payloads and results as they
// are stored, without applying a Codec. It has the parents of jobs, the history with its output, steps and signals,
// paused kinds, the tokens of rates, the turns of partitions, and the audit log. It has no nodes, and no progress of
// runs that have not ended.
//
// An Export has the content of the store at one moment; programs may go on using the store meanwhile. To switch to
// another store, end all programs that use the old store, both nodes and programs that add jobs. Then export, import,
// and start the programs with the new store. If a node was killed or still runs, the export has jobs that it holds.
// Import frees them as the jobs of a lost node: a run that had begun counts as an attempt, and the job runs again.
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

// Format is the version of the lines that Export writes. Import also reads all earlier versions.
const Format = 1

// A Summary says what an export contains.
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
	// Add allows an Import into a store that is not empty. A job whose ID exists already stays as it is, with
	// everything that belongs to it, so that an Import may be repeated; a key that another job has is an error.
	Add bool
}

// A Result says what an Import has read and added.
type Result struct {
	Summary
	store.ImportResult
}

// Export writes the whole content of a store at one moment. If it returns an error, what it has written is incomplete,
// and Import refuses it: the last line of an export has the number of rows and a checksum.
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

// Import adds what Export has written: all of it, or nothing if there is an error, even in the last line. The error
// names the line and the field. It matches store.ErrNotEmpty if the store has jobs, paused kinds or acts and
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

// Check reads and checks what Export has written, as Import does, without a store.
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
