package transition

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A Packing fills a parcel, in the transaction that takes the jobs from their store.
type Packing struct {
	request store.PackRequest
	rows    []store.Row
	size    int // of what can be large in rows, in bytes
	jobs    int
}

// parcelSize is the size at which a parcel is full. It has one job at least, of which outputSize bytes of output are
// kept, of its latest runs: what a transaction may have is bounded.
const (
	parcelSize = 1 << 20
	outputSize = 8 << 20
)

// NewPacking returns a Packing for a request.
func NewPacking(r store.PackRequest) *Packing { return &Packing{request: r} }

// Takes reports whether a job is to be taken now, for which Add must be called then.
func (p *Packing) Takes(j *store.Job) bool {
	return p.size < parcelSize && !j.State.Held() && !j.HasParents && !j.HasChildren && j.Kind != store.ParcelKind
}

// Add adds the rows of a job, as in an export: first itself, then its runs and its steps.
func (p *Packing) Add(rows []store.Row, now time.Time) {
	p.jobs++
	j := *rows[0].Job
	if j.State == store.Paused && slices.Contains(p.request.Resume, j.ID) {
		Change(&j, store.Change{Op: store.OpResume}, now)
	}
	rows[0].Job = &j
	p.size += len(j.Payload) + len(j.Result)
	output := 0
	for _, row := range slices.Backward(rows) {
		switch {
		case row.Step != nil:
			p.size += len(row.Step.Result)
		case row.Run != nil:
			if output += len(row.Run.Output); output > outputSize {
				row.Run.Output = nil
			}
			p.size += len(row.Run.Output)
		}
	}
	p.size += 500 * len(rows)
	p.rows = append(p.rows, rows...)
}

// Parcel returns how many jobs were added, and the parcel unless that is 0.
func (p *Packing) Parcel(now time.Time) (int, store.Job, error) {
	if p.jobs == 0 {
		return 0, store.Job{}, nil
	}
	j := New(store.NewJob{ID: p.request.Parcel, Kind: store.ParcelKind, Schedule: once, Attempts: 1, Due: now}, store.Placement{}, false, now)
	j.State = store.Paused
	var err error
	j.Payload, err = json.Marshal(p.rows)
	return p.jobs, j, err
}

// Unpacked returns the rows that a parcel has, and after them the job that has its ID where it was unpacked.
func Unpacked(parcel store.Job) (rows []store.Row, err error) {
	if parcel.Kind != store.ParcelKind {
		return nil, fmt.Errorf("durable: job %s is of kind %q, which is not that of parcels", parcel.ID, parcel.Kind)
	}
	if err := json.Unmarshal(parcel.Payload, &rows); err != nil {
		return nil, fmt.Errorf("durable: parcel %s can't be read: %w", parcel.ID, err)
	}
	parcel.Payload = nil
	return append(rows, store.Row{Job: &parcel}), nil
}
