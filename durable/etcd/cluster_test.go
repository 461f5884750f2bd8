package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// A member whose machine is gone for good is replaced by another one, which gets all jobs and a vote.
func TestReplaceMember(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := members(t, 3, func(n int, m *Member) { m.Dir = filepath.Join(dir, fmt.Sprint(n)) })
	var peers []string
	for _, s := range all {
		peers = append(peers, s.home.server.Config().Name)
	}
	id := insert(t, all[0])
	all[2].Close()
	all[2] = nil
	fresh := addresses(t, 1)[0]
	now := []string{peers[0], peers[1], fresh}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	join := func(peers []string, self string) (*Store, error) {
		return Join(ctx, Member{Peers: peers, Self: self, Dir: t.TempDir(), Logger: all[0].home.log})
	}
	for want, self := range map[error]string{ErrNoPlace: fresh, ErrDataLost: peers[2]} {
		if _, err := join(append(slices.Clone(peers), fresh), self); !errors.Is(err, want) {
			t.Errorf("joining without a place: %v, want %v", err, want)
		}
	}
	for _, wrong := range [][2]string{{"192.0.2.1", fresh}, {peers[2], peers[0]}, {peers[2], ""}, {peers[2], "http://" + fresh}} {
		if err := all[0].Replace(ctx, wrong[0], wrong[1]); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("replacing %q by %q: %v", wrong[0], wrong[1], err)
		}
	}
	cut, cancel := context.WithCancel(ctx)
	breaks, broken := all[0].beside(t, all[0].home.prefix), errors.New("broken off")
	breaks.home.client.Cluster = noLearner{breaks.home.client.Cluster, func() error { cancel(); return broken }}
	if err := breaks.Replace(cut, peers[2], fresh); !errors.Is(err, broken) {
		t.Fatalf("a replacement that is broken off in the middle: %v", err)
	}
	const wrong = "127.0.0.1:1"
	for range 2 { // it is repeated, with an address that is wrong
		if err := all[0].Replace(ctx, peers[2], wrong); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // and once more, with the right one
		if err := all[0].Replace(ctx, wrong, fresh); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := all[0].home.client.Get(ctx, all[0].home.prefix+keyGone, clientv3.WithPrefix()); err != nil || left.Count > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	s, err := join(now, fresh)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(ctx, id); err != nil {
		t.Error(err)
	}
	gone := Member{Peers: peers, Self: peers[2], Dir: filepath.Join(dir, "2"), Logger: all[0].home.log}
	if _, err := Join(ctx, gone); !errors.Is(err, ErrRemoved) {
		t.Errorf("the member that was replaced comes back: %v", err)
	}
	all[1].Close() // the new member has a vote
	all[1] = nil
	insert(t, s)
	infos, err := s.Members(ctx)
	if err != nil || len(infos) != 3 {
		t.Fatal(infos, err)
	}
	slices.Sort(now)
	leaders := 0
	for i, m := range infos {
		if m.Address != now[i] || m.Learner || (m.Error != nil) != (m.Address == peers[1]) {
			t.Errorf("member %d is %+v", i, m)
		}
		if m.Leads {
			leaders++
		}
	}
	if leaders != 1 {
		t.Errorf("%d members lead", leaders)
	}
}

// noLearner is a cluster that adds no member.
type noLearner struct {
	clientv3.Cluster
	instead func() error
}

func (n noLearner) MemberAddAsLearner(context.Context, []string) (*clientv3.MemberAddResponse, error) {
	return nil, n.instead()
}

// A backup that is restored has the jobs that there were when it was made.
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	var all []Member
	var old [3]string
	first := members(t, 3, func(n int, m *Member) { m.noSync, old[n] = true, m.Dir })
	for n := range 3 {
		peers := first[0].home.server.Config().InitialCluster
		m := Member{Dir: filepath.Join(t.TempDir(), "new"), Logger: first[0].home.log, noSync: true}
		for _, p := range strings.Split(peers, ",") {
			name, _, _ := strings.Cut(p, "=")
			m.Peers = append(m.Peers, name)
		}
		m.Self = m.Peers[n]
		all = append(all, m)
	}
	before := insert(t, first[0], func(j *store.NewJob) { j.Key, j.Payload = "key", make([]byte, 5000) })
	file := filepath.Join(t.TempDir(), "backup")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	some, err := Dial(t.Context(), Client{Endpoints: []string{addresses(t, 1)[0], all[1].Self}, Logger: first[0].home.log})
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	if err := errors.Join(some.Backup(t.Context(), io.Discard), first[1].Backup(t.Context(), f), f.Close()); err != nil {
		t.Fatal(err)
	}
	after := insert(t, first[0])
	worker, err := Dial(t.Context(), Client{Endpoints: all[0].Peers, Logger: first[0].home.log})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	for _, s := range first {
		s.Close()
	}
	for _, m := range all {
		part := filepath.Join(m.Dir, "restoring", "member") // by a restore that was broken off
		if err := os.MkdirAll(part, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Restore(m, file); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(m.Dir); err != nil || len(left) != 1 {
			t.Errorf("the directory has %v, %v", left, err)
		}
		if err := Restore(m, file); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("restoring into a directory with data: %v", err)
		}
	}
	left := all[2] // a member that the backup was not restored on
	left.Dir = old[2]
	again := members(t, 2, func(n int, m *Member) { *m = all[n] })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A program that is no member, and has been there all the time, finds out what the backup lacks.
	for _, err := worker.Get(ctx, after); !errors.Is(err, store.ErrNotFound); _, err = worker.Get(ctx, after) {
		if ctx.Err() != nil {
			t.Fatal("it still has a job that was added after the backup: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, s := range again {
		if _, err := s.Get(t.Context(), insert(t, worker)); err != nil {
			t.Errorf("what it adds: %v", err)
		}
	}
	if _, err := Join(t.Context(), left); !errors.Is(err, ErrOtherCluster) {
		t.Errorf("a member with the data of before joins: %v", err)
	}
	left.Dir = filepath.Join(t.TempDir(), "empty")
	for range 2 { // it leaves nothing behind
		if _, err := Join(t.Context(), left); !errors.Is(err, ErrOtherCluster) && !errors.Is(err, ErrDataLost) {
			t.Errorf("a member without data joins: %v", err)
		}
	}
	again = append(again, members(t, 1, func(_ int, m *Member) { *m = all[2] })...)
	broken := all[0]
	broken.Dir = filepath.Join(t.TempDir(), "broken")
	if b, err := os.ReadFile(file); err != nil || os.WriteFile(file, b[:len(b)/2], 0o600) != nil || Restore(broken, file) == nil {
		t.Error("half of a backup was restored", err)
	}
	for _, s := range again {
		if j, err := s.Find(t.Context(), "key"); err != nil || j.ID != before || len(j.Payload) != 5000 {
			t.Error(j.ID, err)
		}
		if _, err := s.Get(t.Context(), after); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what was added after the backup: %v", err)
		}
	}
}

// A member whose directory has what is another cluster's, or another member's, does not join.
func TestJoinNeedsTheDataOfTheMember(t *testing.T) {
	t.Parallel()
	dir, peers := t.TempDir(), addresses(t, 3)
	member := func(of string, self int, peers ...string) (m Member) {
		return Member{Peers: peers, Self: peers[self], Dir: filepath.Join(dir, of), Logger: slog.New(slog.DiscardHandler), noSync: true}
	}
	for _, peer := range peers[:2] {
		members(t, 1, func(_ int, m *Member) { *m = member(peer, 0, peer) })[0].Close()
	}
	for _, test := range []struct {
		m    Member
		want error
	}{
		{member(peers[0], 1, peers...), ErrOtherMember},
		{member(peers[0], 0, peers...), ErrOtherCluster}, // nobody else is there
	} {
		if _, err := Join(t.Context(), test.m); !errors.Is(err, test.want) {
			t.Errorf("%s in %s: %v, want %v", test.m.Self, test.m.Dir, err, test.want)
		}
	}
	members(t, 1, func(_ int, m *Member) { *m = member(peers[0], 0, peers[0]) })
	if _, err := Join(t.Context(), member(peers[1], 1, peers...)); !errors.Is(err, ErrOtherCluster) {
		t.Errorf("a member of another cluster joins: %v", err)
	}
}

// A program finds the member that leads, and its clock, though another one that it knows is cut off from all.
func TestDialPassesOverMemberAlone(t *testing.T) {
	t.Parallel()
	all, other := members(t, 3, nil), members(t, 1, nil)[0]
	for n := range 2 {
		all[n].Close()
		all[n] = nil
	}
	alone := all[2].home.server
	for alone.Server.Leader() != 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := Dial(ctx, Client{Endpoints: []string{alone.Config().Name, other.home.server.Config().Name}, Logger: other.home.log})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A member that has lost its data does not come back as the one that it was, also if it is there before the others.
func TestJoinMissesLostData(t *testing.T) {
	t.Parallel()
	var of [3]Member
	dir := t.TempDir()
	for _, s := range members(t, 3, func(n int, m *Member) {
		m.Dir, m.noSync = filepath.Join(dir, fmt.Sprint(n)), true
		of[n] = *m
	}) {
		s.Close()
	}
	if err := os.RemoveAll(of[2].Dir); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		s, err := Join(t.Context(), of[2])
		if err == nil {
			s.Close()
		}
		ended <- err
	}()
	for {
		c, err := net.Dial("tcp", peerOf(of[2].Self))
		if err == nil {
			c.Close()
			break
		}
		time.Sleep(time.Millisecond)
	}
	members(t, 2, func(n int, m *Member) { *m = of[n] })
	if err := <-ended; !errors.Is(err, ErrDataLost) {
		t.Errorf("the error is %v", err)
	}
}

// Members tells who is there when there is no majority, and how far the clocks are off.
func TestMembersAreSeenWithoutMajority(t *testing.T) {
	t.Parallel()
	wrong := []time.Duration{7 * time.Second, 0, -4 * time.Second}
	all := members(t, 3, func(n int, m *Member) { m.now = func() time.Time { return time.Now().Add(wrong[n]) } })
	var of [3]string
	for n, s := range all {
		of[n] = s.home.server.Config().Name
	}
	c := Client{Endpoints: []string{all[0].home.server.Config().ListenClientUrls[0].Host}, Logger: all[0].home.log}
	look := func() []MemberInfo {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		infos, err := Members(ctx, c)
		if err != nil || len(infos) != 3 {
			t.Fatal(infos, err)
		}
		return infos
	}
	for _, m := range look() {
		want := wrong[slices.Index(of[:], m.Address)]
		if off := m.Ahead - want; m.Error != nil || off > 0 || off < -time.Second || m.Version == "" || m.Size == 0 {
			t.Errorf("%+v; its clock is ahead by %v", m, want)
		}
	}
	for n := range 2 {
		all[n+1].Close()
		all[n+1] = nil
	}
	for leads := true; leads; {
		leads = false
		for _, m := range look() {
			if (m.Error == nil) != (m.Address == of[0]) {
				t.Fatalf("%+v", m)
			}
			leads = leads || m.Leads
		}
	}
}

// A member whose database was changed on its disk does not join, so that no program is told what is wrong. It can be
// replaced by itself.
func TestJoinRefusesWrongBytes(t *testing.T) {
	t.Parallel()
	var of [3]Member
	dir := t.TempDir()
	all := members(t, 3, func(n int, m *Member) {
		m.Dir, m.noSync = filepath.Join(dir, fmt.Sprint(n)), true
		of[n] = *m
	})
	right, wrong := []byte("what the job is given"), []byte("what the job is Given")
	id := insert(t, all[0], func(j *store.NewJob) { j.Payload = right })
	stored := func() bool { // what is in the log alone is written anew
		text, err := os.ReadFile(filepath.Join(of[2].Dir, "member", "snap", "db"))
		return err == nil && bytes.Contains(text, right)
	}
	for !stored() {
		time.Sleep(10 * time.Millisecond)
	}
	all[2].Close()
	all[2] = nil
	damage(t, of[2].Dir, "snap/db", func(text []byte) []byte { return bytes.ReplaceAll(text, right, wrong) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if s, err := Join(ctx, of[2]); err == nil {
		j, _ := s.Get(ctx, id)
		s.Close()
		t.Fatalf("the member joins, and a job of it is given %q", j.Payload)
	} else if !errors.Is(err, ErrCorrupt) {
		t.Errorf("the error is %v", err)
	}
	all[1].Close() // those that are right are not to blame, and do not compare themselves with the wrong one
	all[1] = members(t, 1, func(_ int, m *Member) { *m = of[1] })[0]
	if err := errors.Join(all[0].Replace(ctx, of[2].Self, of[2].Self), os.RemoveAll(of[2].Dir)); err != nil {
		t.Fatal(err)
	}
	all[2] = members(t, 1, func(_ int, m *Member) { *m = of[2] })[0]
	if j, err := all[2].Get(ctx, id); err != nil || !bytes.Equal(j.Payload, right) {
		t.Errorf("a job is given %q, %v", j.Payload, err)
	}
}

// damage changes a file of a member that is not there, or removes it if change returns nil.
func damage(t *testing.T, dir, pattern string, change func(text []byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "member", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if text = change(text); err == nil && text == nil {
		err = os.Remove(files[0])
	} else if err == nil {
		err = os.WriteFile(files[0], text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// zeros returns bytes of which some are zero.
func zeros(text []byte, from, to int) []byte {
	clear(text[from:to])
	return text
}

// invertedKey has the bits of a key inverted, in a record of the log.
func invertedKey(text []byte) []byte {
	const key = "executor/"
	at := bytes.LastIndex(text, []byte(key))
	for i := range len(key) {
		text[at+i] ^= 0xff
	}
	return text
}

// A directory that another program uses is not to be removed: the error of Join says what is so.
func TestJoinFindsDirectoryInUse(t *testing.T) {
	t.Parallel()
	var of Member
	members(t, 1, func(_ int, m *Member) {
		m.noSync = true
		of = *m
	})
	if _, err := Join(t.Context(), of); errors.Is(err, ErrCorrupt) || !strings.Contains(fmt.Sprint(err), "another program uses") {
		t.Errorf("the error is %v", err)
	}
}

// A member whose data can't be read says so, and the program goes on.
func TestJoinRefusesUnreadableData(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		file string
		do   func(text []byte) []byte
	}{
		"the first pages": {"snap/db", func(text []byte) []byte { return zeros(text, 0, 8192) }},
		"the other pages": {"snap/db", func(text []byte) []byte { return zeros(text, 8192, len(text)) }},
		"most pages":      {"snap/db", func(text []byte) []byte { return text[:12<<10] }},
		"the log":         {"wal/*.wal", invertedKey},
		"the log's begin": {"wal/*.wal", func(text []byte) []byte { return zeros(text, 0, 20) }},
		"all of the log":  {"wal/*.wal", func(text []byte) []byte { return zeros(text, 0, len(text)) }},
		"no log":          {"wal/*.wal", func([]byte) []byte { return nil }},
	} {
		var of Member
		s := members(t, 1, func(n int, m *Member) {
			m.noSync = true
			of = *m
		})[0]
		for range 20 {
			insert(t, s)
		}
		s.Close()
		damage(t, of.Dir, change.file, change.do)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		s, err := Join(ctx, of)
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: the error is %v", name, err)
		}
		t.Log(name, err)
		cancel()
	}
}
