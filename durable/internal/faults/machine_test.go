//go:build linux

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/store"
)

// A chore is the payload of a job of every kind.
type chore struct {
	Work   time.Duration `json:",omitempty"`
	Fails  int           `json:",omitempty"` // so many of its first attempts
	Dies   bool          `json:",omitempty"` // it fails for good
	Signal bool          `json:",omitempty"` // it waits for one, if it has steps
}

// A note is what is written down outside of the store: by a handler when it begins, has done a step, and ends; and by a
// user before and after a call.
type note struct {
	Start *history.Start `json:",omitempty"`
	Step  *history.Step  `json:",omitempty"`
	End   *history.End   `json:",omitempty"`

	Edges     []history.Edge `json:",omitempty"`
	Dies      []durable.ID   `json:",omitempty"`
	Touched   []durable.ID   `json:",omitempty"`
	Accepted  []durable.ID   `json:",omitempty"`
	TakenBack []durable.ID   `json:",omitempty"`
	Wish      *history.Wish  `json:",omitempty"`
}

// A ledger is all that was written down.
type ledger struct {
	mu     sync.Mutex
	record history.Record
}

func newLedger() *ledger {
	return &ledger{record: history.Record{PerPartition: map[string]int{"parted": perPartition}, Global: map[string]int{"global": 3},
		Rates: map[string]executor.Rate{"rated": often}, Results: true, Tagged: true}}
}

func (l *ledger) take(n note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.record
	if n.Start != nil {
		r.Starts = append(r.Starts, *n.Start)
	}
	if n.Step != nil {
		r.Steps = append(r.Steps, *n.Step)
	}
	if n.End != nil {
		r.Ends = append(r.Ends, *n.End)
	}
	if n.Wish != nil {
		r.Wishes = append(r.Wishes, *n.Wish)
	}
	r.Edges = append(r.Edges, n.Edges...)
	r.Dies = append(r.Dies, n.Dies...)
	r.Touched = append(r.Touched, n.Touched...)
	r.Accepted = append(r.Accepted, n.Accepted...)
	r.TakenBack = append(r.TakenBack, n.TakenBack...)
}

// perPartition is how many jobs of a partition of kind "parted" run at the same time.
const perPartition = 2

// often is how often jobs of kind "rated" begin.
var often = executor.Rate{PerSecond: 100, Burst: 10}

// kinds are those that nodes run. Jobs of kind "tick" are periodic.
var kinds = map[string][]durable.HandlerOption{
	"free":        nil,
	"tick":        nil,
	"steps":       nil,
	history.Again: nil,
	"local":       {durable.Limit(2)},
	"global":      {durable.GlobalLimit(3)},
	"parted":      {durable.PartitionLimit(perPartition)},
	"rated":       {durable.GlobalRate(often)},
}

// queues are those that jobs are in.
var queues = []string{durable.DefaultQueue, "a", "b"}

// unfinished are the states of jobs that are not over.
var unfinished = []durable.State{durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused, durable.Blocked}

// A machine is what a node, and a user, have of the kinds.
type machine struct {
	jobs  *durable.Jobs
	kinds map[string]*durable.Kind[chore, int]
	write func(note) (alive bool)
}

// newMachine sets the handlers, which write down what they do.
func newMachine(jobs *durable.Jobs, write func(note) (alive bool)) *machine {
	m := &machine{jobs: jobs, kinds: make(map[string]*durable.Kind[chore, int]), write: write}
	for name, opts := range kinds {
		m.kinds[name] = durable.Handle(jobs, name, m.handle, append(opts, durable.WithBackoff(executor.Backoff(10*time.Millisecond, 100*time.Millisecond)))...)
	}
	return m
}

var errPlanned = errors.New("it was to fail")

// handle is the handler of all kinds. What a job does depends on its payload and, if it has steps, on its kind.
func (m *machine) handle(ctx context.Context, c chore) (result int, err error) {
	j, _ := durable.Current(ctx)
	start := &history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now(), Node: j.Owner, Queue: j.Queue}
	if j.Kind == history.Again {
		start.Asked = j.Key
	}
	if !m.write(note{Start: start}) {
		<-ctx.Done()
	}
	defer func() {
		m.write(note{End: &history.End{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, Ended: time.Now(), Failed: err != nil}})
	}()
	if j.Kind == "steps" {
		return m.steps(ctx, j, c)
	}
	if err := busy(ctx, c.Work); err != nil {
		return 0, err
	}
	switch {
	case c.Dies:
		return 0, executor.Permanent(errPlanned)
	case j.Attempt <= c.Fails:
		return 0, errPlanned
	}
	results, err := durable.ParentResults[int](ctx)
	if errors.Is(err, durable.ErrNotFound) {
		err = nil // a parent was deleted
	}
	return 1 + slices.Max(append(results, 0)), err
}

func busy(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// steps has a sleep after the first of three steps, and a wait for a signal after the second. It fails after these.
func (m *machine) steps(ctx context.Context, j durable.Job, c chore) (sum int, err error) {
	for i := range 3 {
		n, err := durable.Step(ctx, history.StepName(i), func(ctx context.Context) (int, error) {
			if err := busy(ctx, c.Work/3); err != nil {
				return 0, err
			}
			n := rand.N(1 << 30)
			m.write(note{Step: &history.Step{Job: j.ID, Epoch: j.Epoch, Step: i, Value: n}})
			return n, nil
		})
		if err == nil && i == 0 {
			err = durable.SnoozeOnce(ctx, "nap", c.Work)
		}
		if err == nil && i == 1 && c.Signal {
			_, err = durable.Wait[int](ctx, "go")
		}
		if err == nil && i == 1 && j.Attempt <= c.Fails {
			err = errPlanned
		}
		if err == nil && i == 1 && c.Dies {
			err = executor.Permanent(errPlanned)
		}
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// A user adds jobs in all ways, and changes them, and writes down what it was told.
type user struct {
	*machine
	*rand.Rand
	begin       func(context.Context) (store.Tx, error) // nil if the store has no transactions
	batch       int                                     // the most jobs that are added at once
	work, delay time.Duration                           // the longest
	keys        int                                     // of jobs that are asked for again

	mu     sync.Mutex
	recent []durable.ID // that were accepted
}

func (u *user) upTo(d time.Duration) time.Duration { return time.Duration(u.Int64N(int64(d))) }

func (u *user) one(of ...string) string { return of[u.IntN(len(of))] }

// draft draws a job of a kind.
func (u *user) draft(kind string) (delay time.Duration, c chore, opts []durable.Option) {
	c = chore{Fails: max(0, u.IntN(6)-4), Signal: u.IntN(4) == 0}
	switch {
	case kind == "parted", kind == "global": // or there would be too few at a time
		c.Work = u.work/4 + u.upTo(u.work)
	case kind != "rated" && u.IntN(2) == 0: // or there would be too few workers to exceed the rate
		c.Work = u.upTo(u.work)
	}
	switch u.IntN(6) {
	case 0:
		delay = u.upTo(u.delay / 50)
	case 1:
		delay = u.upTo(u.delay)
	}
	opts = []durable.Option{durable.Attempts(1000), durable.WithPriority(durable.Priority(u.IntN(3) - 1)), durable.WithTags(history.Tag(kind))}
	queue := queues[u.IntN(len(queues))]
	if kind == "parted" {
		return delay, c, append(opts, durable.Partition(fmt.Sprint("customer ", u.IntN(4))))
	}
	if queue != durable.DefaultQueue {
		opts = append(opts, durable.Queue(queue))
	}
	return delay, c, opts
}

// add draws what to add, and returns the call that does.
func (u *user) add(ctx context.Context) (call func()) {
	switch u.IntN(12) {
	case 0, 1: // by several at the same time, who all want it
		return u.again(ctx)
	case 2, 3, 4:
		return u.family(ctx)
	case 5, 6:
		return u.many(ctx)
	case 7: // whose key another may be adding
		_, c, opts := u.draft("free")
		return u.schedule(ctx, "free", 0, c, append(opts, durable.Key(fmt.Sprint("shared ", time.Now().UnixMilli()/20))), false)
	}
	kind := u.one("free", "free", "local", "global", "parted", "rated", "steps")
	delay, c, opts := u.draft(kind)
	return u.schedule(ctx, kind, delay, c, append(opts, durable.Key(durable.NewID().String())), u.IntN(2) == 0)
}

// schedule adds one job, and tries until it is accepted: with a key that is safe.
func (u *user) schedule(ctx context.Context, kind string, delay time.Duration, c chore, opts []durable.Option, signal bool) func() {
	return func() {
		for try := 0; try < 50 && ctx.Err() == nil; try++ {
			id, err := u.kinds[kind].AddAfter(ctx, delay, c, opts...)
			if err == nil {
				u.accept(id)
				if signal && kind == "steps" && c.Signal { // often before it is waited for
					u.jobs.Signal(ctx, id, "go", 7)
				}
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// again asks for a job that others ask for, too, in all ways that lead to a run after the call.
func (u *user) again(ctx context.Context) func() {
	delay, c, opts := u.draft(history.Again)
	key := fmt.Sprint("again ", u.IntN(u.keys))
	c.Fails = 0
	opts = append(opts, durable.Key(key), []durable.Option{durable.ReplaceTime(), durable.Replace(), durable.ReplacePayload(),
		durable.ReuseKey()}[u.IntN(4)])
	return func() {
		for try := 0; try < 50 && ctx.Err() == nil; try++ {
			at := time.Now()
			id, err := u.kinds[history.Again].AddAfter(ctx, delay, c, opts...)
			if err == nil {
				u.write(note{Accepted: []durable.ID{id}, Wish: &history.Wish{Key: key, At: at}})
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// many adds several of a kind at once: so many, sometimes, that their rate is exceeded.
func (u *user) many(ctx context.Context) func() {
	kind := u.one("free", "free", "free", "free", "parted", "rated", "steps")
	n := 1 + u.IntN(u.batch)
	if kind != "free" { // a bound holds it up
		n = 1 + u.IntN(3*often.Burst)
	}
	var all []durable.Prepared
	var before note
	for range n {
		delay, c, opts := u.draft(kind)
		c.Dies = u.IntN(30) == 0
		k := u.kinds[kind].Prepare(delay, c, opts...)
		if all = append(all, k); c.Dies {
			before.Dies = append(before.Dies, k.ID())
		}
	}
	return u.addAll(ctx, before, all)
}

// family adds jobs of which each is after some of those before it, or one after the others that are all after the
// first; sometimes after some that were accepted before, too.
func (u *user) family(ctx context.Context) func() {
	var all []durable.Prepared
	var before note
	n, fan := 2+u.IntN(4), u.IntN(3) == 0
	if fan {
		n += u.IntN(u.batch)
	}
	old := u.some()
	for i := range n {
		kind := u.one("free", "free", "free", "free", "free", "local", "steps", "steps")
		delay, c, opts := u.draft(kind)
		c.Dies = u.IntN(8) == 0 && (!fan || i < n-1)
		var parents []durable.ID
		for k, p := range all {
			if fan && (k == 0 || i == n-1) || !fan && u.IntN(2) == 0 {
				parents = append(parents, p.ID())
			}
		}
		if len(old) > 0 && u.IntN(3) == 0 {
			if id := old[u.IntN(len(old))]; !slices.Contains(parents, id) {
				parents = append(parents, id)
			}
		}
		e := history.Edge{Parents: parents}
		if len(parents) > 0 {
			opts = append(opts, durable.After(parents...))
			if e.Anyway = u.IntN(2) == 0; e.Anyway {
				opts = append(opts, durable.EvenIfFailed())
			}
			if u.IntN(3) == 0 {
				e.Need = 1 + u.IntN(len(parents))
				opts = append(opts, durable.AtLeast(e.Need))
			}
		}
		k := u.kinds[kind].Prepare(delay, c, opts...)
		if e.Child = k.ID(); len(parents) > 0 {
			before.Edges = append(before.Edges, e)
		}
		if all = append(all, k); c.Dies {
			before.Dies = append(before.Dies, k.ID())
		}
	}
	return u.addAll(ctx, before, all)
}

// addAll adds jobs together, half of the time in a transaction, if there are any, of which a third is rolled back.
func (u *user) addAll(ctx context.Context, before note, all []durable.Prepared) func() {
	inTx, back := u.begin != nil && u.IntN(2) == 0, u.IntN(3) == 0
	return func() {
		u.write(before)
		if !inTx {
			if ids, err := u.jobs.Add(ctx, all...); err == nil {
				u.accept(ids...)
			}
			return
		}
		tx, err := u.begin(ctx)
		if err != nil {
			return
		}
		defer tx.Rollback()
		ids, err := u.jobs.AddTx(ctx, tx, all...)
		switch {
		case err != nil:
		case back:
			u.write(note{TakenBack: ids})
		case tx.Commit() == nil:
			u.accept(ids...)
		}
	}
}

// accept writes down that jobs were accepted, and keeps some in mind.
func (u *user) accept(ids ...durable.ID) {
	u.write(note{Accepted: ids})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recent = append(u.recent, ids[max(0, len(ids)-20):]...)
	u.recent = slices.Clone(u.recent[max(0, len(u.recent)-20):])
}

// some returns jobs that were accepted lately.
func (u *user) some() []durable.ID {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.recent
}

// act draws how to change jobs, and returns the call that does: no periodic ones, which are in the default queue.
func (u *user) act(ctx context.Context) (call func()) {
	recent := u.some()
	if len(recent) == 0 {
		return func() {}
	}
	id, wait, queue := recent[u.IntN(len(recent))], u.upTo(800*time.Millisecond), queues[u.IntN(len(queues))]
	waiting := durable.Filter{Queue: queues[1+u.IntN(2)], States: []durable.State{durable.Waiting, durable.Claimed}, Limit: 20}
	if u.IntN(2) == 0 {
		waiting.Tags = []string{history.Tag(u.one("free", "steps", history.Again))}
	}
	switch u.IntN(8) {
	case 0:
		op := []func(context.Context, durable.ID) (durable.Answer, error){u.jobs.Cancel, u.jobs.Delete}[u.IntN(2)]
		return func() {
			u.write(note{Touched: []durable.ID{id}})
			op(ctx, id)
		}
	case 1, 2:
		return func() { u.jobs.Move(ctx, id, queue) }
	case 3, 4:
		return func() { u.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpMove, Queue: queue}, waiting) }
	case 5:
		return func() { u.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpRunNow}, waiting) }
	case 6:
		return func() {
			u.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpPause}, waiting)
			time.Sleep(wait)
			u.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpResume}, paused)
		}
	}
	kind := u.one("free", "parted", "global", "steps")
	return func() {
		u.jobs.PauseKind(ctx, kind)
		time.Sleep(wait)
		u.jobs.ResumeKind(ctx, kind)
	}
}

var paused = durable.Filter{States: []durable.State{durable.Paused}}

// nudge ends what users who were killed have left: pauses, and waits for signals.
func nudge(ctx context.Context, operator *durable.Jobs) error {
	kinds, err := operator.PausedKinds(ctx)
	for _, kind := range kinds {
		err = errors.Join(err, operator.ResumeKind(ctx, kind))
	}
	_, failed := operator.ChangeAll(ctx, durable.Change{Op: durable.OpResume}, paused)
	steps, unlisted := operator.List(ctx, durable.Filter{Kind: "steps", States: unfinished, Limit: 1000})
	for _, j := range steps {
		_, unsent := operator.Signal(ctx, j.ID, "go", 7)
		err = errors.Join(err, unsent)
	}
	return errors.Join(err, failed, unlisted)
}
