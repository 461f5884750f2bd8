//go:build linux

package faults

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/sqlite"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest/pgserver"
	"github.com/executor-go/executor/durable/transfer"
)

// pace is the mean time between two calls of all users of a process.
const pace = 5 * time.Millisecond

// use has users add and change jobs until ctx ends.
func use(ctx context.Context, m *machine, begin func(context.Context) (durablestore.Tx, error), users, batch int) {
	var all sync.WaitGroup
	for range users {
		all.Go(func() {
			u := &user{machine: m, Rand: rand.New(rand.NewPCG(rand.Uint64(), 0)), begin: begin, batch: batch,
				work: 20 * time.Millisecond, delay: 3 * time.Second, keys: 100}
			for ctx.Err() == nil {
				if call := u.add(ctx); u.IntN(10) > 0 {
					call()
				} else {
					u.act(ctx)()
				}
				select {
				case <-time.After(u.upTo(2 * pace * time.Duration(users))):
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

// transactions returns how to begin transactions in a store's database.
func transactions(store durable.Store) (func(context.Context) (durablestore.Tx, error), error) {
	var db *sql.DB
	if s, ok := store.(interface{ DB() *sql.DB }); ok {
		db = s.DB()
	} else {
		var err error
		if db, err = sql.Open("sqlite", store.(*sqlite.Store).DSN()); err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
	}
	return func(ctx context.Context) (durablestore.Tx, error) { return db.BeginTx(ctx, nil) }, nil
}

// users starts a process of so many users, who add at most so many jobs at once.
func (f *fleet) users(n, batch int) *node {
	f.Helper()
	u := f.startBy(nil, fmt.Sprintf("DURABLE_TEST_USERS=%d of %d", n, batch))
	u.uses = true
	return u
}

// A database is one that a trial with users can disturb.
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
			own, err := pgserver.Start("fsync=off", "max_connections=200", "lock_timeout=1s")
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
			f.record.Drains = append(f.record.Drains, history.Drain{Node: name, From: from, To: time.Now()})
		}
		for err := jobs.UndrainNode(ctx, name); err != nil && !errors.Is(err, durable.ErrNoNode); err = jobs.UndrainNode(ctx, name) {
			time.Sleep(lease / 100) // the database is disturbed
		}
	}
}

// A size is how large a trial of users is.
type size struct {
	least  int           // occurrences
	length time.Duration // at the latest then no more are added, unless it is 0
	rounds int           // the fewest on each database
	load                 // what is periodic
	batch  int           // the most jobs that are added at once
	calm   int           // the database is disturbed in one of so many rounds
}

// backlog is how many jobs may wait before no more are added for a while.
const backlog = 20_000

// trialOfUsers has processes add and change jobs of all sorts, of 1, 2, 8 and 32 users in turn, which others run, until
// so many occurrences were begun, while all are killed, stopped and drained, and the database is disturbed. If there are
// several databases, all processes are ended with a part of that, and others go on with the next database, to which what
// the one before has is moved. All that was accepted ends as it must, once.
func trialOfUsers(t *testing.T, f *fleet, s size, databases ...database) {
	var export bytes.Buffer
	for i, d := range databases {
		f.store, f.direct = d.name, d.name
		store, err := openStore(d.name)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		jobs, err := durable.New(config(store))
		if err != nil {
			t.Fatal(err)
		}
		part := s
		if part.least = s.least * (i + 1) / len(databases); i == 0 {
			s.load.add(t, jobs)
		} else if _, err := transfer.Import(t.Context(), store, &export); err != nil {
			t.Fatal(err)
		}
		running := f.work(jobs, d, part)
		if i < len(databases)-1 {
			for _, n := range running {
				n.end([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[rand.N(2)])
			}
			var moved transfer.Summary
			for { // what was killed is alive until its lease ends
				export.Reset()
				if moved, err = transfer.Export(t.Context(), store, &export); !errors.Is(err, executor.ErrInvalid) {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("moved %+v", moved)
			continue
		}
		running[0].end(syscall.SIGTERM)
		t.Logf("%d begun; now the rest", f.occurrences())
		f.settle(jobs)
		for _, n := range running {
			n.end(syscall.SIGTERM)
		}
		t.Log("all is over; now the judge")
		v := f.judge(store, f.occurrences()/2)
		t.Logf("%d failed and tried again; %d children, %d canceled with their parents; %d results of steps; %d begins with a rate, %d in a queue; %d nodes that had drained; %d calls for a run; at most %d of a partition at a time",
			v.Retried, v.Children, v.Spared, v.Kept, v.Rated, v.Queued, v.Drained, v.Wishes, v.Most)
		if v.Retried == 0 || v.Children == 0 || v.Spared == 0 || v.Kept == 0 || v.Rated == 0 || v.Queued == 0 || v.Wishes == 0 ||
			v.Most == 0 || f.occurrences() > 10_000 && v.Most < perPartition { // a short one may not meet two at a time
			t.Error("too quiet to prove anything")
		}
	}
}

// work has processes work on a database as trialOfUsers does, and returns those that still do: first that of the users.
func (f *fleet) work(jobs *durable.Jobs, d database, s size) []*node {
	begun := time.Now()
	serves := [][]string{{"a", durable.DefaultQueue}, {"b", durable.DefaultQueue}, queues}
	var nodes []*node
	for _, queues := range serves {
		nodes = append(nodes, f.serve(queues...))
	}
	users, most := f.users(8, s.batch), []int{1, 2, 8, 32}
	for round := 0; f.occurrences() < s.least && (s.length == 0 || time.Since(begun) < s.length) || round < s.rounds; round++ {
		users.end(syscall.SIGKILL)
		if f.left(jobs) < backlog {
			users = f.users(most[round%len(most)], s.batch)
		}
		time.Sleep(2 * lease)
		undrain := f.drain(jobs)
		if round%s.calm == 0 {
			for _, disturb := range d.disturb {
				disturb()
			}
		}
		victim := rand.N(len(nodes))
		nodes[victim].end(syscall.SIGKILL)
		if round%3 == 0 {
			sleeper := nodes[(victim+1)%len(nodes)]
			sleeper.signal(syscall.SIGSTOP)
			time.Sleep(2 * lease)
			sleeper.signal(syscall.SIGCONT)
		}
		nodes[victim] = f.serve(serves[victim]...)
		undrain()
		if nudge(f.Context(), jobs); round%10 == 9 {
			f.Logf("%v: %d begun, %d wait", time.Since(begun).Round(time.Second), f.occurrences(), f.left(jobs))
		}
	}
	return append([]*node{users}, nodes...)
}

// left returns how many jobs have not ended, of those that are to.
func (f *fleet) left(jobs *durable.Jobs) int {
	counts, err := jobs.Counts(context.Background(), durable.Filter{States: unfinished})
	if err != nil {
		return 0 // the database is disturbed
	}
	left := 0
	for _, c := range counts {
		if c.Kind != "tick" {
			left += c.Jobs
		}
	}
	return left
}

// settle waits until all jobs are over. The limit only ends a test whose nodes do nothing any more; a job that was lost
// with its node again and again waits for two minutes.
func (f *fleet) settle(jobs *durable.Jobs) {
	for last, quiet := -1, time.Now(); ; time.Sleep(lease / 4) {
		if err := nudge(context.Background(), jobs); err != nil {
			if time.Since(quiet) > time.Minute { // on a busy machine others may have the database for long
				f.Fatal(err)
			}
			continue
		}
		switch left := f.left(jobs); {
		case left == 0:
			return
		case left != last:
			last, quiet = left, time.Now()
		case time.Since(quiet) > 5*time.Minute:
			f.Fatalf("%d jobs do not end", left)
		}
	}
}

// small is the size of the short form.
var small = size{least: 1000, rounds: 3, load: load{20, 100 * time.Millisecond, 10}, batch: 10, calm: 1}

// What users add and change while processes are killed and stopped, and the database is disturbed, is neither lost nor
// done twice, and ends as it must: no step is done again after its result was kept, none begins before its parents, and
// the limits of its partition and its kind hold.
func TestHistoryOfUsers(t *testing.T) {
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			trialOfUsers(t, newFleet(t, d.name), small, d)
		})
	}
}

// The same goes for programs that move from a file to PostgreSQL and back, in the middle of their work.
func TestHistoryOfUsersWhoMove(t *testing.T) {
	t.Parallel()
	all := databases(t)
	file := all["sqlite"](t)
	s := small
	s.rounds = 1
	trialOfUsers(t, newFleet(t, file.name), s, file, all["postgres"](t), all["sqlite"](t))
}

// The same goes for a hundred thousand occurrences and more.
func TestHistorySoak(t *testing.T) {
	length := soak(t)
	if length == 0 {
		t.Skip("EXECUTOR_SOAK is not set to a duration")
	}
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			trialOfUsers(t, newFleet(t, d.name), size{least: enough(t), length: length, rounds: 3,
				load: load{100, 100 * time.Millisecond, 10}, batch: 100, calm: 5}, d)
		})
	}
}

// The judge of processes finds faults that are planted in their store: in what each sort of process writes down. For
// the rest see TestProgramsFindPlantedFaults.
func TestHistoryFindsPlantedFaults(t *testing.T) {
	for _, fault := range []string{"was accepted, and is not there", "of its parents had ended", "was done again", "was committed twice",
		"its handler has failed"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, stores(t)["sqlite"](t))
			f.fault = fault
			store, err := openStore(f.direct)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			jobs, err := durable.New(config(planted[fault](store.(whole))))
			if err != nil {
				t.Fatal(err)
			}
			victim, _ := f.serve("a", ""), f.serve(queues...)
			f.users(8, 30)
			for begun := 100; ; begun += 100 {
				f.reach(begun)
				undrain := f.drain(jobs)
				victim.end(syscall.SIGKILL)
				victim = f.serve("a", "")
				time.Sleep(lease)
				undrain()
				f.mu.Lock()
				v, err := f.record.Check(t.Context(), store)
				f.mu.Unlock()
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(v.Faults, func(s string) bool { return strings.Contains(s, fault) }) {
					break
				}
				if begun > 3000 {
					t.Fatalf("%d occurrences, and none finds that a job %s", begun, fault)
				}
			}
		})
	}
}
