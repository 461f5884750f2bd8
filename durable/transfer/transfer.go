// Package transfer exports the whole content of a store that no program uses to a file, and imports it into another
// store: from a file of SQLite to PostgreSQL and back, or into a new version of a database. Both stores must be a
// [store.Mover], as those of packages sqlite, postgres and memory are.
//
// An export has jobs in all states and schedules, with their IDs, keys and tags, and with payloads and results as they
// are stored, without applying a Codec. It has the parents of jobs, the history with its output, steps and signals,
// paused kinds, the tokens of rates, the turns of partitions, and the audit log. It has no nodes, and no progress of
// runs.
//
// End all programs that use the old store, both nodes and programs that add jobs. Then export, import, and start the
// programs with the new store. If a node was killed, its lease has to end first, and the export has jobs that it held.
// The first node of the new store frees them as the jobs of a lost node: a run that had begun counts as an attempt, and
// the job runs again.
package transfer

import (
	"bufio"
	"bytes"
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

// Format is the version of the lines of an export.
const Format = 1

// A Summary says what an export has.
type Summary struct {
	Exported time.Time // a time of the store just before
	Jobs     int
	Held     int // of the jobs, those that killed nodes held
	Runs     int // of the history
}

func (s *Summary) count(row store.Row) {
	switch {
	case row.Job != nil:
		s.Jobs++
		if row.Job.State.Held() {
			s.Held++
		}
	case row.Run != nil:
		s.Runs++
	}
}

// A line has one of these. Their names, and those of their fields, are stored: do not change them, and see Format.
type line struct {
	Store *header `json:"store,omitempty"` // of the first line
	store.Row
	End *end `json:"end,omitempty"` // of the last line
}

type header struct {
	Format   int       `json:"format"`
	Exported time.Time `json:"exported"`
}

type end struct {
	SHA256 string `json:"sha256"` // of the lines before
}

// Export writes the whole content of a store, in lines of JSON. It fails if a node of the store is alive. If it returns
// an error, what it has written is incomplete, and Import refuses it: the last line of an export has a checksum.
func Export(ctx context.Context, from store.Store, w io.Writer) (Summary, error) {
	s, err := export(ctx, from, w)
	if err != nil {
		return Summary{}, fmt.Errorf("durable/transfer: export: %w", err)
	}
	return s, nil
}

func export(ctx context.Context, from store.Store, w io.Writer) (s Summary, err error) {
	m, now, err := idle(ctx, from)
	if err != nil {
		return s, err
	}
	s.Exported = now
	sum, buffer := sha256.New(), bufio.NewWriter(w)
	lines := json.NewEncoder(io.MultiWriter(buffer, sum))
	if err := lines.Encode(line{Store: &header{Format, now}}); err != nil {
		return s, err
	}
	err = m.Export(ctx, func(row store.Row) error {
		s.count(row)
		return lines.Encode(line{Row: row})
	})
	if err != nil {
		return s, err
	}
	if _, _, err := idle(ctx, from); err != nil { // nor has a node begun meanwhile
		return s, err
	}
	if err := lines.Encode(line{End: &end{hex.EncodeToString(sum.Sum(nil))}}); err != nil {
		return s, err
	}
	return s, buffer.Flush()
}

// Import adds what Export has written to an empty store: all of it, or nothing if there is an error. The error matches
// store.ErrNotEmpty if the store has jobs, paused kinds or acts, and executor.ErrInvalid if something is wrong with what
// was read, with the number of the line. Import fails if a node of the store is alive.
func Import(ctx context.Context, to store.Store, r io.Reader) (Summary, error) {
	in := reader{buffer: bufio.NewReader(r), sum: sha256.New()}
	m, _, err := idle(ctx, to)
	if err == nil {
		err = m.Import(ctx, in.rows)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("durable/transfer: import: %w", err)
	}
	return in.Summary, nil
}

// idle returns a store and its time. It is an error if the store can't be moved, or a node is alive.
func idle(ctx context.Context, s store.Store) (store.Mover, time.Time, error) {
	parts := store.PartsOf(s)
	if parts.Mover == nil || parts.Reports == nil {
		return nil, time.Time{}, argument.Invalid("the store is a %T, which can't be moved: it is not a store.Mover with store.Reports", s)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return nil, now, err
	}
	nodes, err := parts.Reports.Nodes(ctx)
	for _, n := range nodes {
		if until := n.Beat.Add(n.Lease); err == nil && until.After(now) {
			err = argument.Invalid("node %s is alive, or was killed just now: end it, or wait until its lease ends at %s, and try again",
				n.Name, until.Format(time.RFC3339Nano))
		}
	}
	return parts.Mover, now, err
}

// A reader reads an export.
type reader struct {
	Summary
	buffer *bufio.Reader
	sum    hash.Hash
	at     int // of the line
}

// rows yields the rows, and then an error if something is wrong.
func (r *reader) rows(yield func(store.Row, error) bool) {
	first, err := r.next()
	switch h := first.Store; {
	case err != nil:
	case h == nil:
		err = r.wrong("this is no export of a store")
	case h.Format != Format:
		err = r.wrong("the export has format %d, and this program reads format %d: use the version that has written it", h.Format, Format)
	default:
		r.Exported = h.Exported
	}
	for err == nil {
		sum := hex.EncodeToString(r.sum.Sum(nil))
		var l line
		l, err = r.next()
		switch {
		case err != nil:
		case l.End == nil && l.Row == store.Row{}:
			err = r.wrong("it has no row")
		case l.End == nil:
			r.count(l.Row)
			if !yield(l.Row, nil) {
				return
			}
		case l.End.SHA256 != sum:
			err = r.wrong("the checksum is not that of the lines before: the export was changed; export again")
		default:
			if _, err = r.buffer.Peek(1); err == io.EOF {
				return
			}
			r.at++
			err = r.wrong("it comes after the end of the export")
		}
	}
	yield(store.Row{}, err)
}

// next reads a line.
func (r *reader) next() (l line, err error) {
	r.at++
	text, err := r.buffer.ReadBytes('\n')
	if err == io.EOF {
		return l, r.wrong("the export ends before its last line: it was cut; export again")
	}
	if err != nil {
		return l, fmt.Errorf("line %d: %w", r.at, err)
	}
	r.sum.Write(text)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, r.wrong("%w", err)
	}
	return l, nil
}

// wrong returns an error about the line.
func (r *reader) wrong(format string, args ...any) error {
	return argument.Invalid("line %d: %w", r.at, fmt.Errorf(format, args...))
}
