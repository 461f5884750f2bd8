//go:build linux

package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// An entry is what an adder writes down of the jobs that the store has accepted, and of those that a transaction had
// which was rolled back; and, before it adds them, of the parents of jobs.
type entry struct {
	Accepted, TakenBack []durable.ID
	Edges               []history.Edge
}

// pace is the mean time between two calls of all adders of a process.
const pace = 600 * time.Microsecond

// An adder adds jobs in all ways in turn, and writes down what it was told.
type adder struct {
	kinds
	db     *sql.DB
	note   func(entry)
	recent []durable.ID // jobs that were accepted, for those that are to wait for some
}

// add has n adders add jobs until ctx ends, each in all ways: with and without keys, with keys that others have,
// several at once and in transactions, with limits, steps and parents. Each writes down what it was told.
func add(ctx context.Context, store durable.Store, k kinds, n int, note func(entry)) error {
	db, err := transactions(store)
	if err != nil {
		return err
	}
	defer db.Close()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			a := &adder{kinds: k, db: db, note: note}
			for way := rand.N(ways); ctx.Err() == nil; way = (way + 1) % ways {
				note(a.addBy(ctx, way))
				select {
				case <-time.After(rand.N(2 * pace * time.Duration(n))):
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
	return nil
}

// transactions returns what begins transactions in a store's database.
func transactions(store durable.Store) (*sql.DB, error) {
	if s, ok := store.(interface{ DB() *sql.DB }); ok {
		return s.DB(), nil
	}
	db, err := sql.Open("sqlite", store.(*sqlite.Store).DSN())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// ways is how many ways there are to add jobs, and one to move them.
const ways = 13

// queues are those that jobs are in.
var queues = []string{durable.DefaultQueue, "a", "b"}

// anyQueue returns options by which jobs are in any queue.
func anyQueue() []durable.Option {
	opts := []durable.Option{durable.Attempts(1000)}
	if queue := queues[rand.N(len(queues))]; queue != durable.DefaultQueue {
		opts = append(opts, durable.Queue(queue))
	}
	return opts
}

// addBy adds jobs in one of the ways.
func (a *adder) addBy(ctx context.Context, way int) entry {
	key, delay := durable.NewID().String(), time.Duration(0)
	if rand.N(10) == 0 {
		delay = rand.N(3 * time.Second)
	}
	one := func(kind *durable.Kind[time.Duration, int], work time.Duration, opts ...durable.Option) entry {
		id, err := kind.Schedule(ctx, delay, work, opts...)
		if err != nil {
			return entry{}
		}
		return entry{Accepted: []durable.ID{id}}
	}
	switch way {
	case 0: // until it is accepted: with a key that is safe
		for ctx.Err() == nil {
			if e := one(a.tick, 0, append(anyQueue(), durable.Key(key))...); len(e.Accepted) > 0 {
				return e
			}
			time.Sleep(10 * time.Millisecond)
		}
		return entry{}
	case 1: // whose key another may be adding
		return one(a.tick, 0, append(anyQueue(), durable.Key(fmt.Sprint("shared", time.Now().UnixMilli()/20)))...)
	case 2: // which takes its key from one that is over
		return one(a.again, 0, append(anyQueue(), durable.Key(fmt.Sprint(rand.N(100))), durable.ReuseKey())...)
	case 3:
		ids, err := a.tick.ScheduleAll(ctx, delay, make([]time.Duration, 1+rand.N(10)), anyQueue()...)
		if err != nil {
			return entry{}
		}
		return entry{Accepted: ids}
	case 4: // in a transaction
		return a.inTx(ctx, func(tx *sql.Tx) (ids []durable.ID, err error) {
			for i := range 2 {
				id, err := a.tick.ScheduleTx(ctx, tx, delay, 0, append(anyQueue(), durable.Key(fmt.Sprint(key, i)))...)
				if err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
			return ids, nil
		})
	case 5: // so many of each at a time
		return one(a.keyed, rand.N(20*time.Millisecond), durable.Attempts(1000), durable.Partition(fmt.Sprint("customer ", rand.N(3))))
	case 6: // so often, also if many are added at once
		n := 1
		if rand.N(20) == 0 {
			n = 3 * often.Burst
		}
		ids, err := a.rated.ScheduleAll(ctx, delay, make([]time.Duration, n), anyQueue()...)
		if err != nil {
			return entry{}
		}
		return entry{Accepted: ids}
	case 7:
		return a.remember(one(a.steps, 0, anyQueue()...))
	case 8: // after some that were added before
		if len(a.recent) > 0 {
			ids, err := a.jobs.Add(ctx, a.prepare(delay, nil)...)
			if err != nil {
				return entry{}
			}
			return a.remember(entry{Accepted: ids})
		}
	case 9: // parents and children together
		ids, err := a.jobs.Add(ctx, a.family(delay)...)
		if err != nil {
			return entry{}
		}
		return a.remember(entry{Accepted: ids})
	case 11: // what waits in one queue is moved to another
		from := durable.Filter{Queue: queues[1+rand.N(2)], States: []durable.State{durable.Waiting, durable.Claimed, durable.Blocked}, Limit: 20}
		a.jobs.ChangeAll(ctx, durable.Change{Op: durable.OpMove, Queue: queues[rand.N(len(queues))]}, from) // as far as it gets
		return entry{}
	case 10: // the same, in a transaction
		return a.remember(a.inTx(ctx, func(tx *sql.Tx) ([]durable.ID, error) { return a.jobs.AddTx(ctx, tx, a.family(delay)...) }))
	}
	return a.remember(one(a.tick, 0, anyQueue()...))
}

// inTx has jobs added in a transaction, which is rolled back once in three times.
func (a *adder) inTx(ctx context.Context, f func(tx *sql.Tx) ([]durable.ID, error)) entry {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return entry{}
	}
	defer tx.Rollback()
	ids, err := f(tx)
	switch {
	case err != nil:
		return entry{}
	case rand.N(3) == 0:
		return entry{TakenBack: ids}
	case tx.Commit() != nil:
		return entry{}
	}
	return entry{Accepted: ids}
}

// remember keeps some of the jobs that were accepted, to be parents.
func (a *adder) remember(e entry) entry {
	a.recent = append(a.recent, e.Accepted...)
	a.recent = a.recent[max(0, len(a.recent)-20):]
	return e
}

// prepare returns a job after some of those before it and one or two that were accepted.
func (a *adder) prepare(delay time.Duration, before []durable.Prepared) []durable.Prepared {
	var parents []durable.ID
	for _, p := range before {
		if rand.N(2) == 0 {
			parents = append(parents, p.ID())
		}
	}
	for range min(len(a.recent), 1+rand.N(2)) {
		parents = append(parents, a.recent[rand.N(len(a.recent))])
	}
	kind := []*durable.Kind[time.Duration, int]{a.tick, a.steps}[rand.N(2)]
	child := kind.Prepare(delay, 0, append(anyQueue(), durable.After(parents...))...)
	a.note(entry{Edges: []history.Edge{{Child: child.ID(), Parents: parents}}})
	return append(before, child)
}

// family returns a job, one with steps and two after some of those before them.
func (a *adder) family(delay time.Duration) []durable.Prepared {
	all := []durable.Prepared{a.tick.Prepare(delay, time.Millisecond, anyQueue()...), a.steps.Prepare(0, 0, anyQueue()...)}
	return a.prepare(0, a.prepare(0, all))
}

// adders starts a process in which so many add jobs.
func (f *fleet) adders(n int) *node {
	f.Helper()
	a := f.startBy(fmt.Sprint("DURABLE_TEST_ADDERS=", n))
	a.adds = true
	return a
}

// accepted returns how many jobs were accepted.
func (f *fleet) accepted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ledger.Accepted)
}

// A database is one that a trial with adders can disturb.
type database struct {
	name    string
	disturb map[string]func() // what else than to kill and stop processes
}

// databases returns one of each sort.
func databases(t *testing.T) map[string]func(t *testing.T) database {
	return map[string]func(t *testing.T) database{
		"sqlite": func(t *testing.T) database {
			dir := t.TempDir()
			d := database{name: filepath.Join(dir, "jobs.db"), disturb: make(map[string]func())}
			if err := syscall.Mount("faults", dir, "tmpfs", 0, diskSize); err != nil {
				t.Logf("no disk is full: %v", err)
				return d
			}
			t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
			d.disturb["full disk"] = func() { fill(t, dir) }
			return d
		},
		"postgres": func(t *testing.T) database {
			server.Schema(t) // or there is no PostgreSQL here
			own, err := pgserver.Start("max_connections=200", "lock_timeout=1s")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(own.Stop)
			return database{own.DSN(), map[string]func(){"restart": func() {
				own.Kill()
				time.Sleep(lease / 2)
				if err := own.Restart(); err != nil {
					t.Fatal(err)
				}
			}}}
		},
	}
}

// fill has a disk be full for a lease: of a size that is used up.
func fill(t *testing.T, dir string) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	used := (int64(disk.Blocks-disk.Bfree) + 16) * int64(disk.Bsize) // others write meanwhile
	if syscall.Mount("faults", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprint("size=", used)) != nil {
		return // they have written more
	}
	time.Sleep(lease)
	if err := syscall.Mount("faults", dir, "tmpfs", syscall.MS_REMOUNT, diskSize); err != nil {
		t.Fatal(err)
	}
}

const diskSize = "size=6g"

// drain drains one of the nodes, and returns how it is let take jobs again. That it had drained is written down.
func (f *fleet) drain(jobs *durable.Jobs) (undrain func()) {
	ctx := context.Background()
	nodes, err := jobs.Nodes(ctx)
	if err != nil || len(nodes) == 0 {
		return func() {} // the database is disturbed
	}
	name := nodes[rand.N(len(nodes))].Name
	if jobs.DrainNode(ctx, name) != nil {
		return func() {}
	}
	seen := false // to have no job
	for begun := time.Now(); !seen && time.Since(begun) < 2*lease; time.Sleep(lease / 100) {
		nodes, err := jobs.Nodes(ctx)
		seen = err == nil && slices.ContainsFunc(nodes, func(n durable.NodeInfo) bool { return n.Name == name && n.Draining && n.Jobs == 0 })
	}
	from := time.Now()
	return func() {
		if seen {
			f.drains = append(f.drains, history.Drain{Node: name, From: from, To: time.Now()})
		}
		for err := jobs.UndrainNode(ctx, name); err != nil && !errors.Is(err, durable.ErrNoNode); err = jobs.UndrainNode(ctx, name) {
			time.Sleep(lease / 100) // the database is disturbed
		}
	}
}

// trialOfAdders has processes add jobs, of 1, 2, 8 and 32 adders in turn, which others run, until so many were
// accepted, while they are killed, stopped and drained, and the database is disturbed. All that was accepted is done,
// once, by nodes that serve its queue.
func trialOfAdders(t *testing.T, f *fleet, d database, least int) {
	store, err := openStore(d.name)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(config(store))
	if err != nil {
		t.Fatal(err)
	}
	f.adders(1)
	victim, sleeper, _ := f.serve("a", ""), f.serve("b", ""), f.serve(queues...)
	adder, most := f.adders(8), []int{1, 2, 8, 32}
	for round := 0; f.accepted() < least || round < 3; round++ {
		adder.end(syscall.SIGKILL)
		adder = f.adders(most[round%len(most)])
		time.Sleep(2 * lease)
		undrain := f.drain(jobs)
		for _, disturb := range d.disturb {
			disturb()
		}
		victim.end(syscall.SIGKILL)
		if round%3 == 0 {
			sleeper.signal(syscall.SIGSTOP)
			time.Sleep(2 * lease)
			sleeper.signal(syscall.SIGCONT)
		}
		victim = f.serve("a", "")
		undrain()
		if round%20 == 19 {
			t.Logf("%d accepted", f.accepted())
		}
	}
	for _, n := range f.nodes {
		if n.adds {
			n.end(syscall.SIGTERM)
		}
	}
	f.settle(store)
	for _, n := range f.nodes {
		n.end(syscall.SIGTERM)
	}
	v := f.judge(store, f.accepted()/2)
	t.Logf("%d children, %d results of steps, %d begins with a rate, %d in a queue, %d nodes that had drained; at most %d of a partition at a time",
		v.Children, v.Kept, v.Rated, v.Queued, v.Drained, v.Most)
	if v.Children == 0 || v.Kept == 0 || v.Rated == 0 || v.Queued == 0 || v.Most < perCustomer {
		t.Error("too quiet to prove anything")
	}
}

// settle waits until all jobs are over. The limit only ends a test whose nodes do nothing any more; a job that was lost
// with its node again and again waits for two minutes.
func (f *fleet) settle(store durable.Store) {
	for last, quiet := -1, time.Now(); ; time.Sleep(lease / 4) {
		counts, err := store.(interface {
			Counts(context.Context, durable.Filter) ([]durable.Count, error)
		}).Counts(context.Background(), durable.Filter{})
		if err != nil {
			f.Fatal(err)
		}
		left := 0
		for _, c := range counts {
			if !c.State.Done() {
				left += c.Jobs
			}
		}
		switch {
		case left == 0:
			return
		case left != last:
			last, quiet = left, time.Now()
		case time.Since(quiet) > 5*time.Minute:
			f.Fatalf("%d jobs do not end", left)
		}
	}
}

// What is added while processes are killed and stopped, and the database is disturbed, is neither lost nor done twice,
// no step of it is done again after its result was kept, none begins before its parents have succeeded, and the limits
// of its partition and its kind hold.
func TestHistoryWithAdders(t *testing.T) {
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			trialOfAdders(t, newFleet(t, d.name), d, 1000)
		})
	}
}

// The same goes for a hundred thousand jobs.
func TestHistorySoakWithAdders(t *testing.T) {
	if soak(t) == 0 {
		t.Skip("EXECUTOR_SOAK is not set to a duration")
	}
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			trialOfAdders(t, newFleet(t, d.name), d, enough(t))
		})
	}
}
