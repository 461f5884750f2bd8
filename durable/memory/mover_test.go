package memory_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/filled"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/transfer"
)

// Import reads any bytes: it declines them and leaves the store empty, or what it has made of them can be moved on. It
// is here, as a fuzzer builds all that a test imports, which with the other stores takes minutes.
func FuzzImport(f *testing.F) {
	for seed := range uint64(3) {
		from := memory.New()
		if err := filled.Fill(f.Context(), from, rand.New(rand.NewPCG(seed, 6)), 4); err != nil {
			f.Fatal(err)
		}
		f.Add(exported(f, from))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		to := memory.New()
		if _, err := transfer.Import(t.Context(), to, bytes.NewReader(signed(data)), transfer.Options{}); err != nil {
			if s, _ := transfer.Check(bytes.NewReader(exported(t, to))); s.Rows != (transfer.Rows{}) {
				t.Errorf("%v, and left %+v", err, s.Rows)
			}
			return
		}
		next := memory.New()
		if _, err := transfer.Import(t.Context(), next, bytes.NewReader(exported(t, to)), transfer.Options{}); err != nil {
			t.Errorf("what was imported can't be moved on: %v", err)
		}
	})
}

// What was kept while the clock was put back can be moved: a step that was kept later may have an earlier time.
func TestExportAfterTheClockWasPutBack(t *testing.T) {
	s, ctx := memory.New(), t.Context()
	n := store.NewJob{ID: durable.NewID(), Kind: "k", Payload: []byte("1"), Schedule: store.Once, Attempts: 1}
	if _, err := s.Insert(ctx, []store.NewJob{n}, store.Placement{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if a, err := s.Signal(ctx, n.ID, name, []byte("1")); a != durable.Applied || err != nil {
			t.Fatal(a, err)
		}
		s.Shift(-time.Hour)
	}
	to := memory.New()
	if _, err := transfer.Import(ctx, to, bytes.NewReader(exported(t, s)), transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if kept, err := to.KeptSteps(ctx, n.ID); len(kept) != 2 || err != nil {
		t.Errorf("kept are %+v, %v", kept, err)
	}
}

// exported is what Export writes.
func exported(t testing.TB, s *memory.Store) []byte {
	var b bytes.Buffer
	if _, err := transfer.Export(t.Context(), s, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// signed makes the last line of an export fit the lines before, as an attacker could: else a fuzzer would get no
// further than to the checksum.
func signed(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	count := make(map[string]int)
	var kept [][]byte
	for _, l := range lines {
		var object map[string]json.RawMessage
		if json.Unmarshal(l, &object) == nil {
			if _, end := object["end"]; end {
				continue
			}
			for name := range object {
				count[name]++
			}
		}
		if len(l) > 0 {
			kept = append(kept, bytes.TrimSuffix(l, []byte("\n")), []byte("\n"))
		}
	}
	data = bytes.Join(kept, nil)
	rows := fmt.Sprintf(`{"jobs":%d,"after":%d,"runs":%d,"steps":%d,"paused":%d,"buckets":%d,"turns":%d,"acts":%d}`, count["job"],
		count["after"], count["run"], count["step"], count["paused"], count["bucket"], count["turn"], count["act"])
	return fmt.Appendf(data, `{"end":{"rows":%s,"sha256":"%x"}}`+"\n", rows, sha256.Sum256(data))
}
