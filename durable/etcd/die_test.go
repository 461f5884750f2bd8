//go:build unix

package etcd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/history"
	"github.com/executor-go/executor/durable/store"
)

// plugIn makes this process a host of a wire, if it is to be one.
var plugIn = func() error { return nil }

// clockVariable says how far the clock of a member is ahead.
const clockVariable = "EXECUTOR_TEST_AHEAD"

// TestMain runs the tests, or is a member of a fleet. Six run at a time unless -parallel says otherwise: most of the time
// they wait, for elections and leases.
func TestMain(m *testing.M) {
	if text := os.Getenv("EXECUTOR_TEST_MEMBER"); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "6")
	}
	os.Exit(m.Run())
}

// lease is short, so that the tests are.
const lease = 2 * time.Second

func config(s durable.Store) durable.Config {
	return durable.Config{Store: s, Lease: lease, Poll: 200 * time.Millisecond, History: 1 << 20, Logger: slog.New(slog.DiscardHandler)}
}

// work is a member and a node in a process of its own, which writes to its output what it begins. It ends with its
// input.
func work(text string) error {
	var m Member
	err := json.Unmarshal([]byte(text), &m)
	if err == nil {
		err = plugIn()
	}
	if err != nil {
		return err
	}
	if ahead, err := time.ParseDuration(os.Getenv(clockVariable)); err == nil {
		m.now = func() time.Time { return time.Now().Add(ahead) }
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	s, err := Join(ctx, m)
	if err != nil {
		return err
	}
	defer s.Close()
	c := config(s)
	c.Executor = executor.Scheduled(8)
	defer c.Executor.Close()
	jobs, err := durable.New(c)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	var mu sync.Mutex
	durable.Handle(jobs, "tick", func(ctx context.Context, work time.Duration) (int, error) {
		j, _ := durable.Current(ctx)
		mu.Lock()
		err := out.Encode(history.Start{Job: j.ID, Epoch: j.Epoch, Occurrence: j.Occurrence, At: time.Now(), Node: j.Owner})
		mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-time.After(work):
			return 1, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
	return jobs.Run(ctx)
}

// A fleet is three members in processes of their own, and what they have begun.
type fleet struct {
	*testing.T
	place   func(address string, cmd *exec.Cmd) error // starts a process where it has an address; nil for loopback
	members []Member
	ahead   []time.Duration // their clocks are
	process []*exec.Cmd
	ended   []chan struct{}
	read    sync.WaitGroup // what they write
	mu      sync.Mutex
	begun   []history.Start
	seen    chan struct{} // has room for one, and gets it when there is more
}

// start starts a member, anew or with what it has.
func (f *fleet) start(n int) {
	f.Helper()
	text, err := json.Marshal(f.members[n])
	if err != nil {
		f.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EXECUTOR_TEST_MEMBER="+string(text), clockVariable+"="+f.ahead[n].String())
	cmd.Stderr = f.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil && f.place != nil {
		err = f.place(f.members[n].Self, cmd)
	} else if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	ended := make(chan struct{})
	f.process[n], f.ended[n] = cmd, ended
	f.read.Go(func() {
		defer close(ended)
		defer in.Close()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var s history.Start
			if json.Unmarshal(lines.Bytes(), &s) != nil {
				continue // it was killed in the middle
			}
			f.mu.Lock()
			f.begun = append(f.begun, s)
			f.mu.Unlock()
			select {
			case f.seen <- struct{}{}:
			default:
			}
		}
		cmd.Wait()
	})
}

// kill kills members at the same time, and waits until they are gone.
func (f *fleet) kill(members ...int) {
	for _, n := range members {
		f.process[n].Process.Kill()
	}
	for _, n := range members {
		<-f.ended[n]
	}
}

// restart kills members, and starts them again.
func (f *fleet) restart(members ...int) {
	f.Helper()
	f.kill(members...)
	for _, n := range members {
		f.start(n)
	}
}

// more waits until so many runs more have begun, and returns how long none did in between.
func (f *fleet) more(n int) (pause time.Duration) {
	f.Helper()
	f.mu.Lock()
	from := len(f.begun)
	f.mu.Unlock()
	last, give := time.Now(), time.After(3*time.Minute) // members that begin with a large history read it first
	for now := from; now < from+n; {
		select {
		case <-f.seen:
		case <-give:
			f.Fatalf("%d runs have begun in three minutes, want %d", now-from, n)
		}
		f.mu.Lock()
		now = len(f.begun)
		f.mu.Unlock()
		pause = max(pause, time.Since(last))
		last = time.Now()
	}
	return pause
}

// leader returns the member that leads.
func (f *fleet) leader(s *Store) int {
	f.Helper()
	for f.Context().Err() == nil {
		for _, end := range s.home.client.Endpoints() {
			ctx, cancel := context.WithTimeout(f.Context(), patience)
			status, err := s.home.client.Status(ctx, end)
			list, failed := s.home.client.MemberList(ctx)
			cancel()
			if err != nil || failed != nil {
				continue
			}
			for _, m := range list.Members {
				if m.ID == status.Leader {
					return slices.IndexFunc(f.members, func(of Member) bool { return of.Self == m.Name })
				}
			}
		}
	}
	return 0
}

// settle has all schedules paused, so that nothing changes any more.
func (f *fleet) settle(s *Store) {
	f.Helper()
	open := store.Filter{Limit: 1000, States: []store.State{store.Waiting, store.Claimed, store.Confirmed, store.Running}}
	for range 600 {
		page, err := s.List(f.Context(), open)
		if err == nil && len(page) == 0 {
			return
		}
		for _, j := range page {
			s.Change(f.Context(), j.ID, store.Change{Op: store.OpPause})
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.Fatal("the schedules do not pause")
}

// newFleet starts three members with these addresses.
func newFleet(t *testing.T, peers []string, place func(address string, cmd *exec.Cmd) error) *fleet {
	dir := t.TempDir()
	f := &fleet{T: t, place: place, ahead: make([]time.Duration, 3), process: make([]*exec.Cmd, 3), ended: make([]chan struct{}, 3),
		seen: make(chan struct{}, 1)}
	t.Cleanup(f.read.Wait)
	for n := range 3 {
		f.members = append(f.members, Member{Peers: peers, Self: peers[n], Dir: fmt.Sprint(dir, "/", n), Insecure: true})
		f.start(n)
	}
	t.Cleanup(func() { f.kill(0, 1, 2) })
	return f
}

// pauseSince returns for how long nothing began since then.
func (f *fleet) pauseSince(then time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	since := []history.Start{{At: then}}
	for _, s := range f.begun {
		if s.At.After(then) {
			since = append(since, s)
		}
	}
	return history.Pause(since)
}

// A fault is what may happen to a cluster. When it returns, the cluster is whole again, or will be by itself.
type fault struct {
	name string
	of   func(f *fleet, s *Store)
}

// away is how long a member is gone, stopped or cut off: longer than a lease.
const away = lease + lease/2

// faults are those of processes and their disks.
var faults = []fault{
	{"the leader is killed", func(f *fleet, s *Store) { f.restart(f.leader(s)) }},
	{"a follower is killed", func(f *fleet, s *Store) { f.restart(f.follower(s)) }},
	{"the leader is killed, and 3 s later the next one", func(f *fleet, s *Store) {
		f.restart(f.leader(s))
		time.Sleep(3 * time.Second)
		f.restart(f.leader(s))
	}},
	{"a follower is killed and another stopped for 3 s: no majority", func(f *fleet, s *Store) {
		killed := f.follower(s)
		f.kill(killed)
		other := (killed + 1) % 3
		stop(f.T, f.process[other])
		time.Sleep(away)
		resume(f.T, f.process[other])
		f.start(killed)
	}},
	{"all are killed", func(f *fleet, _ *Store) { f.restart(0, 1, 2) }},
	{"a member's clock is 3 h ahead, and then it leads", func(f *fleet, s *Store) { f.wrongClock(s, 3*time.Hour) }},
	{"a member's clock is 3 h behind, and then it leads", func(f *fleet, s *Store) { f.wrongClock(s, -3*time.Hour) }},
	{"the log of a follower is corrupted, and it is replaced by itself", func(f *fleet, s *Store) { f.corrupted(s) }},
}

// follower returns a member that does not lead.
func (f *fleet) follower(s *Store) int { return (f.leader(s) + 1) % 3 }

// wrongClock has the clock of a follower be wrong for a while, in which it comes to lead.
func (f *fleet) wrongClock(s *Store, ahead time.Duration) {
	f.Helper()
	n := f.follower(s)
	f.ahead[n] = ahead
	f.restart(n)
	f.more(some)
	for f.leader(s) != n && f.Context().Err() == nil {
		f.lead(s, n)
	}
	f.more(some)
	f.ahead[n] = 0
	f.restart(n)
}

// lead tries to have a member lead.
func (f *fleet) lead(s *Store, n int) {
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	list, err := s.home.client.MemberList(ctx)
	if err != nil {
		return
	}
	for _, m := range list.Members {
		if m.Name != f.members[n].Self {
			continue
		}
		for _, end := range s.home.client.Endpoints() { // the one that leads does so
			if c, err := s.home.one.dialOne(ctx, end, s.home.quiet); err == nil {
				c.MoveLeader(ctx, m.ID)
				c.Close()
			}
		}
	}
}

// corrupted has the log of a follower be wrong: it does not join any more. Then it is replaced by itself.
func (f *fleet) corrupted(s *Store) {
	n := f.follower(s)
	f.kill(n)
	logs, err := filepath.Glob(filepath.Join(f.members[n].Dir, "member", "wal", "*.wal"))
	if err != nil || len(logs) == 0 {
		f.Fatalf("there is no log: %v", err)
	}
	log, err := os.OpenFile(logs[len(logs)-1], os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	_, err = log.WriteAt([]byte("these bytes are wrong"), 4000)
	if err := errors.Join(err, log.Close()); err != nil {
		f.Fatal(err)
	}
	f.start(n)
	select {
	case <-f.ended[n]:
	case <-time.After(time.Minute):
		f.Fatal("a member whose log is wrong goes on")
	}
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	if err := errors.Join(s.Replace(ctx, f.members[n].Self, f.members[n].Self), os.RemoveAll(f.members[n].Dir)); err != nil {
		f.Fatal(err)
	}
	f.start(n)
}

// some is how many runs begin in two or three seconds.
const some = 500

// survive has the fleet meet faults, and judges what has become of its jobs: whichever fault it is, no occurrence is lost,
// and none is committed twice or begun early.
func (f *fleet) survive(faults []fault) {
	t := f.T
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := Dial(ctx, Client{Endpoints: f.members[0].Peers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs, err := durable.New(config(s))
	if err != nil {
		t.Fatal(err)
	}
	tick := durable.KindOf[time.Duration, int](jobs, "tick")
	schedules, length := 20, time.Duration(0)
	if text := os.Getenv("EXECUTOR_SOAK"); text != "" {
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		schedules = 60
	} else if os.Getenv("EXECUTOR_LONG") != "" {
		length = 2 * time.Minute
	}
	if length == 0 { // the short form meets two of them, other ones each time
		faults = slices.Clone(faults)
		rand.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		faults = faults[:2]
	}
	for i := range schedules {
		_, err := tick.AtFixedRate(ctx, fmt.Sprint("tick", i), 0, 100*time.Millisecond, time.Duration(i)*time.Millisecond,
			durable.OnMissed(durable.CatchUp(1<<20)), durable.Attempts(1000))
		if err != nil {
			t.Fatal(err)
		}
	}
	f.more(100)
	for began, round := time.Now(), 0; round == 0 || time.Since(began) < length; round++ {
		for _, fault := range faults {
			before := time.Now()
			fault.of(f, s)
			f.more(some)
			t.Logf("%s: nothing began for %.2fs", fault.name, f.pauseSince(before).Seconds())
			f.more(some)
			for n, ended := range f.ended {
				select {
				case <-ended:
					t.Fatalf("%s: member %d has ended", fault.name, n)
				default:
				}
			}
		}
	}
	f.settle(s)
	time.Sleep(200 * time.Millisecond) // what they have written comes here
	f.mu.Lock()
	begun := slices.Clone(f.begun)
	f.mu.Unlock()
	v, err := history.Check(t.Context(), s, begun)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range v.Faults {
		t.Error(fault)
	}
	t.Logf("%d committed, %d missing, %d doubled; %d lost with their node, %d begun twice", v.Committed, v.Missing, v.Doubled, v.Lost, v.Twice)
}

// Whichever members are killed with -9, stopped or wrong, no occurrence is lost, and none is committed twice.
func TestMembersDie(t *testing.T) {
	t.Parallel()
	newFleet(t, addresses(t, 3), nil).survive(faults)
}

// stop stops a process, which resume has go on.
func stop(t *testing.T, p *exec.Cmd)   { signal(t, p, syscall.SIGSTOP) }
func resume(t *testing.T, p *exec.Cmd) { signal(t, p, syscall.SIGCONT) }

func signal(t *testing.T, p *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
