package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

func (p partial) mover() store.Mover {
	if p.parts.Mover == nil {
		panic(lacking("store.Mover"))
	}
	return p.parts.Mover
}

func (p partial) Export(ctx context.Context, each func(store.Row) error) error {
	return p.mover().Export(ctx, each)
}

func (p partial) Import(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	return p.mover().Import(ctx, rows)
}

// exported returns all that a store has.
func exported(ctx context.Context, m store.Mover) (rows []store.Row) {
	must(0, m.Export(ctx, func(row store.Row) error {
		rows = append(rows, row)
		return nil
	}))
	return rows
}

// yielded yields rows, and then an error, if there is one.
func yielded(rows []store.Row, err error) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(store.Row{}, err)
		}
	}
}

// everySort returns rows of every sort, as another store may have them. Nothing is held.
func everySort() []store.Row {
	at := time.Date(2026, 11, 27, 12, 0, 0, 123_456_000, time.UTC)
	jobs := make([]store.Job, 4)
	for i := range jobs {
		jobs[i] = store.Job{ID: store.NewID(), Kind: `k"é\`, Payload: []byte{0, 1, 255}, Schedule: store.Once, Anchor: at, Due: at, Occurrence: at,
			State: store.Succeeded, Epoch: 3, Attempt: 1, Attempts: 2, Runs: 2, Created: at, Updated: at}
	}
	parent, child, every, queued := &jobs[0], &jobs[1], &jobs[2], &jobs[3]
	parent.HasChildren, parent.Result, parent.Label = true, []byte{}, "läbel"
	child.HasParents, child.State, child.Pending, child.Error = true, store.Blocked, store.PendingPause, "it föiled"
	child.Key, child.Tags, child.Meta = "key/ü", []string{"t=1", "täg <&>"}, map[string]string{"trace": "é"}
	every.Schedule, every.Missed, every.State, every.Key, every.Partition = "rate 1m0s", "coalesce", store.Waiting, "every", "part"
	every.HasChildren, every.NextDue, every.Suspect, every.Lost, every.Timeout = true, at.Add(time.Hour), true, 2, time.Minute
	queued.Queue, queued.Priority, queued.State = "queue", store.High, store.Dead
	rows := []store.Row{{Job: parent}, {Job: child}, {Job: every}, {Job: queued},
		{After: &store.JobAfter{Job: child.ID, Need: 3, Anyway: true, Parents: []store.JobParent{
			{ID: parent.ID, State: store.Succeeded}, {ID: every.ID}, {ID: store.NewID(), State: store.Canceled}}}}}
	for seq := range int64(2) {
		k := &store.KeptRun{Run: store.Run{Job: parent.ID, Seq: seq + 1, Occurrence: at, Attempt: 1, Epoch: seq + 1, Node: "gone", Started: at,
			Finished: at.Add(time.Second), Verdict: store.RunFailed, Error: "it failed", Label: "läbel"}}
		if seq > 0 {
			k.Output = []byte{0, 255}
		}
		rows = append(rows, store.Row{Run: k})
	}
	for n, k := range []store.KeptStep{{Name: "stép", Result: []byte{}}, {Name: "awaited", Signal: true}, {Name: "come", Signal: true, Result: []byte{1}}} {
		k.Occasion, k.At = at, at.Add(time.Duration(n)*time.Second)
		rows = append(rows, store.Row{Step: &store.JobStep{Job: every.ID, KeptStep: k}})
	}
	return append(rows, store.Row{Paused: &store.PausedKind{Kind: "paused"}}, store.Row{Bucket: &store.Bucket{Kind: "rated", Full: at}},
		store.Row{Turn: &store.Turn{Kind: every.Kind, Partition: "part", At: at}},
		store.Row{Act: &store.Act{Seq: 7, At: at, Who: "ops' é", Action: "cancel", Job: parent.ID, Key: "k", Reason: "it <was> late", Answer: "applied"}})
}

// rank returns the place of the sort of a row in an export, and what rows of it are sorted by.
func rank(row store.Row) (sort int, by string) {
	switch {
	case row.Job != nil:
		return 0, row.Job.ID.String()
	case row.After != nil:
		return 1, row.After.Job.String()
	case row.Run != nil:
		return 2, fmt.Sprintf("%v %09d", row.Run.Job, row.Run.Seq)
	case row.Step != nil:
		return 3, fmt.Sprintf("%v %09d", row.Step.Job, row.Step.At.UnixMicro())
	case row.Paused != nil:
		return 4, ""
	case row.Bucket != nil:
		return 5, ""
	case row.Turn != nil:
		return 6, ""
	}
	return 7, fmt.Sprintf("%09d", row.Act.Seq)
}

// rowText returns a row as a text: of an act without its number, and with payloads as databases have them.
func rowText(row store.Row) string {
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			continue
		}
		one := reflect.New(v.Field(i).Type().Elem()).Elem()
		one.Set(v.Field(i).Elem())
		switch row := one.Addr().Interface().(type) {
		case *store.Job:
			row.Payload = append([]byte{}, row.Payload...)
		case *store.Act:
			row.Seq = 0
		}
		return fmt.Sprintf("%s %+v", v.Type().Field(i).Name, one)
	}
	return "nothing"
}

// exportIs holds that the store has these rows and no others, in the order that is demanded.
func (b *bench) exportIs(want []store.Row) {
	b.Helper()
	got := exported(b.Context(), b.store)
	for i := 1; i < len(got); i++ {
		x, by := rank(got[i-1])
		y, by2 := rank(got[i])
		if x > y || x == y && by > by2 {
			b.Errorf("exported %s\nbefore %s", rowText(got[i-1]), rowText(got[i]))
		}
	}
	texts := func(rows []store.Row) (all []string) {
		for _, row := range rows {
			all = append(all, rowText(row))
		}
		slices.Sort(all)
		return all
	}
	have, wanted := texts(got), texts(want)
	for i := range max(len(have), len(wanted)) {
		if i >= len(have) || i >= len(wanted) || have[i] != wanted[i] {
			b.Fatalf("%d rows, want %d: of %d\n%s\n%s", len(have), len(wanted), i, at(have, i), at(wanted, i))
		}
	}
}

func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return "nothing"
}

// An empty store takes rows of every sort, and has them as they were.
func importsAll(b *bench) {
	rows := everySort()
	must(0, b.store.Import(b.Context(), yielded(rows, nil)))
	b.exportIs(rows)
	if c := must(b.store.CountParents(b.Context(), rows[1].Job.ID)); c != (store.ParentCounts{Total: 3, Succeeded: 1, Failed: 1, Need: 3, Anyway: true}) {
		b.Errorf("the parents of the job count %+v", c)
	}
	// What waits goes on: its last parent ends here.
	b.change(rows[2].Job.ID, store.OpCancel, store.Applied)
	b.state(rows[1].Job.ID, store.Paused)
	if found := b.listed("t=1"); len(found) != 1 {
		b.Errorf("%d jobs are found by a tag", len(found))
	}
}

// Jobs of all states are exported as they are, whoever has them, and the store is left as it was.
func exportsAll(b *bench) {
	node := b.node("a")
	b.running(node, key("runs"))
	b.add(-time.Second)
	b.claim(node)
	b.add(time.Hour, every("1m0s"), key("every"))
	b.change(b.add(time.Hour).ID, store.OpPause, store.Applied)
	b.change(b.add(time.Hour).ID, store.OpCancel, store.Applied)
	jobs := must(b.store.List(b.Context(), store.Filter{}))
	if len(jobs) != 5 {
		b.Fatalf("there are %d jobs", len(jobs))
	}
	var want []store.Row
	for i := range jobs {
		want = append(want, store.Row{Job: &jobs[i]})
	}
	b.exportIs(want)
	b.exportIs(want)
}

// What a node of the other store had is freed by the first heartbeat as that of a dead node.
func importFrees(b *bench) {
	at := must(b.store.Now(b.Context())).Add(-time.Minute)
	of := func(state store.State) store.Row {
		j := &store.Job{ID: store.NewID(), Kind: "k", Schedule: store.Once, Anchor: at, Due: at, Occurrence: at, State: state, Epoch: 1,
			Owner: "killed", Attempts: 3, Created: at, Updated: at}
		if state == store.Running {
			j.Attempt, j.Started = 1, at
		}
		return store.Row{Job: j}
	}
	rows := []store.Row{of(store.Claimed), of(store.Confirmed), of(store.Running)}
	must(0, b.store.Import(b.Context(), yielded(rows, nil)))
	b.exportIs(rows)
	node := b.node("a")
	if p := b.beat(node, lease); p.Freed != 3 {
		b.Errorf("freed are %d jobs", p.Freed)
	}
	for i, row := range rows {
		j := b.state(row.Job.ID, store.Waiting)
		if j.Epoch != 2 || j.Owner != "" || j.Attempt != i/2 || j.Suspect != (i > 0) || len(must(b.store.Runs(b.Context(), j.ID, 0, 2))) != i/2 {
			b.Errorf("it was %+v, and is %+v", row.Job, j)
		}
	}
}

// With an error among the rows nothing is added, and a store that has something takes none.
func importIsAllOrNothing(b *bench) {
	rows, broken := everySort(), errors.New("broken")
	if err := b.store.Import(b.Context(), yielded(rows, broken)); !errors.Is(err, broken) {
		b.Errorf("with an error: %v", err)
	}
	b.exportIs(nil)
	b.add(time.Hour)
	before := exported(b.Context(), b.store)
	if err := b.store.Import(b.Context(), yielded(rows, nil)); !errors.Is(err, store.ErrNotEmpty) {
		b.Errorf("into a store that is not empty: %v", err)
	}
	b.exportIs(before)
}

func exporting(b *faulted, _ string, j store.Job) func() ([]string, error) {
	return func() (texts []string, err error) {
		err = b.store.Export(b.Context(), func(row store.Row) error {
			texts = append(texts, rowText(row))
			return nil
		})
		if err != nil {
			return nil, err // some may have come before it
		}
		slices.Sort(texts)
		return texts, nil
	}
}
