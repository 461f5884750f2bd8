package etcd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/store"
)

// A member whose machine is gone for good is replaced by another one, which gets all jobs and a vote.
func TestReplaceMember(t *testing.T) {
	t.Parallel()
	all := members(t, 3, nil)
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
	for want, self := range map[string]string{"is none of": fresh, "whose data are not in": peers[2]} {
		if _, err := join(append(slices.Clone(peers), fresh), self); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("joining without a place: %v, want %q", err, want)
		}
	}
	for _, wrong := range [][2]string{{"192.0.2.1", fresh}, {peers[2], peers[0]}} {
		if err := all[0].Replace(ctx, wrong[0], wrong[1]); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("replacing %q by %q: %v", wrong[0], wrong[1], err)
		}
	}
	for range 2 { // it may be repeated
		if err := all[0].Replace(ctx, peers[2], fresh); err != nil {
			t.Fatal(err)
		}
	}
	s, err := join(now, fresh)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(ctx, id); err != nil {
		t.Error(err)
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
		if m.Peer != now[i] || m.Learner || (m.Error != nil) != (m.Peer == peers[1]) {
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

// A backup that is restored has the jobs that there were when it was made.
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	var all []Member
	first := members(t, 3, func(_ int, m *Member) { m.noSync = true })
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
	if err := errors.Join(first[1].Backup(t.Context(), f), f.Close()); err != nil {
		t.Fatal(err)
	}
	after := insert(t, first[0])
	for _, s := range first {
		s.Close()
	}
	for _, m := range all {
		if err := Restore(m, file); err != nil {
			t.Fatal(err)
		}
		if err := Restore(m, file); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("restoring into a directory with data: %v", err)
		}
	}
	broken := all[0]
	broken.Dir = filepath.Join(t.TempDir(), "broken")
	if b, err := os.ReadFile(file); err != nil || os.WriteFile(file, b[:len(b)/2], 0o600) != nil || Restore(broken, file) == nil {
		t.Error("half of a backup was restored", err)
	}
	again := members(t, 3, func(n int, m *Member) { *m = all[n] })
	for _, s := range again {
		if j, err := s.Find(t.Context(), "key"); err != nil || j.ID != before || len(j.Payload) != 5000 {
			t.Error(j.ID, err)
		}
		if _, err := s.Get(t.Context(), after); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what was added after the backup: %v", err)
		}
	}
}
