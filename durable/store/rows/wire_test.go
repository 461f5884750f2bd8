package rows_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/rows"
	"github.com/executor-go/executor/durable/storetest"
)

// A database keeps rows as keys and values, and a mirror of them.
type database struct {
	mu      sync.Mutex
	version int64
	values  map[string]value
	mirror  *rows.Rows
}

type value struct {
	bytes   []byte
	version int64
}

func newDatabase() *database { return &database{values: make(map[string]value), mirror: rows.New()} }

func (d *database) Transact(_ context.Context, decide func(*rows.Tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.mirror.Begin(time.Now(), 0)
	if err := decide(t); err != nil {
		return err
	}
	for key, version := range t.Reads() {
		if version != d.values[key].version {
			return fmt.Errorf("key %q was read in version %d, and has %d", key, version, d.values[key].version)
		}
	}
	type write struct {
		key   string
		value []byte
	}
	var writes []write
	for key, v := range t.Writes() {
		writes = append(writes, write{key, bytes.Clone(v)})
	}
	d.version++
	for _, w := range writes {
		if d.values[w.key] = (value{w.value, d.version}); w.value == nil {
			delete(d.values, w.key)
		}
		if err := d.mirror.Set(w.key, w.value, d.version); err != nil {
			return err
		}
	}
	return nil
}

// loaded returns a database that has read what another has written.
func (d *database) loaded(t *testing.T) *database {
	d.mu.Lock()
	defer d.mu.Unlock()
	to := &database{values: maps.Clone(d.values), mirror: rows.New(), version: d.version}
	for _, key := range slices.Sorted(maps.Keys(d.values)) {
		if err := to.mirror.Set(key, d.values[key].bytes, d.values[key].version); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func exported(t *testing.T, d *database) (all []store.Row) {
	t.Helper()
	err := rows.NewStore(d).Export(context.WithoutCancel(t.Context()), func(r store.Row) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// texts returns rows as texts, in order.
func texts(t *testing.T, all []store.Row) (texts []string) {
	for _, row := range all {
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

// A store whose rows are read from keys and values passes the suite, and has the same rows if it is loaded from them.
func TestWireConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *rows.Store {
		d := newDatabase()
		t.Cleanup(func() {
			was, is := texts(t, exported(t, d)), texts(t, exported(t, d.loaded(t)))
			if !slices.Equal(was, is) {
				t.Errorf("the rows that are loaded are\n%s\nwant\n%s", is, was)
			}
		})
		return rows.NewStore(d)
	})
}

// filled returns a database in which each field of each row of an export is set.
func filled(t *testing.T) *database {
	at := time.Date(2026, 11, 28, 12, 0, 0, 123456000, time.UTC)
	id := func(n byte) store.ID { return store.ID{15: n} }
	all := []store.Row{
		{Job: &store.Job{ID: id(1), Key: "key", Kind: "kind", Payload: bytes.Repeat([]byte("p"), 2000), Priority: store.Low,
			Meta: map[string]string{"a": "1", "b": "2"}, Tags: []string{"t", "u"}, Partition: "part", Queue: "queue",
			Schedule: "rate 1m0s", Missed: "coalesce", Anchor: at, Due: at.Add(1e9), Occurrence: at.Add(2e9), NextDue: at.Add(3e9),
			State: store.Running, Pending: store.PendingPause, Epoch: 7, Owner: "node", Started: at.Add(4e9), Suspect: true,
			Absent: true, HasParents: true, HasChildren: true, Attempt: 2, Attempts: 3, Timeout: time.Second, Runs: 4, Lost: 5,
			Error: "error", Label: "label", Result: bytes.Repeat([]byte("r"), 3000), Created: at.Add(5e9), Updated: at.Add(-6e18)}},
		{Job: &store.Job{ID: id(2), Kind: "kind", Payload: []byte{}, Result: []byte{}, Schedule: store.Once, Due: time.Unix(0, 0).UTC()}},
		{After: &store.JobAfter{Job: id(2), Need: 1, Anyway: true, Parents: []store.JobParent{{ID: id(1), State: store.Dead}}}},
		{Run: &store.KeptRun{Run: store.Run{Job: id(1), Seq: 3, Occurrence: at, Attempt: 2, Epoch: 6, Node: "node", Started: at,
			Finished: at.Add(1e9), Verdict: store.RunLost, Error: "error", Label: "label"}, Output: []byte("output")}},
		{Step: &store.JobStep{Job: id(1), KeptStep: store.KeptStep{Name: "step", Signal: true, Occasion: at, Result: []byte("r"), At: at}}},
		{Paused: &store.PausedKind{Kind: "kind"}},
		{Bucket: &store.Bucket{Kind: "kind", Full: at}},
		{Turn: &store.Turn{Kind: "kind", Priority: store.High, Partition: "part", At: at}},
		{Act: &store.Act{Seq: 1, At: at, Who: "who", Action: "cancel", Job: id(1), Key: "key", Reason: "reason", Answer: "applied"}},
	}
	d := newDatabase()
	err := rows.NewStore(d).Import(t.Context(), func(yield func(store.Row, error) bool) {
		for _, row := range all {
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := exported(t, d); !reflect.DeepEqual(got, all) {
		t.Fatalf("what was written is\n%+v, want\n%+v", got, all)
	}
	return d
}

// What is written today can be read by the next version of this package: to change it needs another Schema.
func TestWireStaysAsItIs(t *testing.T) {
	d, sum := filled(t), sha256.New()
	for _, key := range slices.Sorted(maps.Keys(d.values)) {
		fmt.Fprintf(sum, "%q %q\n", key, d.values[key].bytes)
	}
	const want = "12f667fd0f42f7cb"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("the keys and values have the sum %s, want %s: if a field was added behind the others of its value, change the sum; "+
			"otherwise change Schema, too", got, want)
	}
}

// A payload and a result that are long are not written again with their job, and go with it.
func TestWireWritesLongBytesOnce(t *testing.T) {
	d := filled(t)
	s := rows.NewStore(d)
	bodies := func() (n int, latest int64) {
		for key, v := range d.values {
			if strings.HasPrefix(key, "b") {
				n++
				latest = max(latest, v.version)
			}
		}
		return n, latest
	}
	n, before := bodies()
	if n != 2 {
		t.Fatalf("%d bodies, want 2", n)
	}
	if a, err := s.Change(t.Context(), store.ID{15: 1}, store.Change{Op: store.OpCancel}); err != nil || a != store.Deferred {
		t.Fatal(a, err)
	}
	if n, after := bodies(); n != 2 || after != before {
		t.Errorf("%d bodies, and one was written again", n)
	}
	if err := s.Leave(t.Context(), "node"); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Change(t.Context(), store.ID{15: 1}, store.Change{Op: store.OpDelete}); err != nil || a != store.Applied {
		t.Fatal(a, err)
	}
	if n, _ := bodies(); n != 0 {
		t.Errorf("%d bodies are left of a job that was deleted", n)
	}
}

// Set declines what Writes has not made, wherever it was cut off, and takes what lacks the fields that came later.
func TestSetDeclinesWhatIsBroken(t *testing.T) {
	d := filled(t)
	for key, v := range d.values {
		for n := range len(v.bytes) {
			r := d.loaded(t).mirror
			_ = r.Set(key, v.bytes[:n], 1) // must not panic
		}
		if err := rows.New().Set(key, append(bytes.Clone(v.bytes), 0), 1); err == nil && key[0] != 'b' {
			t.Errorf("a value of key %q that is too long was taken", key)
		}
	}
	for _, key := range []string{"", "?", "j", "jshort", "r", "e", "b", "j0123456789abcdefg"} {
		if rows.New().Set(key, []byte{}, 1) == nil {
			t.Errorf("key %q was taken", key)
		}
	}
}

// A failing is a database one of whose transactions fails: before or after its commit.
type failing struct {
	*database
	mu   sync.Mutex
	kind string
	nth  int
	met  bool
}

var failures = []string{"before the commit", "after the commit"}

func (f *failing) Transact(ctx context.Context, decide func(*rows.Tx) error) error {
	f.mu.Lock()
	f.nth--
	fails, kind := f.nth == 0, f.kind
	f.met = f.met || fails
	f.mu.Unlock()
	switch {
	case !fails:
		return f.database.Transact(ctx, decide)
	case kind == failures[0]:
		f.database.mu.Lock()
		defer f.database.mu.Unlock()
		decide(f.mirror.Begin(time.Now(), 0))
	default:
		f.database.Transact(ctx, decide)
	}
	return errors.New("planted")
}

// A call whose transaction fails returns no answer, and may be repeated.
func TestStoreFaults(t *testing.T) {
	storetest.RunFaults(t, func(*testing.T) (store.Store, storetest.Faults) {
		f := &failing{database: newDatabase()}
		return rows.NewStore(f), storetest.Faults{
			Kinds: failures,
			Plant: func(kind string, n int) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.kind, f.nth, f.met = kind, n, false
			},
			Met: func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.nth = 0
				return f.met
			},
		}
	})
}
