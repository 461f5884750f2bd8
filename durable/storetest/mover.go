package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/internal/filled"
	"github.com/executor-go/executor/durable/memory"
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

func (p partial) Import(ctx context.Context, rows iter.Seq2[store.Row, error], add bool) (store.ImportResult, error) {
	return p.mover().Import(ctx, rows, add)
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

// full returns rows of all sorts, of a store in memory. Nothing is held.
func (b *bench) full() []store.Row {
	first, then := memory.New(), memory.New()
	must(0, filled.Fill(b.Context(), first, rand.New(rand.NewPCG(7, 7)), 100))
	must(then.Import(b.Context(), yielded(exported(b.Context(), first), nil), false))
	return exported(b.Context(), then)
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

// An empty store takes all rows, of every sort, and has them as they were.
func importsAll(b *bench) {
	rows := b.full()
	r := must(b.store.Import(b.Context(), yielded(rows, nil), false))
	jobs := 0
	for _, row := range rows {
		if row.Job != nil {
			jobs++
		}
	}
	if want := (store.ImportResult{Jobs: jobs}); r != want {
		b.Errorf("imported: %+v, want %+v", r, want)
	}
	b.exportIs(rows)
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

// What one node had belongs to none after an import, as if that were dead.
func importFrees(b *bench) {
	node := b.node("a")
	b.running(node)
	b.add(-time.Second)
	b.claim(node)
	rows := exported(b.Context(), b.store)
	for i := range rows { // as if they were of another store
		j := *rows[i].Job
		j.ID = store.NewID()
		rows[i].Job = &j
	}
	r := must(b.store.Import(b.Context(), yielded(rows, nil), true))
	if want := (store.ImportResult{Jobs: 2, Freed: 2}); r != want {
		b.Errorf("imported: %+v, want %+v", r, want)
	}
	for _, row := range rows {
		j := b.state(row.Job.ID, store.Waiting)
		if j.Epoch != row.Job.Epoch+1 || j.Owner != "" || !j.Suspect {
			b.Errorf("it was %+v, and is %+v", row.Job, j)
		}
	}
}

// With an error among the rows nothing is added; nor is it if a key is in use, or the store has something.
func importIsAllOrNothing(b *bench) {
	rows, broken := b.full(), errors.New("broken")
	if _, err := b.store.Import(b.Context(), yielded(rows, broken), false); !errors.Is(err, broken) {
		b.Errorf("with an error: %v", err)
	}
	b.exportIs(nil)
	there := b.add(time.Hour, key("key"))
	before := exported(b.Context(), b.store)
	if _, err := b.store.Import(b.Context(), yielded(rows, nil), false); !errors.Is(err, store.ErrNotEmpty) {
		b.Errorf("into a store that is not empty: %v", err)
	}
	last := there
	last.ID = store.NewID()
	taken := append(slices.DeleteFunc(rows, func(row store.Row) bool { return row.Job == nil || row.Job.HasParents }), store.Row{Job: &last})
	if _, err := b.store.Import(b.Context(), yielded(taken, nil), true); !errors.Is(err, store.ErrKeyInUse) {
		b.Errorf("with a key that is in use: %v", err)
	}
	b.exportIs(before)
}

// What is there is left alone by an import that adds, so that one may be repeated.
func importAdds(b *bench) {
	rows := b.full()
	must(b.store.Import(b.Context(), yielded(rows, nil), true))
	b.exportIs(rows)
	changed := slices.Clone(rows)
	for i, row := range changed {
		if row.Job != nil {
			j := *row.Job
			j.Error = "changed"
			changed[i].Job = &j
		}
	}
	r := must(b.store.Import(b.Context(), yielded(changed, nil), true))
	if r.Jobs != 0 || r.There == 0 {
		b.Errorf("imported again: %+v", r)
	}
	b.exportIs(rows)
}

// few returns some rows of each sort that belongs to a job. Nothing is held.
func (b *bench) few() []store.Row {
	m := &bench{TB: b.TB, store: newPartial(memory.New())}
	node, key := m.node("n"), fresh("key")
	j := m.running(node, func(j *store.NewJob) { j.Key, j.Tags = key, []string{"t"} })
	must(0, m.store.NoteAct(m.Context(), store.Act{Job: j.ID, Action: "run", Answer: "applied"}))
	if _, _, err := m.store.KeepStep(m.Context(), store.Ref{ID: j.ID, Epoch: j.Epoch}, store.KeptStep{Name: "s", Occasion: j.Occasion()}); err != nil {
		panic(failure{err.Error()})
	}
	must(m.store.Insert(m.Context(), []store.NewJob{job(time.Hour, func(n *store.NewJob) { n.After = store.After{Parents: []store.ID{j.ID}, Need: 1} })},
		store.Placement{}))
	m.endRun(node, j, store.Dead)
	return exported(m.Context(), m.store)
}

// importing returns the call that imports jobs with all that belongs to them.
func (b *faulted) importing() told {
	rows := b.few()
	ids := make(map[store.ID]bool)
	for _, row := range rows {
		if row.Job != nil {
			ids[row.Job.ID] = true
		}
	}
	return told{
		call: func() (any, error) { return answer(b.store.Import(b.Context(), yielded(rows, nil), true)) },
		wrong: func(a any) string {
			if r := a.(store.ImportResult); r.Jobs+r.There != len(ids) || r.Jobs > 0 && r.There > 0 {
				return fmt.Sprintf("there are %d jobs", len(ids))
			}
			of := make(map[string]int) // each row of the store
			for _, row := range exported(b.Context(), b.store) {
				of[rowText(row)]++
			}
			for _, row := range rows {
				if n := of[rowText(row)]; row.Bucket == nil && row.Turn == nil && n != 1 {
					return fmt.Sprintf("it is there %d times: %s", n, rowText(row))
				}
			}
			return ""
		},
	}
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
