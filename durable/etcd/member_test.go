package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// Join says what is wrong with a Member, and how to mend it.
func TestJoinSaysWhatIsWrong(t *testing.T) {
	two := []string{"127.0.0.1:7001", "127.0.0.1:7003"}
	for want, m := range map[string]Member{
		"none of the members []":                   {Dir: "d"},
		"none of the members [\"192.0.2.1\"]":      {Dir: "d", Peers: []string{"192.0.2.1"}},
		"Self \"127.0.0.1:7002\" is none of":       {Dir: "d", Peers: two, Self: "127.0.0.1:7002"},
		"are both on this machine: set Self":       {Dir: "d", Peers: two},
		"is there twice":                           {Dir: "d", Peers: []string{"192.0.2.1", "192.0.2.1:2379", "127.0.0.1"}},
		"member \":80\" must be host or host:port": {Dir: "d", Peers: []string{":80"}},
		"Dir is missing":                           {Peers: two, Self: two[0]},
		"need TLS":                                 {Dir: "d", Peers: []string{"192.0.2.1", "127.0.0.1"}},
		"Prefix \"a/b/\" must end":                 {Dir: "d", Peers: two, Self: two[0], Prefix: "a/b/"},
		"Prefix \"a\" must end":                    {Dir: "d", Peers: two, Self: two[0], Prefix: "a"},
		"Quota -1 is negative":                     {Dir: "d", Peers: two, Self: two[0], Quota: -1},
		"with a port from 1 to 65534":              {Dir: "d", Peers: []string{"127.0.0.1:65535"}},
		"certificates can't be used":               {Dir: "d", Peers: two, Self: two[0], TLS: &TLS{CA: "none", Cert: "none", Key: "none"}},
	} {
		if _, err := Join(t.Context(), m); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: the error is %v, want %q", m, err, want)
		}
	}
	for _, c := range []Client{{}, {Endpoints: []string{"http://127.0.0.1:2379"}}, {Endpoints: two, Prefix: "a"}, {Endpoints: two, Prefix: "a//"}} {
		if _, err := Dial(t.Context(), c); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%+v: the error is %v", c, err)
		}
	}
}

// A member listens, though a program that begins has its listeners still; it does not wait long for an address that another
// one has.
func TestListenWaitsForAddress(t *testing.T) {
	inUse := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	for name, tt := range map[string]struct {
		after time.Duration // how long the address is in use
		want  error
		took  time.Duration
	}{
		"free":           {},
		"for a moment":   {after: 20 * time.Millisecond, took: 20 * time.Millisecond},
		"by another one": {after: time.Hour, want: syscall.EADDRINUSE, took: patience + time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				_, err := listen(t.Context(), func() (any, error) {
					if time.Since(begun) < tt.after {
						return nil, inUse
					}
					return nil, nil
				})
				if took := time.Since(begun); !errors.Is(err, tt.want) || took != tt.took {
					t.Errorf("the error is %v after %v, want %v after %v", err, took, tt.want, tt.took)
				}
			})
		})
	}
}

// Join that does not find a majority ends with its context, and names the members.
func TestJoinWaitsForAMajority(t *testing.T) {
	peers := addresses(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Join(ctx, Member{Peers: peers, Self: peers[0], Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), peers[2]) {
		t.Errorf("the error is %v", err)
	}
}

// Dial that gets no answer ends with its context, also if it has a user.
func TestDialWaitsForAnAnswer(t *testing.T) {
	for _, user := range []string{"", "me"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := Dial(ctx, Client{Endpoints: addresses(t, 1), Username: user, Password: user, Logger: slog.New(slog.DiscardHandler)})
		cancel()
		if err == nil || ctx.Err() == nil || errors.Is(err, executor.ErrInvalid) {
			t.Errorf("with the user %q: %v", user, err)
		}
	}
}

func insert(t *testing.T, s *Store, change ...func(*store.NewJob)) store.ID {
	t.Helper()
	n := store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}
	for _, f := range change {
		f(&n)
	}
	if _, err := s.Insert(t.Context(), []store.NewJob{n}, store.Placement{}); err != nil {
		t.Fatal(err)
	}
	return n.ID
}

// Members that are joined again have what they had, and what a program adds that is no member is in all of them.
func TestMembersKeepJobs(t *testing.T) {
	t.Parallel()
	dirs := t.TempDir()
	first := members(t, 3, func(n int, m *Member) { m.Dir = filepath.Join(dirs, m.Self) })
	var peers []string
	for _, s := range first {
		peers = append(peers, s.home.server.Config().Name)
	}
	id := insert(t, first[0])
	for _, s := range first {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := first[0].Get(t.Context(), id); !errors.Is(err, errClosed) {
		t.Errorf("a store that is closed: %v", err)
	}
	again := members(t, 3, func(n int, m *Member) { m.Peers, m.Self, m.Dir = peers, peers[n], filepath.Join(dirs, peers[n]) })
	var ends []string
	for _, s := range again {
		if _, err := s.Get(t.Context(), id); err != nil {
			t.Error(err)
		}
		ends = append(ends, s.home.server.Config().ListenClientUrls[0].Host)
	}
	client, err := Dial(t.Context(), Client{Endpoints: ends})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	id = insert(t, client)
	for _, s := range again {
		if _, err := s.Get(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// Members and clients with certificates of one authority find each other, and nobody else is let in.
func TestMembersTrustOneAuthority(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := Certificates(d, "127.0.0.1"); err != nil {
			t.Fatal(err)
		}
	}
	if Certificates(dir, "127.0.0.1") == nil {
		t.Error("a certificate was replaced")
	}
	if err := Certificates(dir, "jobs.example", "::1"); err != nil {
		t.Error(err)
	}
	for _, hosts := range [][]string{{""}, {"../x"}, {"fine", "h:1"}, {"fine", "fine"}} {
		if err := Certificates(dir, hosts...); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("hosts %q: %v", hosts, err)
		}
	}
	if Certificates(dir, "fine", "127.0.0.1") == nil {
		t.Error("a certificate was replaced")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "fine*")); err != nil || len(left) > 0 {
		t.Errorf("of what was refused there is %q, %v", left, err)
	}
	in := func(dir string) *TLS {
		return &TLS{CA: dir + "/ca.crt", Cert: dir + "/127.0.0.1.crt", Key: dir + "/127.0.0.1.key"}
	}
	all := members(t, 2, func(_ int, m *Member) { m.TLS = in(dir) })
	id := insert(t, all[0])
	ends := []string{all[0].home.server.Config().ListenClientUrls[0].Host}
	client, err := Dial(t.Context(), Client{Endpoints: ends, TLS: in(dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Get(t.Context(), id); err != nil {
		t.Error(err)
	}
	for name, tls := range map[string]*TLS{"of another authority": in(other), "none": nil} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if s, err := Dial(ctx, Client{Endpoints: ends, TLS: tls, Logger: slog.New(slog.DiscardHandler)}); err == nil {
			s.Close()
			t.Errorf("a client whose certificate is %s was let in", name)
		}
		cancel()
	}
}

// All programs have the time of most members, however wrong the clock is of the one that leads, and also after that has
// gone.
func TestMembersHaveOneClock(t *testing.T) {
	t.Parallel()
	wrong := []time.Duration{0, 7 * time.Second, -4 * time.Second}
	all := members(t, 3, func(n int, m *Member) { m.now = func() time.Time { return time.Now().Add(wrong[n]) } })
	right := func() {
		t.Helper()
		for begun := time.Now(); time.Since(begun) < 2*timeEvery; time.Sleep(10 * time.Millisecond) { // for several answers
			for i, s := range all {
				if s == nil {
					continue
				}
				now, err := s.Now(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if off := time.Until(now); off.Abs() > time.Second {
					t.Fatalf("the clock of %d is off by %v", i, off)
				}
			}
		}
	}
	lead := func() int {
		for {
			for i, s := range all {
				if s != nil && s.home.server.Server.Leader() == s.home.server.Server.MemberID() {
					return i
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	for n, s := range all { // each leads
		if from := all[lead()]; from != s {
			if _, err := from.home.client.MoveLeader(t.Context(), uint64(s.home.server.Server.MemberID())); err != nil {
				t.Fatal(err)
			}
		}
		for lead() != n {
			time.Sleep(10 * time.Millisecond)
		}
		right()
	}
	all[0].Close() // whose clock is right
	all[0] = nil
	right()
}

// The time of the cluster is that of the clock in the middle; a member's own, if that is not wrong.
func TestClocksTellMiddle(t *testing.T) {
	s, ms := time.Second, time.Millisecond
	for _, test := range []struct {
		others []time.Duration // ahead of the member's own
		want   time.Duration
	}{
		{nil, 0},
		{[]time.Duration{5 * s}, 0}, // nobody knows who of two is right
		{[]time.Duration{5 * s, 7 * s}, 5 * s},
		{[]time.Duration{-5 * s, -7 * s}, -5 * s},
		{[]time.Duration{-5 * s, 7 * s}, 0},
		{[]time.Duration{900 * ms, 900 * ms}, 0},
		{[]time.Duration{5 * s, 6 * s, 7 * s}, 5 * s},
		{[]time.Duration{-3 * s, 5 * s, 6 * s, 7 * s}, 5 * s},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClocks(func() time.Time { return time.Now() })
			time.Sleep(time.Minute)
			for i, ahead := range test.others {
				c.mu.others[types.ID(i)] = bounds{time.Duration(c.base.UnixNano()) + ahead}
			}
			now, wrong := c.now()
			if got := time.Until(now); got != test.want || wrong != -test.want {
				t.Errorf("%v: %v ahead, wrong by %v", test.others, got, wrong)
			}
		})
	}
}

// A store whose cluster has no space can be opened and read, and takes writes again once its members may have more space.
func TestFullClusterGoesOnWithMoreSpace(t *testing.T) {
	var of Member
	s := members(t, 1, func(_ int, m *Member) {
		m.Quota, m.noSync = 4<<20, true
		of = *m
	})[0]
	add := func(s *Store) error {
		n := store.NewJob{ID: store.NewID(), Kind: "k", Payload: make([]byte, 1<<20), Schedule: store.Once, Attempts: 1}
		_, err := s.Insert(t.Context(), []store.NewJob{n}, store.Placement{})
		return err
	}
	id := insert(t, s)
	err := error(nil)
	for err == nil {
		err = add(s)
	}
	if !errors.Is(err, store.ErrFull) {
		t.Fatal(err)
	}
	also := s.beside(t, s.home.prefix)
	if _, err := also.Get(t.Context(), id); err != nil {
		t.Error(err)
	}
	also.Close()
	s.Close()
	of.Quota = 64 << 20
	s = members(t, 1, func(_ int, m *Member) { *m = of })[0]
	for err = add(s); err != nil; err = add(s) { // it looks after its database at once
		if !errors.Is(err, store.ErrFull) {
			t.Fatal(err)
		}
	}
}

// A member whose database is nearly full says so, and what to do. One with much free space gives that back, and takes
// writes again after it was full.
func TestMemberLooksAfterItsDatabase(t *testing.T) {
	s := members(t, 1, func(_ int, m *Member) { m.Quota = 24 << 20; m.noSync = true })[0]
	if text, err := s.home.upkeep(t.Context()); text != "" || err != nil {
		t.Errorf("it complains of a new database: %s, %v", text, err)
	}
	full := func() (err error) {
		for range 200 {
			n := store.NewJob{ID: store.NewID(), Kind: "k", Payload: make([]byte, 1<<20), Schedule: store.Once, Attempts: 1}
			if _, err = s.Insert(t.Context(), []store.NewJob{n}, store.Placement{}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := full(); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "raise Member.Quota") {
		t.Fatalf("a full database: %v", err)
	}
	if text, err := s.home.upkeep(t.Context()); !strings.Contains(text, "keep less") || err != nil {
		t.Errorf("of a full database it says %q, %v", text, err)
	}
	h := s.home
	resp, err := h.client.Delete(t.Context(), h.prefix+"b", clientv3.WithRange(h.prefix+"k"))
	if err == nil {
		_, err = h.client.Compact(t.Context(), resp.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatal(err)
	}
	for text := "not yet"; text != ""; { // a read that goes on keeps the pages for a moment
		if text, err = h.upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, s)
}
