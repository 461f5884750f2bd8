//go:build linux

// Package faults kills, stops and cuts off real processes that share a store.
package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/storetest/pgserver"
)

// lease is short, so that the tests are.
const lease = time.Second

var server *pgtest.Server

func TestMain(m *testing.M) {
	if name := os.Getenv("DURABLE_TEST_STORE"); name != "" {
		if err := work(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if os.Getenv("EXECUTOR_LONG") != "" {
		flag.Set("test.parallel", "4") // they wait more than they work
	}
	os.Exit(pgtest.Main(m.Run, &server))
}

func openStore(name string) (durable.Store, error) {
	if strings.HasPrefix(name, "postgres:") {
		return postgres.Open(name)
	}
	return sqlite.Open(name)
}

func config(store durable.Store) durable.Config {
	return durable.Config{Store: store, Lease: lease, Poll: 200 * time.Millisecond, History: 1 << 20}
}

// work is a node, or users, in a process of its own: what is written down goes to its output.
func work(name string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	store, err := openStore(name)
	if err != nil {
		return err
	}
	defer store.Close()
	begin, err := transactions(store)
	if err != nil {
		return err
	}
	if fault := os.Getenv("DURABLE_TEST_FAULT"); fault != "" {
		store, begin = planted[fault](store.(whole)), nil
	}
	c := config(store)
	if os.Getenv("DURABLE_TEST_DEFAULTS") != "" {
		c = durable.Config{Store: store}
	}
	c.Executor = executor.Scheduled(16)
	if text, ok := os.LookupEnv("DURABLE_TEST_QUEUES"); ok {
		c.Queues = strings.Split(text, ",")
	}
	jobs, err := durable.New(c)
	if err != nil {
		return err
	}
	defer c.Executor.Close()
	out := json.NewEncoder(os.Stdout)
	var mu sync.Mutex
	m := newMachine(jobs, func(n note) bool {
		mu.Lock()
		defer mu.Unlock()
		return out.Encode(n) == nil
	})
	if text := os.Getenv("DURABLE_TEST_USERS"); text != "" {
		var users, batch int
		if _, err := fmt.Sscanf(text, "%d of %d", &users, &batch); err != nil {
			return err
		}
		use(ctx, m, begin, users, batch)
		return nil
	}
	return jobs.Run(ctx)
}

// node is a process that runs work.
type node struct {
	cmd  *exec.Cmd
	done chan struct{} // its output has ended
	uses bool          // it is of users, and runs nothing
}

// fleet is some nodes and what they wrote.
type fleet struct {
	*testing.T
	*ledger
	store    string // by which nodes that are started from now on find it
	direct   string // by which the test does
	fault    string // what is wrong with their store, see planted
	defaults bool   // nodes have the default settings
	nodes    []*node
	distinct map[occurrence]struct{} // that were begun, however often
	more     chan struct{}           // has room for one, and gets it when another was begun
}

type occurrence struct {
	job durable.ID
	at  int64
}

func newFleet(t *testing.T, store string) *fleet {
	if os.Getenv("EXECUTOR_LONG") == "" && soak(t) == 0 {
		t.Skip("takes many leases of real time")
	}
	return &fleet{T: t, ledger: newLedger(), store: store, direct: store, distinct: make(map[occurrence]struct{}),
		more: make(chan struct{}, 1)}
}

// occurrences returns how many were begun, however often.
func (f *fleet) occurrences() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.distinct)
}

// reach waits until n occurrences were begun. The limit is no claim: it only ends
// a test whose nodes do nothing any more, on a machine however busy.
func (f *fleet) reach(n int) {
	f.Helper()
	timeout := time.After(5 * time.Minute)
	for {
		begun := f.occurrences()
		if begun >= n {
			return
		}
		select {
		case <-f.more:
		case <-timeout:
			f.Fatalf("only %d occurrences were begun", begun)
		}
	}
}

func (f *fleet) start() *node {
	f.Helper()
	return f.startBy(nil)
}

// serve starts a node that serves these queues.
func (f *fleet) serve(queues ...string) *node {
	f.Helper()
	return f.startBy(queues, "DURABLE_TEST_QUEUES="+strings.Join(queues, ","))
}

// startBy starts a process with more in its environment, which serves these queues if that is to be judged.
func (f *fleet) startBy(serves []string, more ...string) *node {
	f.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DURABLE_TEST_STORE="+f.store, "DURABLE_TEST_FAULT="+f.fault)
	cmd.Env = append(cmd.Env, more...)
	if f.defaults {
		cmd.Env = append(cmd.Env, "DURABLE_TEST_DEFAULTS=1")
	}
	cmd.Stderr = io.Discard
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	n := &node{cmd: cmd, done: make(chan struct{})}
	f.nodes = append(f.nodes, n)
	go func() {
		defer close(n.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var n note
			if json.Unmarshal(lines.Bytes(), &n) != nil {
				continue // half a line, of a process that was killed
			}
			if n.Start != nil {
				n.Start.Serves = serves
			}
			f.take(n)
			if n.Start == nil {
				continue
			}
			f.mu.Lock()
			f.distinct[occurrence{n.Start.Job, n.Start.Occurrence.UnixNano()}] = struct{}{}
			f.mu.Unlock()
			select {
			case f.more <- struct{}{}:
			default:
			}
		}
		if err := lines.Err(); err != nil {
			f.Error(err)
		}
	}()
	f.Cleanup(func() { n.end(syscall.SIGKILL) })
	return n
}

func (n *node) signal(s syscall.Signal) { n.cmd.Process.Signal(s) }

// end ends the process and waits for it.
func (n *node) end(s syscall.Signal) {
	n.signal(s)
	<-n.done
	n.cmd.Wait()
}

// stores returns the name of a new store of each sort.
func stores(t *testing.T) map[string]func(t *testing.T) string {
	return map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "jobs.db") },
		"postgres": func(t *testing.T) string { return server.Schema(t) },
	}
}

// trial lets processes share forty schedules, disturbs them, and judges, when at
// least so many occurrences were committed.
func trial(t *testing.T, f *fleet, least int, disturb func()) {
	t.Helper()
	trialOf(t, f, load{schedules: 40, period: 100 * time.Millisecond, work: 40}, least, disturb)
}

// load is what a trial has to do: schedules of which the first takes no time, the next a millisecond, and so on, up to
// work.
type load struct {
	schedules int
	period    time.Duration
	work      int
}

// add adds the schedules.
func (l load) add(t *testing.T, jobs *durable.Jobs) {
	t.Helper()
	tick := durable.KindOf[chore, int](jobs, "tick")
	for i := range l.schedules {
		_, err := tick.AtFixedRate(t.Context(), fmt.Sprint("tick", i), 0, l.period, chore{Work: time.Duration(i%l.work) * time.Millisecond},
			durable.OnMissed(durable.CatchUp(1<<20)), durable.Attempts(1000), durable.WithTags(history.Tag("tick")))
		if err != nil {
			t.Fatalf("schedule %d: %v", i, err)
		}
	}
}

func trialOf(t *testing.T, f *fleet, l load, least int, disturb func()) {
	t.Helper()
	store, err := openStore(f.direct)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(config(store))
	if err != nil {
		t.Fatal(err)
	}
	l.add(t, jobs)
	disturb()
	f.reach(least + l.schedules) // of each schedule the latest may not be committed
	for _, n := range f.nodes {
		n.end(syscall.SIGTERM)
	}
	f.judge(store, least)
}

// distinct counts the jobs that were accepted, however often.
func distinct(ids []durable.ID) int {
	all := make(map[durable.ID]struct{}, len(ids))
	for _, id := range ids {
		all[id] = struct{}{}
	}
	return len(all)
}

// judge judges what is in the store, when all processes have ended.
func (f *fleet) judge(store durable.Store, least int) *history.Verdict {
	t := f.T
	t.Helper()
	v, err := f.record.Check(context.Background(), store)
	if err != nil {
		t.Fatalf("judging: %v", err)
	}
	for _, fault := range v.Faults {
		t.Error(fault)
	}
	t.Logf("%d accepted, %d taken back; %d committed: %d lost, %d doubled; %d begun again, %d runs ended with their node; longest pause %v",
		distinct(f.record.Accepted), len(f.record.TakenBack), v.Committed, v.Missing, v.Doubled, v.Twice, v.Lost,
		history.Pause(f.record.Starts).Round(time.Millisecond))
	if v.Committed < least {
		t.Errorf("only %d occurrences were committed", v.Committed)
	}
	return v
}

// A process is killed and replaced, again and again, another is stopped for longer than its lease and goes on, a third
// is left alone. No occurrence is lost, committed twice or begun early.
func TestHistoryWithKilledAndStoppedProcesses(t *testing.T) {
	t.Parallel()
	const rounds = 3
	for name, newStore := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, newStore(t))
			trial(t, f, 100*rounds, func() {
				victim, sleeper, _ := f.start(), f.start(), f.start()
				f.reach(1)
				for range rounds {
					time.Sleep(lease / 2)
					victim.end(syscall.SIGKILL)
					sleeper.signal(syscall.SIGSTOP)
					time.Sleep(2 * lease)
					sleeper.signal(syscall.SIGCONT)
					victim = f.start()
				}
				time.Sleep(lease)
			})
		})
	}
}

// The database is killed and started again under the nodes. They go on by themselves, and no occurrence is lost,
// committed twice or begun early.
func TestHistoryWithRestartedDatabase(t *testing.T) {
	t.Parallel()
	server.Schema(t) // or there is no PostgreSQL here
	server, err := pgserver.Start("fsync=off", "max_connections=200")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	f := newFleet(t, server.DSN())
	trial(t, f, 300, func() {
		f.start()
		f.start()
		f.reach(1)
		for range 2 {
			time.Sleep(lease)
			server.Kill()
			time.Sleep(lease)
			if err := server.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * lease)
	})
}

// The line between one node and the database is cut, and then is silent, for longer than the lease. Another node takes
// over, and no occurrence is lost, committed twice or begun early.
func TestHistoryWithCutAndSilentLine(t *testing.T) {
	t.Parallel()
	f := newFleet(t, stores(t)["postgres"](t))
	line := newProxy(t, server.Port)
	trial(t, f, 300, func() {
		f.start()
		f.store = strings.Replace(f.direct, fmt.Sprint(":", server.Port, "/"), fmt.Sprint(":", line.port(), "/"), 1)
		f.start()
		f.reach(1)
		for _, mode := range []mode{cut, silent, cut} {
			time.Sleep(lease)
			line.set(mode)
			time.Sleep(2 * lease)
			line.set(open)
		}
		time.Sleep(2 * lease)
	})
}
