package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

var _ interface {
	store.Full
	store.Mover
	store.Changer
	store.Listener
} = (*Store)(nil)

// yielded yields rows, and an error behind them if it is not nil.
func yielded(rows []store.Row, err error) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(store.Row{}, err)
		}
	}
}

// manyRows returns rows for several transactions.
func manyRows() (rows []store.Row) {
	for i := range 2*importRows + 10 {
		j := store.Job{ID: store.NewID(), Key: fmt.Sprint("key", i), Kind: "k", Schedule: store.Once, Attempts: 1}
		if i%1000 == 0 {
			j.Payload = bytes.Repeat([]byte("p"), 1<<20)
		}
		rows = append(rows, store.Row{Job: &j})
	}
	return rows
}

// An import of more than a transaction takes has all rows, or none if it fails. An import that was broken off keeps all
// else from the store, until another one begins anew.
func TestImportInPartsIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := members(t, 1, func(_ int, m *Member) { m.noSync = true })[0]
	other := s.beside(t, s.home.prefix)
	rows := manyRows()
	count := func() (n int) {
		counts, err := other.Counts(t.Context(), store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counts {
			n += c.Jobs
		}
		return n
	}
	l := &line{KV: s.home.client.KV}
	s.home.client.KV = l
	cut, cancel := context.WithCancel(t.Context())
	s.Between(func() {
		if s.home.acts.last.Load() > 3 {
			cancel() // in the middle
		}
	})
	if err := s.Import(cut, yielded(rows, nil)); err == nil {
		t.Fatal("an import whose context has ended was done")
	}
	s.Between(nil)
	if n := count(); n != 0 {
		t.Fatalf("%d jobs are left of an import that has failed", n)
	}
	if _, err := s.home.beginImport(t.Context(), "a program that was killed"); err != nil {
		t.Fatal(err)
	}
	err := s.home.importAll(t.Context(), "a program that was killed", rows[:importRows+1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get(t.Context(), rows[0].Job.ID); !errors.Is(err, errImporting) {
		t.Errorf("during an import: %v", err)
	}
	if err := s.Import(t.Context(), yielded(rows, nil)); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != len(rows) {
		t.Errorf("%d jobs, want %d", n, len(rows))
	}
	before, err := s.home.newest(t.Context())
	if err := s.Import(t.Context(), yielded(rows, nil)); !errors.Is(err, store.ErrNotEmpty) || count() != len(rows) {
		t.Errorf("an import into a store that has jobs: %v", err)
	}
	// If it were broken off, the next one would take what there is for the rest of it.
	if after, failed := s.home.newest(t.Context()); err != nil || failed != nil || after != before {
		t.Errorf("it has written something: %v, %v", err, failed)
	}
}

// What is too much for a transaction is refused before anything has happened, and the error says so.
func TestTooMuchIsRefused(t *testing.T) {
	s := members(t, 1, func(_ int, m *Member) { m.noSync = true })[0]
	s.home.limits = limits{ops: 1000, bytes: 320 << 10}
	large := make([]store.NewJob, 40)
	for i := range large {
		large[i] = store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1, Payload: make([]byte, 10<<10)}
	}
	many := make([]store.NewJob, 1000)
	for i := range many {
		many[i] = store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}
	}
	for _, jobs := range [][]store.NewJob{large, many} {
		_, err := s.Insert(t.Context(), jobs, store.Placement{})
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "ask for less") {
			t.Errorf("the error is %v", err)
		}
		if _, err := s.Get(t.Context(), jobs[0].ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a job of it: %v", err)
		}
	}
	for _, jobs := range [][]store.NewJob{large[:30], many[:990]} {
		if _, err := s.Insert(t.Context(), jobs, store.Placement{}); err != nil {
			t.Error(err)
		}
	}
}

// A program does not touch rows of a later version: neither when it opens the store, nor when they come later.
func TestStoreDeclinesNewerRows(t *testing.T) {
	s := members(t, 1, nil)[0]
	later := s.another(t)
	if _, err := s.home.client.Put(t.Context(), later.home.prefix+keySchema, "999"); err != nil {
		t.Fatal(err)
	}
	<-later.home.over.Done()
	if _, err := later.Get(t.Context(), store.NewID()); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("a store whose rows were brought to a later version: %v", err)
	}
	_, err := open(t.Context(), later.home.client, settings{Prefix: later.home.prefix, Logger: slog.New(slog.DiscardHandler), http: s.home.clock.http, quiet: new(atomic.Bool)}, func() error { return nil })
	if !errors.Is(err, durable.ErrNewerSchema) {
		t.Errorf("opening it: %v", err)
	}
}

// Listen tells of what other programs do: jobs that are due soon, and runs that are to be canceled; not of the rest.
func TestListenTellsWhatOthersDo(t *testing.T) {
	t.Parallel()
	all := members(t, 2, nil)
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 9), make(chan error, 1)
	go func() { ended <- all[0].Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it begins
	if _, err := all[1].Join(t.Context(), "n", time.Hour); err != nil {
		t.Fatal(err)
	}
	insert(t, all[1], func(j *store.NewJob) { j.Delay = time.Hour })
	first := insert(t, all[1])
	<-woken
	c, err := all[1].Claim(t.Context(), store.ClaimRequest{Node: "n", Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}})
	if err != nil || len(c.Jobs) != 1 {
		t.Fatal(c, err)
	}
	if _, err := all[1].Change(t.Context(), first, store.Change{Op: store.OpCancel}); err != nil {
		t.Fatal(err)
	}
	<-woken
	if len(woken) > 0 {
		t.Error("it has told of more")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A call that meets others again and again goes on until it comes through.
func TestCallMeetsOthersOften(t *testing.T) {
	t.Parallel()
	s := members(t, 1, func(_ int, m *Member) { m.noSync = true })[0]
	other := s.beside(t, s.home.prefix)
	id := insert(t, s)
	met := 0
	s.Between(func() {
		if met++; met <= 70 {
			other.Change(t.Context(), id, store.Change{Op: store.OpMove, Queue: fmt.Sprint("q", met)})
		}
	})
	if answer, err := s.Change(t.Context(), id, store.Change{Op: store.OpPause}); err != nil || answer != store.Applied || met <= 70 {
		t.Errorf("it met others %d times: %v, %v", met, answer, err)
	}
}

// A mirror whose line was broken for so long that what it has missed is gone reads all again.
func TestMirrorReadsAllAgain(t *testing.T) {
	s := members(t, 1, nil)[0]
	other := s.beside(t, s.home.prefix)
	id := insert(t, other)
	h := other.home
	h.mu.RLock()
	rev := h.rev
	h.mu.RUnlock()
	if _, err := h.client.Compact(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	if err := h.watch(t.Context(), 2); err == nil {
		t.Fatal("what was compacted is heard of")
	}
	ctx, cancel := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 9), make(chan struct{})
	go func() {
		defer close(ended)
		other.Listen(ctx, func() { woken <- struct{}{} })
	}()
	<-woken // it begins
	before := h.loads
	if err := h.load(t.Context()); err != nil || h.loads != before+1 {
		t.Fatal(err)
	}
	<-woken // something may be due that it has not heard of
	cancel()
	<-ended
	if _, err := other.Get(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// Fences of programs that were killed do not become more and more, and a store whose fence was removed goes on.
func TestFencesAreFew(t *testing.T) {
	s := members(t, 1, nil)[0]
	if _, err := s.home.raise(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range mostFences + 50 {
		if _, err := s.home.client.Put(t.Context(), fmt.Sprint(s.home.prefix, keyFence, "dead", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	s.beside(t, s.home.prefix)
	left, err := s.home.client.Get(t.Context(), s.home.prefix+keyFence, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || left.Count != mostFences {
		t.Errorf("%d fences, %v, want %d", left.Count, err, mostFences)
	}
	insert(t, s)
}

// A job that waits takes up to 900 bytes of memory, of the mirror and the member together.
func TestWaitingJobIsSmall(t *testing.T) {
	s := members(t, 1, func(_ int, m *Member) { m.noSync = true })[0]
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 50_000
	add := func() {
		for range n / 5000 {
			jobs := make([]store.NewJob, 5000)
			for i := range jobs {
				jobs[i] = store.NewJob{ID: store.NewID(), Kind: "k", Payload: []byte(`{"customer":123456}`), Schedule: store.Once, Delay: time.Hour, Attempts: 1}
			}
			if _, err := s.Insert(t.Context(), jobs, store.Placement{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	others := func() { // then the log of the member, which is bounded, has nothing of the jobs any more
		for range 2000 {
			if _, err := s.home.client.Put(t.Context(), "other", ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	others()
	before := heap()
	add()
	others()
	if each := int64(heap()-before) / n; each > 900 {
		t.Errorf("a job takes %d bytes", each)
	} else {
		t.Logf("a job takes %d bytes", each)
	}
}
