package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// TableKind is the kind of the job, one in each store, that says which virtual shards the store has. It is paused.
const TableKind = "durable/shards"

// tableKey is the key of that job. It is stored: do not change it.
const tableKey = "durable/shards"

// fresh is for how long a program goes by what it knows of the virtual shards of a store, and how long a call may take
// that adds a job there: so twice as long after a store has begun to give some of them away, nobody adds jobs to them.
const fresh = 5 * time.Second

// A table says which virtual shards a store has. It is stored: do not change the names.
type table struct {
	Name    string   `json:"name"`    // of the store
	Founded []string `json:"founded"` // the stores among which the virtual shards were shared out first
	Owns    Set      `json:"owns"`
	Leaving leaving  `json:"leaving,omitzero"`
	// Coming has, for each store, the last move from there.
	Coming map[string]coming `json:"coming,omitempty"`
}

// coming is a move to a store.
type coming struct {
	Move store.ID `json:"move"`
	By   store.ID `json:"by"`   // the call that makes it
	Done bool     `json:"done"` // its virtual shards were added, and may have been given away since
}

// leaving is what a store gives to another one. Jobs with these virtual shards are not added meanwhile.
type leaving struct {
	To     string       `json:"to"`
	Shards Set          `json:"shards"`
	Move   store.ID     `json:"move"`             // names the move; it stays if that is made again
	By     store.ID     `json:"by"`               // names the call that makes it
	Paused []durable.ID `json:"paused,omitempty"` // the jobs that moves have paused
}

// takes reports whether a job may be added.
func (t *table) takes(v int) bool { return t.Owns.Has(v) && !t.Leaving.Shards.Has(v) }

// A shard is a store, with what the program knows of it.
type shard struct {
	name   string
	jobs   *durable.Jobs
	store  store.Store
	packer store.Packer // nil if it is none

	turn  chan struct{} // its one slot is had by who uses the fields below
	known table
	read  time.Time // when known was asked for; zero if it is not known
	tried time.Time // when it was asked for last, in vain
	err   error     // of that
}

func (p *shard) wrap(err error) error { return fmt.Errorf("store %q: %w", p.name, err) }

// retry is how long a store that has not answered is not asked again for its table by who can do without.
const retry = time.Second

// table returns the table of a store, which is not older than fresh, or than the call if anew is set.
func (s *Shards) table(ctx context.Context, p *shard, anew bool) (table, error) {
	called := time.Now()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return table{}, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	switch {
	case !p.read.IsZero() && (p.read.After(called) || !anew && called.Sub(p.read) < fresh):
		return p.known, nil
	case p.err != nil && time.Since(p.tried) < retry:
		return table{}, p.err
	}
	asked := time.Now()
	one, cancel := context.WithTimeout(ctx, fresh)
	defer cancel()
	t, _, err := p.load(one)
	if errors.Is(err, durable.ErrNotFound) {
		t, err = s.found(one, p)
	}
	if err == nil && t.Name != p.name {
		err = invalid("store %q is the store %q, by its table: correct Config.Stores", p.name, t.Name)
	}
	if err != nil {
		if ctx.Err() == nil {
			p.tried, p.err = time.Now(), err
		}
		return table{}, err
	}
	p.known, p.read, p.err = t, asked, nil
	return t, nil
}

// doubt has the table of the store be asked for by the next call that needs it, since the store has not answered one.
func (p *shard) doubt() {
	p.turn <- struct{}{}
	p.read = time.Time{}
	<-p.turn
}

// expects notes a move to the store that a call makes.
func (t *table) expects(from string, of leaving) {
	if t.Coming == nil {
		t.Coming = make(map[string]coming)
	}
	before := t.Coming[from]
	c := coming{of.Move, of.By, before.Move == of.Move && before.Done}
	if t.Coming[from] = c; c.Done {
		return
	}
	// What it gave away itself, by a move that lacks its end, comes back: the calls that make that one end.
	if back := t.Leaving.Shards.both(of.Shards); back.Len() > 0 {
		t.Owns, t.Leaving.Shards, t.Leaving.By = t.Owns.without(back), t.Leaving.Shards.without(back), store.ID{}
		if t.Leaving.Shards.Len() == 0 {
			t.Leaving = leaving{}
		}
	}
}

// gains adds the virtual shards of a move, once, if it is made by that call.
func (t *table) gains(from string, of leaving) error {
	c := t.Coming[from]
	if c.Move != of.Move || c.By != of.By {
		return errTaken
	}
	if c.Done {
		return nil
	}
	c.Done = true
	t.Coming[from], t.Owns = c, t.Owns.with(of.Shards)
	return nil
}

// load reads the table of the store, and the job that has it.
func (p *shard) load(ctx context.Context) (t table, job store.Job, err error) {
	if job, err = p.store.Find(ctx, tableKey); err != nil {
		return t, job, err
	}
	text := job.Result
	if len(text) == 0 {
		text = job.Payload
	}
	if job.Kind != TableKind {
		return t, job, fmt.Errorf("durable/shards: key %q belongs to job %s of kind %q: give that another key", tableKey, job.ID, job.Kind)
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, job, fmt.Errorf("durable/shards: the table of virtual shards in job %s can't be read: %w", job.ID, err)
	}
	return t, job, nil
}

// found gives a store a table that has none: its share if it is one of the first, else nothing. All other stores have to
// answer, since they may have what it once had.
func (s *Shards) found(ctx context.Context, p *shard) (table, error) {
	t := table{Name: p.name}
	var taken Set
	for _, other := range s.all {
		if other == p {
			continue
		}
		theirs, _, err := other.load(ctx)
		switch {
		case errors.Is(err, durable.ErrNotFound):
		case err != nil:
			return t, fmt.Errorf("durable/shards: it has no table of virtual shards, and gets one only while all stores answer: %w", other.wrap(err))
		default:
			t.Founded, taken = theirs.Founded, taken.with(theirs.Owns).with(theirs.Leaving.Shards)
		}
	}
	if t.Founded == nil {
		for _, all := range s.all {
			t.Founded = append(t.Founded, all.name)
		}
	}
	if i, n := slices.Index(t.Founded, p.name), len(t.Founded); i >= 0 {
		t.Owns = Range(i*Number/n, (i+1)*Number/n).without(taken)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return t, err
	}
	at := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	placed, err := p.store.Insert(ctx, []store.NewJob{{ID: store.NewID(), Key: tableKey, Kind: TableKind, Payload: text,
		Schedule: store.Once, Due: at, Attempts: 1}}, store.Placement{})
	if err != nil {
		return t, err
	}
	if _, err := p.store.Change(ctx, placed[0].ID, store.Change{Op: store.OpPause}); err != nil {
		return t, err
	}
	t, _, err = p.load(ctx) // it may be that of another program, which was first
	return t, err
}

// change changes the table of the store.
func (p *shard) change(ctx context.Context, fn func(t *table) error) error {
	for {
		t, job, err := p.load(ctx)
		if err == nil {
			err = fn(&t)
		}
		if err != nil {
			return p.wrap(err)
		}
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		note := store.Note{Epoch: job.Epoch, Updated: job.Updated, Result: text}
		answer, err := p.store.Change(ctx, job.ID, store.Change{Op: store.OpNote, Note: note})
		if err != nil {
			return p.wrap(err)
		}
		if answer == store.Applied {
			return nil
		}
	}
}

// errNoOwner is the error of owner if no store has the virtual shard, though all have answered.
var errNoOwner = errors.New("no store has it: all stores must be in Config.Stores, each with its job of kind " + TableKind)

// holder returns the store that has a virtual shard, by tables which are not older than fresh, or than the call if anew is
// set. The error matches ErrMoving if the store gives it to another one.
func (s *Shards) holder(ctx context.Context, v int, anew bool) (*shard, error) {
	var unknown error
	var gives *shard
	for _, p := range s.all {
		t, err := s.table(ctx, p, anew)
		switch {
		case err != nil:
			unknown = errors.Join(unknown, p.wrap(err))
		case t.takes(v):
			return p, nil
		case t.Owns.Has(v):
			gives = p
		}
	}
	switch {
	case gives != nil:
		return gives, ErrMoving
	case unknown != nil:
		return nil, unknown
	}
	return nil, errNoOwner
}

// owner returns the store that a job with a virtual shard is to be added to. If wait is set, it waits for the end of a
// move.
func (s *Shards) owner(ctx context.Context, v int, wait bool) (*shard, error) {
	begun := time.Now()
	p, err := s.holder(ctx, v, false)
	for none := 0; err != nil && ctx.Err() == nil; pause(ctx, movePause) {
		p, err = s.holder(ctx, v, true)
		if errors.Is(err, errNoOwner) && none < 2 {
			none++ // the tables were asked for one after the other, and a move may have ended in between
			continue
		}
		if !errors.Is(err, ErrMoving) || !wait || time.Since(begun) > moveWait {
			break
		}
	}
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("durable/shards: virtual shard %d: %w", v, err)
}

// moveWait is how long a call waits for the end of a move, and movePause how often it looks.
const moveWait, movePause = time.Minute, 100 * time.Millisecond

// moving reports whether a store gives away virtual shards.
func (s *Shards) moving(ctx context.Context) bool {
	for _, p := range s.all {
		if t, err := s.table(ctx, p, true); err == nil && t.Leaving.To != "" {
			return true
		}
	}
	return false
}

// A Shard is a store, and the virtual shards that it has.
type Shard struct {
	Store   string // its name in Config.Stores
	Has     Set    // without those of Leaving
	Leaving Set    // what it gives to another one, by a move that is under way or was broken off
	To      string // that store; "" for none
}

// Status returns the stores, ordered by name, and which virtual shards they have. If stores do not answer, it returns the
// others, and the errors of these.
func (s *Shards) Status(ctx context.Context) ([]Shard, error) {
	tables, err := each(s, func(p *shard) (*table, error) {
		t, err := s.table(ctx, p, true)
		return &t, err
	})
	var all []Shard
	for _, t := range tables {
		if t.Name != "" {
			all = append(all, Shard{t.Name, t.Owns.without(t.Leaving.Shards), t.Leaving.Shards, t.Leaving.To})
		}
	}
	return all, err
}
