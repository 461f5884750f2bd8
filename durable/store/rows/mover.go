package rows

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/executor-go/executor/durable/store"
)

// Export calls each for every row of the store.
func (s *Store) Export(ctx context.Context, each func(store.Row) error) error {
	rows, err := look(ctx, s, (*Tx).export)
	for _, row := range rows {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = each(row)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func (t *Tx) export() (rows []store.Row) {
	ids := slices.Collect(t.rows.ids.from(store.ID{}))
	for _, id := range ids {
		rows = append(rows, store.Row{Job: new(*t.jobs.look(id))})
	}
	for _, id := range ids {
		if c := t.counts.look(id); c != nil {
			after := &store.JobAfter{Job: id, Need: c.Need, Anyway: c.Anyway}
			for _, p := range t.parentsOf(id) {
				after.Parents = append(after.Parents, store.JobParent{ID: p.to, State: p.state})
			}
			rows = append(rows, store.Row{After: after})
		}
	}
	for _, id := range ids {
		rows = append(rows, t.exportRuns(id)...)
	}
	for _, id := range ids {
		rows = append(rows, t.exportSteps(id)...)
	}
	for kind := range t.paused.scan {
		rows = append(rows, store.Row{Paused: &store.PausedKind{Kind: kind}})
	}
	for kind, full := range t.buckets.scan {
		rows = append(rows, store.Row{Bucket: &store.Bucket{Kind: kind, Full: *full}})
	}
	for p, at := range t.places.scan {
		rows = append(rows, store.Row{Turn: &store.Turn{Kind: p.kind, Priority: p.priority, Partition: p.name, At: *at}})
	}
	for _, a := range slices.Backward(t.allActs()) {
		rows = append(rows, store.Row{Act: new(*a)})
	}
	return rows
}

func (t *Tx) exportRuns(id store.ID) (rows []store.Row) {
	for seq := range t.rows.seqs(id).from(0) {
		r := t.runs.look(runKey{id, seq})
		rows = append(rows, store.Row{Run: &store.KeptRun{Run: r.Run, Output: r.output}})
	}
	return rows
}

func (t *Tx) exportSteps(id store.ID) (rows []store.Row) {
	kept := t.stepsOf(id)
	slices.SortStableFunc(kept, func(a, b store.KeptStep) int { return a.At.Compare(b.At) }) // the clock may have been put back
	for _, k := range kept {
		rows = append(rows, store.Row{Step: &store.JobStep{Job: id, KeptStep: k}})
	}
	return rows
}

// Import adds rows to an empty store.
func (s *Store) Import(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	var all []store.Row
	for row, err := range rows {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		all = append(all, row)
	}
	return s.home.Transact(ctx, func(t *Tx) error {
		if !t.Empty() {
			return store.ErrNotEmpty
		}
		for _, row := range all {
			t.Add(row)
		}
		return nil
	})
}

// Empty reports whether rows can be imported.
func (t *Tx) Empty() bool { return !t.jobs.any() && !t.paused.any() && !t.acts.any() }

// Add adds a row of an export. It is for a home that imports in several transactions, in the order of the export.
func (t *Tx) Add(row store.Row) {
	switch {
	case row.Job != nil:
		if t.jobs.put(row.Job.ID, *row.Job); row.Job.Key != "" {
			t.keys.put(row.Job.Key, row.Job.ID)
		}
	case row.After != nil:
		for nth, p := range row.After.Parents {
			t.join(row.After.Job, nth, p.ID, p.State)
		}
		t.counts.put(row.After.Job, row.After.Counts())
	case row.Run != nil:
		t.runs.put(runKey{row.Run.Job, row.Run.Seq}, run{row.Run.Run, row.Run.Output})
	case row.Step != nil:
		t.keep(row.Step.Job, row.Step.KeptStep)
	case row.Paused != nil:
		t.paused.put(row.Paused.Kind, struct{}{})
	case row.Bucket != nil:
		t.buckets.put(row.Bucket.Kind, row.Bucket.Full)
	case row.Turn != nil:
		t.places.put(partition{row.Turn.Kind, row.Turn.Priority, row.Turn.Partition}, row.Turn.At)
	case row.Act != nil:
		t.note(*row.Act)
	}
}
