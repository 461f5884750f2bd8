package storetest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/executor-go/executor/durable/store"
)

func (p partial) packer() store.Packer {
	if p.parts.Packer == nil {
		panic(lacking("store.Packer"))
	}
	return p.parts.Packer
}

// pack takes jobs from the store, and returns the parcel, or the zero Job if there is none.
func (b *bench) pack(want int, r store.PackRequest) store.Job {
	b.Helper()
	r.Parcel = store.NewID()
	if n := must(b.store.packer().Pack(b.Context(), r)); n != want {
		b.Fatalf("packed are %d jobs, want %d", n, want)
	}
	j, err := b.store.Get(b.Context(), r.Parcel)
	if want == 0 && errors.Is(err, store.ErrNotFound) {
		return store.Job{}
	}
	b.ok(err)
	if j.State != store.Paused || j.Kind != store.ParcelKind || len(j.Payload) == 0 {
		b.Fatalf("the parcel is %+v", j)
	}
	return j
}

// loose returns rows of jobs without a family, of every sort that belongs to them.
func loose() (rows []store.Row, ids []store.ID) {
	for _, row := range everySort() {
		switch {
		case row.Job != nil:
			if row.Job.HasChildren, row.Job.HasParents = false, false; row.Job.State == store.Blocked {
				row.Job.State, row.Job.Pending = store.Paused, store.PendingNone
			}
			ids = append(ids, row.Job.ID)
		case row.Run == nil && row.Step == nil:
			continue
		}
		rows = append(rows, row)
	}
	return rows, ids
}

// What is packed is not in the store, and what is unpacked is as it was.
func packsAll(b *bench) {
	rows, ids := loose()
	must(0, b.store.Import(b.Context(), yielded(rows, nil)))
	parcel := b.pack(len(ids), store.PackRequest{Jobs: ids})
	b.exportIs([]store.Row{{Job: &parcel}})
	if found := b.listed("t=1"); len(found) > 0 {
		b.Errorf("%d jobs are found by a tag", len(found))
	}
	b.change(parcel.ID, store.OpDelete, store.Applied)
	b.no(b.store.packer().Unpack(b.Context(), parcel))
	parcel.Payload = nil
	b.exportIs(append([]store.Row{{Job: &parcel}}, rows...))
	if found := b.listed("t=1"); len(found) != 1 {
		b.Errorf("%d jobs are found by a tag", len(found))
	}
}

// What a node holds, what has parents or children, and a parcel stay.
func packLeaves(b *bench) {
	node := b.node("a")
	held, free := b.running(node), b.add(time.Hour)
	ids := []store.ID{held.ID, store.NewID()}
	if b.store.parts.Graph != nil {
		parent := b.add(time.Hour)
		ids = append(ids, parent.ID, b.insert(job(0, after(parent.ID)), store.Placement{}).ID)
	}
	parcel := b.pack(1, store.PackRequest{Jobs: []store.ID{free.ID}})
	b.pack(0, store.PackRequest{Jobs: append(ids, parcel.ID)})
	for _, id := range append(ids[2:], held.ID, parcel.ID) {
		b.get(id)
	}
	b.settle(node, next(held, held.Due.Add(time.Hour)))
	b.pack(1, store.PackRequest{Jobs: ids})
}

// A job that is paused waits in the other store if that is asked for, and is paused there if not.
func packResumes(b *bench) {
	var ids []store.ID
	for range 2 {
		j := b.add(time.Hour)
		b.change(j.ID, store.OpPause, store.Applied)
		ids = append(ids, j.ID)
	}
	parcel := b.pack(2, store.PackRequest{Jobs: ids, Resume: ids[1:]})
	b.change(parcel.ID, store.OpDelete, store.Applied)
	b.no(b.store.packer().Unpack(b.Context(), parcel))
	b.state(ids[0], store.Paused)
	b.state(ids[1], store.Waiting)
}

// Nodes run what was unpacked.
func unpackedRuns(b *bench) {
	node := b.node("a")
	j := b.add(-time.Second)
	parcel := b.pack(1, store.PackRequest{Jobs: []store.ID{j.ID}})
	if jobs := b.claim(node); len(jobs) > 0 {
		b.Errorf("claimed is %+v, which was packed", jobs)
	}
	b.change(parcel.ID, store.OpDelete, store.Applied)
	b.no(b.store.packer().Unpack(b.Context(), parcel))
	if got := b.claimOne(node); got.ID != j.ID {
		b.Errorf("claimed is %+v, want %v", got, j.ID)
	}
}

// A parcel is unpacked once, even if what was in it has gone since.
func unpacksOnce(b *bench) {
	j := b.add(time.Hour)
	parcel := b.pack(1, store.PackRequest{Jobs: []store.ID{j.ID}})
	b.change(parcel.ID, store.OpDelete, store.Applied)
	for range 2 {
		b.no(b.store.packer().Unpack(b.Context(), parcel))
	}
	b.change(j.ID, store.OpDelete, store.Applied)
	b.no(b.store.packer().Unpack(b.Context(), parcel))
	if _, err := b.store.Get(b.Context(), j.ID); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("a job of the parcel is there again: %v", err)
	}
}

// Where one of its jobs, or another one with the key, is, nothing of a parcel is added.
func unpackIsAllOrNothing(b *bench) {
	jobs := []store.Job{b.add(time.Hour), b.add(time.Hour, key("taken"))}
	parcel := b.pack(2, store.PackRequest{Jobs: []store.ID{jobs[0].ID, jobs[1].ID}})
	b.change(parcel.ID, store.OpDelete, store.Applied)
	other := b.add(time.Hour, key("taken"))
	for range 2 {
		before := exported(b.Context(), b.store)
		if err := b.store.packer().Unpack(b.Context(), parcel); !errors.Is(err, store.ErrThere) {
			b.Errorf("unpacked beside %+v: %v", other, err)
		}
		b.exportIs(before)
		b.change(other.ID, store.OpDelete, store.Applied)
		n := job(time.Hour)
		n.ID = jobs[0].ID
		other = b.insert(n, store.Placement{}).Job
	}
}

// A parcel that gets large has some of the jobs, the others stay.
func packsSome(b *bench) {
	var ids []store.ID
	for range 4 {
		ids = append(ids, b.add(time.Hour, func(j *store.NewJob) { j.Payload = make([]byte, 600<<10) }).ID)
	}
	for _, want := range [][]store.ID{ids[2:], nil} {
		b.pack(2, store.PackRequest{Jobs: ids})
		for _, id := range want {
			b.get(id)
		}
	}
}

// packedIn returns the rows that a parcel has.
func (b *bench) packedIn(parcel store.ID) (rows []store.Row) {
	j, err := b.store.Get(b.Context(), parcel)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	b.no(err)
	b.no(json.Unmarshal(j.Payload, &rows))
	return rows
}

// packing returns a call that packs a job, and the ID of its parcel.
func (b *bench) packing(id store.ID) (store.ID, func()) {
	p, parcel := b.store.packer(), store.NewID()
	return parcel, func() {
		_, err := p.Pack(b.Context(), store.PackRequest{Parcel: parcel, Jobs: []store.ID{id}})
		b.no(err)
	}
}

// A job that is claimed while it is packed is in one place.
func packMeetsClaim(b *bench) (one, other, check func()) {
	n := job(-time.Second, kindOf(fresh("k")))
	b.insert(n, store.Placement{})
	parcel, pack := b.packing(n.ID)
	var jobs []store.Job
	return pack, b.claims(request(b.node(fresh("n")), n.Kind), &jobs), func() {
		_, err := b.store.Get(b.Context(), n.ID)
		if packed := len(b.packedIn(parcel)); packed+len(jobs) != 1 || errors.Is(err, store.ErrNotFound) != (packed == 1) {
			b.Errorf("%d packed, claimed %+v, and there is %v", packed, jobs, err)
		}
	}
}

// A signal that comes while its job is packed is packed, or refused.
func packMeetsSignal(b *bench) (one, other, check func()) {
	steps, j := b.store.steps(), b.add(time.Hour)
	parcel, pack := b.packing(j.ID)
	var answer store.Answer
	signal := func() {
		var err error
		answer, err = steps.Signal(b.Context(), j.ID, "go", []byte("1"))
		b.no(err)
	}
	return signal, pack, func() {
		kept := must(steps.KeptSteps(b.Context(), j.ID))
		rows := b.packedIn(parcel)
		if packed := max(len(rows), 1) - 1; len(kept) > 0 && len(rows) > 0 || len(kept)+packed != 1 == (answer == store.Applied) {
			b.Errorf("the answer is %v, %d signals are left, and packed is %+v", answer, len(kept), rows)
		}
	}
}

// A job that is added while its parent is packed is added, and the parent stays, or it is not.
func packMeetsChild(b *bench) (one, other, check func()) {
	b.store.graph()
	p := b.add(time.Hour)
	parcel, pack := b.packing(p.ID)
	n := job(-time.Second, after(p.ID), kindOf(fresh("k")))
	var placed store.InsertResult
	var err error
	return b.inserts(n, store.Placement{}, &placed, &err), pack, func() {
		if packed := len(b.packedIn(parcel)) > 0; errors.Is(err, store.ErrNotFound) != packed {
			b.Errorf("the insert was answered %+v, %v; packed is the parent: %v", placed, err, packed)
		}
	}
}
