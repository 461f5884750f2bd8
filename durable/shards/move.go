package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Move gives virtual shards to a store, with their jobs, steps and history, while nodes run. All stores must answer. It
// waits ten seconds, in which programs learn of it; then it takes the jobs, some at a time: those that run when their run
// has ended. Until it returns, jobs that are bound to these virtual shards are not added, see Kind.Add, and those that
// run are not begun again.
//
// After an error it has to be repeated, by any program: until then such jobs are not added. Nothing is lost or doubled,
// wherever it was broken off; what is on its way is in paused jobs of the kind store.ParcelKind. If two programs make the
// same move, that which has begun last goes on, and the other one gets an error.
//
// Two sorts of jobs stay where they are until they are removed, and are found there: those with parents or children, and
// runs of a schedule with OnOverlap that have any. Move waits for the end of one that has a key, because that is unique
// among the jobs of its virtual shard. Paused kinds, the audit log, nodes and the tokens of rates stay, too.
//
// If somebody pauses a job that the move has paused already, the job goes on nevertheless once it has been moved.
//
// A program that is stopped for more than ten seconds between two of its instructions, while it adds a job, may add it
// to the store that the virtual shard was in: it runs there, once, but a key is then not known to those who add another.
func (s *Shards) Move(ctx context.Context, shards Set, to string) error {
	i := slices.IndexFunc(s.all, func(p *shard) bool { return p.name == to })
	switch {
	case ctx == nil:
		panic("durable/shards: nil Context")
	case i < 0:
		return invalid("store %q: it is none of Config.Stores", to)
	case s.all[i].packer == nil:
		return invalid("store %q: it is no store.Packer, so virtual shards can't be moved", to)
	}
	for tries := 0; ; tries++ {
		err := s.moveAll(ctx, shards, s.all[i])
		if !errors.As(err, new(*busyError)) || tries == 2 {
			return err
		}
		if err := pause(ctx, movePause); err != nil { // another move may have ended while the tables were read
			return err
		}
	}
}

// moveAll gives virtual shards to a store.
func (s *Shards) moveAll(ctx context.Context, shards Set, to *shard) error {
	tables, err := each(s, func(p *shard) (table, error) { return s.table(ctx, p, true) })
	if err != nil {
		return fmt.Errorf("durable/shards: move: %w", err)
	}
	var taken Set // what stores have for certain
	for _, t := range tables {
		taken = taken.with(t.Owns.without(t.Leaving.Shards))
	}
	for n, from := range s.all {
		t := &tables[n]
		again := t.Leaving.To == to.name && t.Leaving.Shards.both(shards).Len() > 0
		gone := t.Leaving.Shards.both(taken) // by a move that lacks its end
		some := shards.both(t.Owns).without(gone)
		switch {
		case from == to || some.Len() == 0 && !again:
			continue
		case from.packer == nil:
			return invalid("store %q: it is no store.Packer, so virtual shards can't be moved", from.name)
		}
		if err := s.move(ctx, from, to, some); err != nil {
			return fmt.Errorf("durable/shards: move: %w", err)
		}
	}
	return nil
}

// move gives virtual shards that a store has to another one.
func (s *Shards) move(ctx context.Context, from, to *shard, shards Set) (err error) {
	m := mover{from: from, to: to, schedules: make(map[string]*durable.Job)}
	err = from.change(ctx, func(t *table) error {
		switch {
		case t.Leaving.To == "" && t.Owns.both(shards).Len() == 0:
			return errGone
		case t.Leaving.To == "":
			t.Leaving = leaving{To: to.name, Shards: shards.both(t.Owns), Move: store.NewID()}
		case t.Leaving.To != to.name:
			return &busyError{t.Leaving}
		}
		t.Leaving.By = store.NewID()
		m.leaving = t.Leaving
		return nil
	})
	if err == nil {
		err = to.change(ctx, func(t *table) error { t.expects(from.name, m.leaving); return nil })
	}
	switch {
	case errors.Is(err, errGone):
		return nil // by a call at the same time
	case err != nil:
		return err
	}
	defer func() {
		if err != nil && !errors.Is(err, errTaken) {
			m.resume(ctx)
		}
	}()
	if err := pause(ctx, 2*fresh); err != nil {
		return err
	}
	for wait := movePause; ; wait = min(2*wait, time.Second) {
		if err := m.change(ctx, func(*table) {}); err != nil { // it is still this one
			return err
		}
		left, err := m.pass(ctx)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	if err := to.change(ctx, func(t *table) error { return t.gains(from.name, m.leaving) }); err != nil {
		return err
	}
	err = m.change(ctx, func(t *table) { t.Owns, t.Leaving = t.Owns.without(t.Leaving.Shards), leaving{} })
	if rest := shards.without(m.leaving.Shards); err == nil && rest.Len() > 0 { // it was another move that was made again
		return s.move(ctx, from, to, rest)
	}
	return err
}

// errGone is the error of a move of virtual shards that the store does not have.
var errGone = errors.New("the store does not have them")

// A busyError is that of a move from a store which gives something else away.
type busyError struct{ leaving }

func (e *busyError) Error() string {
	return fmt.Sprintf("a move of virtual shards %v to %q is under way, or was broken off: wait for it, or make it again first", e.Shards, e.To)
}

func (e *busyError) Is(target error) bool {
	return target == executor.ErrInvalid || target == ErrMoving
}

// errTaken is the error of a move that another one has taken the place of.
var errTaken = errors.New("another call of Move has begun since, and goes on with it")

// A mover moves what a store gives away.
type mover struct {
	from, to  *shard
	leaving   leaving
	schedules map[string]*durable.Job // those with OnOverlap in from, by key; nil for none
}

// change changes the table of the store that gives, unless another call has begun to move its virtual shards since.
func (m *mover) change(ctx context.Context, fn func(t *table)) error {
	return m.from.change(ctx, func(t *table) error {
		if t.Leaving.By != m.leaving.By {
			return errTaken
		}
		fn(t)
		return nil
	})
}

// packs is after how many jobs a parcel is closed, and page how many are read at once.
const packs, page = 100, 500

// pass moves the jobs that can be moved now, and returns how many are to be moved yet. It has those paused that nodes
// hold.
func (m *mover) pass(ctx context.Context) (left int, err error) {
	clear(m.schedules)
	var held, free []durable.ID
	for f := (durable.Filter{Limit: page}); ; {
		jobs, err := m.from.store.List(ctx, f)
		if err != nil {
			return 0, m.from.wrap(err)
		}
		for i := range jobs {
			of, err := m.unit(ctx, &jobs[i])
			if err != nil {
				return 0, m.from.wrap(err)
			}
			free, held = append(free, of.jobs...), append(held, of.pause...)
			if of.later {
				left++
			}
			if len(free) >= packs {
				n, err := m.pack(ctx, free)
				if err != nil {
					return 0, err
				}
				left, free = left+len(free)-n, nil
			}
		}
		if len(jobs) < page {
			break
		}
		f.After = jobs[len(jobs)-1].ID
	}
	if len(free) > 0 {
		n, err := m.pack(ctx, free)
		if err != nil {
			return 0, err
		}
		left += len(free) - n
	}
	if err := m.pauseAll(ctx, held); err != nil {
		return 0, err
	}
	// What is no job in the list is in a parcel now, if another call has packed it, or is delivered.
	return left, m.deliverAll(ctx)
}

// A unit is what is moved together.
type unit struct {
	jobs  []durable.ID // to be moved now
	later bool         // there is something to be moved later
	pause []durable.ID // what is to be paused before
}

// unit returns the unit of a job, the zero unit if it is not to be moved, or is moved with another one.
func (m *mover) unit(ctx context.Context, j *store.Job) (unit, error) {
	if own(j.Kind) || j.Kind == durable.ResumingKind || !m.leaving.Shards.Has(VirtualShard(j.ID)) {
		return unit{}, nil // an end of a pause is moved with its job, or is that of a kind
	}
	if schedule, n := durable.RunNumber(j.Key); n > 0 {
		of, err := m.schedule(ctx, schedule)
		if of != nil || err != nil {
			return unit{}, err
		}
	}
	switch family := j.HasParents || j.HasChildren; {
	case family:
		return unit{later: j.Key != "" && !j.State.Done()}, nil
	case j.State.Held() && j.Pending == store.PendingPause:
		return unit{later: true}, nil
	case j.State.Held():
		return unit{later: true, pause: []durable.ID{j.ID}}, nil
	}
	var of unit
	if _, ok := durable.ScheduleOf(*j); ok {
		var err error
		if of, err = m.runs(ctx, j); err != nil || of.later {
			return of, err
		}
	}
	if j.State == store.Paused {
		end, err := m.from.store.Find(ctx, durable.ResumingKey(j.ID))
		switch {
		case err == nil && end.State.Held():
			return unit{later: true}, nil
		case err == nil:
			of.jobs = append(of.jobs, end.ID)
		case !errors.Is(err, durable.ErrNotFound):
			return unit{}, err
		}
	}
	of.jobs = append(of.jobs, j.ID)
	return of, nil
}

// schedule returns the schedule with OnOverlap that has a key, nil if there is none.
func (m *mover) schedule(ctx context.Context, key string) (*durable.Job, error) {
	if of, known := m.schedules[key]; known {
		return of, nil
	}
	j, err := m.from.store.Find(ctx, key)
	if errors.Is(err, durable.ErrNotFound) {
		err = nil
	} else if _, ok := durable.ScheduleOf(j); ok && err == nil {
		m.schedules[key] = &j
		return &j, nil
	}
	if err == nil {
		m.schedules[key] = nil
	}
	return nil, err
}

// runs returns the runs of a schedule with OnOverlap that are moved with it, or what is to be paused before that: the
// schedule, so that it adds none, and the runs that have not ended.
func (m *mover) runs(ctx context.Context, j *store.Job) (of unit, err error) {
	if j.State == store.Waiting {
		of.pause = append(of.pause, j.ID)
	}
	for f := (durable.Filter{Prefix: j.Key + "#", Limit: page}); ; {
		jobs, err := m.from.store.List(ctx, f)
		if err != nil {
			return of, err
		}
		for _, run := range jobs {
			if key, n := durable.RunNumber(run.Key); n == 0 || key != j.Key {
				continue
			}
			switch family := run.HasParents || run.HasChildren; {
			case family && !run.State.Done():
				of.later = true
			case family:
			case !run.State.Done() && run.State != store.Paused:
				of.pause = append(of.pause, run.ID)
			default:
				of.jobs = append(of.jobs, run.ID)
			}
		}
		if len(jobs) < page {
			break
		}
		f.After = jobs[len(jobs)-1].ID
	}
	if of.later = of.later || len(of.pause) > 0; of.later {
		of.jobs = nil
	}
	return of, nil
}

// pauseAll has jobs paused that are in the way, and notes before that they are to go on in the other store.
func (m *mover) pauseAll(ctx context.Context, ids []durable.ID) error {
	if len(ids) == 0 {
		return nil
	}
	err := m.change(ctx, func(t *table) {
		for _, id := range ids {
			if !slices.Contains(t.Leaving.Paused, id) {
				t.Leaving.Paused = append(t.Leaving.Paused, id)
			}
		}
		m.leaving.Paused = t.Leaving.Paused
	})
	for _, id := range ids {
		if err == nil {
			_, err = m.from.store.Change(ctx, id, store.Change{Op: store.OpPause})
		}
	}
	if err != nil {
		return m.from.wrap(err)
	}
	return nil
}

// resume has the jobs go on that a move had paused which is broken off, as far as that can be done.
func (m *mover) resume(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fresh)
	defer cancel()
	for _, id := range m.leaving.Paused {
		if _, err := m.from.store.Change(ctx, id, store.Change{Op: store.OpResume}); err != nil {
			return // they go on with the next move
		}
	}
	m.change(ctx, func(t *table) { t.Leaving.Paused = nil })
}

// pack moves jobs, and returns how many.
func (m *mover) pack(ctx context.Context, ids []durable.ID) (int, error) {
	parcel := store.NewID()
	n, err := m.from.packer.Pack(ctx, store.PackRequest{Parcel: parcel, Jobs: ids, Resume: m.leaving.Paused})
	if err != nil {
		return 0, m.from.wrap(err)
	}
	if n == 0 {
		return 0, nil
	}
	j, err := m.from.store.Get(ctx, parcel)
	if errors.Is(err, store.ErrNotFound) {
		return n, nil // another program, which makes the same move, has delivered it
	}
	if err != nil {
		return 0, m.from.wrap(err)
	}
	return n, m.deliver(ctx, j)
}

// deliver puts the jobs of a parcel into the other store. What stands for the parcel there is removed in time by nodes, as
// jobs are that were canceled.
func (m *mover) deliver(ctx context.Context, parcel store.Job) error {
	if err := m.to.packer.Unpack(ctx, parcel); err != nil {
		return m.to.wrap(err)
	}
	if _, err := m.from.store.Change(ctx, parcel.ID, store.Change{Op: store.OpDelete}); err != nil {
		return m.from.wrap(err)
	}
	if _, err := m.to.store.Change(ctx, parcel.ID, store.Change{Op: store.OpCancel}); err != nil {
		return m.to.wrap(err)
	}
	return nil
}

// deliverAll delivers the parcels that other calls have left, or have not delivered yet.
func (m *mover) deliverAll(ctx context.Context) error {
	for f := (durable.Filter{Kind: store.ParcelKind, Limit: page}); ; {
		jobs, err := m.from.store.List(ctx, f)
		if err != nil {
			return m.from.wrap(err)
		}
		for _, j := range jobs {
			if !j.State.Done() && len(j.Payload) > 0 { // else it stands for one that has come
				if err := m.deliver(ctx, j); err != nil {
					return err
				}
			}
		}
		if len(jobs) < page {
			return nil
		}
		f.After = jobs[len(jobs)-1].ID
	}
}

// Spread has the named stores, and no others, have the same number of virtual shards, one more or less, by as few moves
// as that takes: for a store that is new, and for one that is to be left out. It moves from several stores at the same
// time. See Move for the errors.
func (s *Shards) Spread(ctx context.Context, stores ...string) error {
	stores = slices.Compact(slices.Sorted(slices.Values(stores)))
	if len(stores) == 0 {
		return invalid("Spread: name the stores that are to have virtual shards")
	}
	now, err := s.Status(ctx)
	if err != nil {
		return err
	}
	want := make(map[string]int)
	for i, name := range stores {
		want[name] = (i+1)*Number/len(stores) - i*Number/len(stores)
	}
	for _, to := range stores {
		if !slices.ContainsFunc(now, func(p Shard) bool { return p.Store == to }) {
			return invalid("store %q: it is none of Config.Stores", to)
		}
	}
	moves := make([][]func() error, len(now)) // from each store, one after the other
	for i, from := range now {
		if from.To != "" { // a move that was broken off comes first
			moves[i] = append(moves[i], func() error { return s.Move(ctx, from.Leaving, from.To) })
			want[from.To] -= from.Leaving.Len()
		}
	}
	for _, to := range stores {
		missing := want[to] - now[slices.IndexFunc(now, func(p Shard) bool { return p.Store == to })].Has.Len()
		for i := range now {
			from := &now[i]
			if n := min(missing, from.Has.Len()-want[from.Store], from.Has.Len()); n > 0 {
				some := from.Has.first(n)
				from.Has, missing = from.Has.without(some), missing-n
				moves[i] = append(moves[i], func() error { return s.Move(ctx, some, to) })
			}
		}
	}
	errs := make([]error, len(moves))
	var all sync.WaitGroup
	for i, some := range moves {
		all.Go(func() {
			for n := 0; n < len(some) && errs[i] == nil; n++ {
				errs[i] = some[n]()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
