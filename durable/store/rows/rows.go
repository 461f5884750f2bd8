package rows

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// Rows are all rows of a store, with their indexes. They are not safe for use by several goroutines: the home guards
// them.
type Rows struct {
	version int64            // of the last commit
	tables  map[byte]decoder // by the letters of their keys
	bodies  map[bodyKey][]byte
	names   map[string]string // see coder.name

	// Changed, if not nil, is called for each job that Set or Commit adds or changes.
	Changed func(*store.Job)

	jobs     *table[store.ID, store.Job]
	keys     *table[string, store.ID]
	runs     *table[runKey, run]
	steps    *table[stepKey, step]
	progress *table[store.ID, store.RunProgress]
	nodes    *table[string, node]
	beats    *table[string, beat]
	details  *table[string, store.NodeDetails]
	paused   *table[string, struct{}]
	buckets  *table[string, time.Time] // when the buckets of kinds are full
	places   *table[partition, time.Time]
	lined    *table[store.ID, int64]
	turns    *table[string, struct{}] // of kinds with a limit of all nodes
	acts     *table[int64, store.Act]
	lastAct  *table[struct{}, int64]
	counts   *table[store.ID, store.ParentCounts]
	parents  *table[edge, store.State] // as they were counted: Waiting until they have ended
	children *table[edge, struct{}]

	ids     sorted[store.ID]             // of all jobs
	waiting map[line]*sorted[place]      // the jobs that wait
	held    map[string]map[store.ID]bool // the jobs that nodes hold, by owner
	history map[store.ID]*sorted[int64]  // the numbers of the runs of a job
	untold  map[store.ID]int             // how many children have not counted a parent as one that has ended
	late    map[store.ID]bool            // the parents among these that have ended, or are gone
}

type runKey struct {
	job store.ID
	seq int64
}

// A run is one of the history.
type run struct {
	store.Run
	output []byte
}

type stepKey struct {
	job      store.ID
	occasion int64 // in microseconds
	name     string
	signal   bool
}

type step struct {
	store.KeptStep
	nth int64 // in the order in which they were kept
}

// A node is what claims depend on, and a beat what each heartbeat writes.
type (
	node struct {
		joined time.Time
		drain  bool
	}
	beat struct {
		until  time.Time
		length time.Duration
	}
)

// An edge leads from a child to its nth parent in parents, and from a parent to a child in children.
type edge struct {
	from store.ID
	nth  int
	to   store.ID
}

// A line is where jobs wait, and a place is that of a job in it.
type (
	line struct {
		queue, kind string
		priority    store.Priority
	}
	place struct {
		due int64 // in microseconds
		id  store.ID
	}
)

func compareIDs(a, b store.ID) int { return bytes.Compare(a[:], b[:]) }

func comparePlaces(a, b place) int { return cmp.Or(cmp.Compare(a.due, b.due), compareIDs(a.id, b.id)) }

func placeOf(j *store.Job) place { return place{j.Due.UnixMicro(), j.ID} }

// New returns rows that are none.
func New() *Rows {
	r := &Rows{
		tables:  make(map[byte]decoder),
		bodies:  make(map[bodyKey][]byte),
		names:   make(map[string]string),
		ids:     sorted[store.ID]{compare: compareIDs},
		waiting: make(map[line]*sorted[place]),
		held:    make(map[string]map[store.ID]bool),
		history: make(map[store.ID]*sorted[int64]),
		untold:  make(map[store.ID]int),
		late:    make(map[store.ID]bool),
	}
	of := func(e edge) store.ID { return e.from }
	r.jobs = newTable(r, format[store.ID, store.Job]{'j', (*coder).id, (*coder).job, bodies})
	r.keys = newTable(r, format[string, store.ID]{'k', (*coder).rest, func(c *coder, _ string, id *store.ID) { c.id(id) }, nil})
	r.runs = newTable(r, format[runKey, run]{'r', (*coder).runKey, (*coder).run, nil})
	r.steps = newGrouped(r, format[stepKey, step]{'s', (*coder).stepKey, (*coder).step, nil}, func(k stepKey) store.ID { return k.job })
	r.progress = newTable(r, format[store.ID, store.RunProgress]{'p', (*coder).id, (*coder).runProgress, nil})
	r.nodes = newTable(r, format[string, node]{'n', (*coder).rest, (*coder).node, nil})
	r.beats = newTable(r, format[string, beat]{'h', (*coder).rest, (*coder).beat, nil})
	r.details = newTable(r, format[string, store.NodeDetails]{'d', (*coder).rest, (*coder).details, nil})
	r.paused = newTable(r, format[string, struct{}]{'q', (*coder).rest, nothing[string], nil})
	r.buckets = newTable(r, format[string, time.Time]{'u', (*coder).rest, func(c *coder, _ string, v *time.Time) { c.time(v) }, nil})
	r.places = newTable(r, format[partition, time.Time]{'l', (*coder).partition, func(c *coder, _ partition, v *time.Time) { c.time(v) }, nil})
	r.lined = newTable(r, format[store.ID, int64]{'i', (*coder).id, number64[store.ID], nil})
	r.turns = newTable(r, format[string, struct{}]{'t', (*coder).rest, nothing[string], nil})
	r.acts = newTable(r, format[int64, store.Act]{'a', (*coder).ordered, (*coder).act, nil})
	r.lastAct = newTable(r, format[struct{}, int64]{'m', func(*coder, *struct{}) {}, number64[struct{}], nil})
	r.counts = newTable(r, format[store.ID, store.ParentCounts]{'c', (*coder).id, (*coder).counts, nil})
	r.parents = newGrouped(r, format[edge, store.State]{'e', (*coder).edge, func(c *coder, _ edge, v *store.State) { number(c, v) }, nil}, of)
	r.children = newGrouped(r, format[edge, struct{}]{'f', (*coder).edge, nothing[edge], nil}, of)
	r.jobs.changed, r.runs.changed, r.parents.changed = r.jobChanged, r.runChanged, r.parentChanged
	return r
}

func lineOf(j *store.Job) line { return line{j.Queue, j.Kind, j.Priority} }

// jobChanged keeps the indexes of jobs.
func (r *Rows) jobChanged(id store.ID, old, now *store.Job) {
	r.noteLate(id, now)
	switch {
	case old == nil:
		r.ids.add(now.ID)
	case now == nil:
		r.ids.remove(old.ID)
	}
	if old != nil && old.State == store.Waiting {
		change(r.waiting, lineOf(old), comparePlaces, placeOf(old), false)
	}
	if now != nil && now.State == store.Waiting {
		change(r.waiting, lineOf(now), comparePlaces, placeOf(now), true)
	}
	if old != nil && old.State.Held() {
		regroup(r.held, old.Owner, old.ID, false)
	}
	if now != nil && now.State.Held() {
		regroup(r.held, now.Owner, now.ID, true)
	}
	if now != nil && r.Changed != nil {
		r.Changed(now)
	}
}

// runChanged keeps the index of runs.
func (r *Rows) runChanged(_ runKey, old, now *run) {
	switch {
	case old == nil:
		change(r.history, now.Job, cmp.Compare[int64], now.Seq, true)
	case now == nil:
		change(r.history, old.Job, cmp.Compare[int64], old.Seq, false)
	}
}

// parentChanged keeps the index of parents whose children have not counted them.
func (r *Rows) parentChanged(e edge, old, now *store.State) {
	was, is := old != nil && !old.Done(), now != nil && !now.Done()
	if is && !was {
		r.untold[e.to]++
	} else if was && !is {
		if r.untold[e.to]--; r.untold[e.to] == 0 {
			delete(r.untold, e.to)
		}
	}
	r.noteLate(e.to, r.jobs.rows[e.to].of())
}

// noteLate notes whether a job, nil for one that is gone, has ended, and children have not counted that.
func (r *Rows) noteLate(id store.ID, j *store.Job) {
	if (j == nil || j.State.Done()) && r.untold[id] > 0 {
		r.late[id] = true
	} else {
		delete(r.late, id)
	}
}

// change adds v to a set, or removes it, of which none is empty.
func change[K comparable, T any](sets map[K]*sorted[T], k K, compare func(a, b T) int, v T, in bool) {
	of := sets[k]
	switch {
	case !in:
		if of.remove(v); of.len() == 0 {
			delete(sets, k)
		}
	case of == nil:
		of = &sorted[T]{compare: compare}
		sets[k] = of
		fallthrough
	default:
		of.add(v)
	}
}

// seqs returns the numbers of the runs of a job.
func (r *Rows) seqs(id store.ID) *sorted[int64] {
	if of := r.history[id]; of != nil {
		return of
	}
	return new(sorted[int64])
}

// A Tx is a transaction: what a call reads and writes.
type Tx struct {
	now  time.Time
	try  int // how often its call has decided before
	told int // how many children have counted a parent
	rows *Rows

	jobs     part[store.ID, store.Job]
	keys     part[string, store.ID]
	runs     part[runKey, run]
	steps    part[stepKey, step]
	progress part[store.ID, store.RunProgress]
	nodes    part[string, node]
	beats    part[string, beat]
	details  part[string, store.NodeDetails]
	paused   part[string, struct{}]
	buckets  part[string, time.Time]
	places   part[partition, time.Time]
	lined    part[store.ID, int64]
	turns    part[string, struct{}]
	acts     part[int64, store.Act]
	lastAct  part[struct{}, int64]
	counts   part[store.ID, store.ParentCounts]
	parents  part[edge, store.State]
	children part[edge, struct{}]
}

// Begin returns a transaction at a time of the home, after its call has decided that often in vain.
func (r *Rows) Begin(now time.Time, try int) *Tx {
	t := &Tx{now: now.UTC().Round(0).Truncate(time.Microsecond), try: try, rows: r}
	t.jobs.table, t.keys.table, t.runs.table, t.steps.table, t.progress.table = r.jobs, r.keys, r.runs, r.steps, r.progress
	t.nodes.table, t.beats.table, t.details.table, t.paused.table = r.nodes, r.beats, r.details, r.paused
	t.buckets.table, t.places.table, t.lined.table, t.turns.table = r.buckets, r.places, r.lined, r.turns
	t.acts.table, t.lastAct.table, t.counts.table = r.acts, r.lastAct, r.counts
	t.parents.table, t.children.table = r.parents, r.children
	return t
}

// A written is a part, whatever its rows are.
type written interface {
	writes() bool
	stale() bool
	commit(version int64)
	reads(yield func(string, int64) bool) bool
	writesTo(yield func(string, []byte) bool) bool
}

func (t *Tx) parts() []written {
	return []written{&t.jobs, &t.keys, &t.runs, &t.steps, &t.progress, &t.nodes, &t.beats, &t.details, &t.paused, &t.buckets, &t.places,
		&t.lined, &t.turns, &t.acts, &t.lastAct, &t.counts, &t.parents, &t.children}
}

// Commit has the rows have what a transaction has written, and reports true; or false if a row that it has read has
// changed since. A transaction that writes nothing has read what was so when it began.
func (r *Rows) Commit(t *Tx) bool {
	parts := t.parts()
	if !slices.ContainsFunc(parts, written.writes) {
		return true
	}
	if slices.ContainsFunc(parts, written.stale) {
		return false
	}
	r.version++
	for _, p := range parts {
		p.commit(r.version)
	}
	return true
}
