//go:build unix

package etcd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
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

// TestMain runs the tests, or is a member of TestMembersDie.
func TestMain(m *testing.M) {
	if text := os.Getenv("EXECUTOR_TEST_MEMBER"); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
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
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
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
	members []Member
	process []*exec.Cmd
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
	cmd.Env = append(os.Environ(), "EXECUTOR_TEST_MEMBER="+string(text))
	cmd.Stderr = f.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.process[n] = cmd
	f.read.Go(func() {
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
		f.process[n].Process.Wait()
	}
}

// more waits until so many runs more have begun, and returns how long none did in between.
func (f *fleet) more(n int) (pause time.Duration) {
	f.Helper()
	f.mu.Lock()
	from := len(f.begun)
	f.mu.Unlock()
	last, give := time.Now(), time.After(time.Minute)
	for now := from; now < from+n; {
		select {
		case <-f.seen:
		case <-give:
			f.Fatalf("%d runs have begun in a minute, want %d", now-from, n)
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

// newFleet starts three members, and returns their addresses for clients.
func newFleet(t *testing.T) (f *fleet, ends []string) {
	peers, dir := addresses(t, 3), t.TempDir()
	f = &fleet{T: t, process: make([]*exec.Cmd, 3), seen: make(chan struct{}, 1)}
	t.Cleanup(f.read.Wait)
	for n := range 3 {
		f.members = append(f.members, Member{Peers: peers, Self: peers[n], Dir: fmt.Sprint(dir, "/", n)})
		cfg, err := f.members[n].config()
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, cfg.ListenClientUrls[0].Host)
		f.start(n)
	}
	t.Cleanup(func() { f.kill(0, 1, 2) })
	return f, ends
}

// Whichever members are killed with -9 or stopped, no occurrence is lost, and none is committed twice.
func TestMembersDie(t *testing.T) {
	t.Parallel()
	f, ends := newFleet(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := Dial(ctx, Client{Endpoints: ends, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs, err := durable.New(config(s))
	if err != nil {
		t.Fatal(err)
	}
	tick := durable.KindOf[time.Duration, int](jobs, "tick")
	const schedules = 20
	for i := range schedules {
		_, err := tick.AtFixedRate(ctx, fmt.Sprint("tick", i), 0, 100*time.Millisecond, time.Duration(i)*time.Millisecond,
			durable.OnMissed(durable.CatchUp(1<<20)), durable.Attempts(1000))
		if err != nil {
			t.Fatal(err)
		}
	}
	f.more(100)
	rounds := 1
	if os.Getenv("EXECUTOR_LONG") != "" {
		rounds = 10
	}
	const some = 500 // as many as begin in two or three seconds
	for range rounds {
		lead := f.leader(s)
		f.kill(lead)
		t.Logf("the leader was killed: nothing began for %.2fs", f.more(some).Seconds())
		f.start(lead)
		f.more(some)

		follower := (f.leader(s) + 1) % 3
		f.kill(follower)
		t.Logf("a follower was killed: nothing began for %.2fs", f.more(some).Seconds())

		other := (follower + 1) % 3 // now there is no majority
		stop(t, f.process[other])
		time.Sleep(lease + lease/2)
		resume(t, f.process[other])
		t.Logf("another was stopped for %v: nothing began for %.2fs more", lease+lease/2, f.more(some).Seconds())
		f.start(follower)
		f.more(some)

		f.kill(0, 1, 2)
		for n := range 3 {
			f.start(n)
		}
		t.Logf("all were killed: nothing began for %.2fs", f.more(some).Seconds())
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
	t.Logf("%d committed, %d lost with their node, %d begun twice", v.Committed, v.Lost, v.Twice)
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
