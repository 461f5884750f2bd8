package transfer_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable/internal/pgtest"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/transfer"
)

var server *pgtest.Server

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m.Run, &server, "fsync=off"))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// filled returns a store in which jobs of a node that has left have run, wait for each other and are held by a node
// that was killed.
func filled(t *testing.T) *memory.Store {
	s, ctx := memory.New(), t.Context()
	jobs := make([]store.NewJob, 4)
	for i := range jobs {
		jobs[i] = store.NewJob{ID: store.NewID(), Key: fmt.Sprint("key/ü", i), Kind: "k", Payload: []byte{0, byte(i), 255}, Schedule: store.Once, Attempts: 3,
			Tags: []string{"täg"}, Meta: map[string]string{"trace": "é"}}
	}
	jobs[2].After = store.After{Parents: []store.ID{jobs[0].ID, jobs[1].ID}, Need: 2}
	jobs[3].Schedule, jobs[3].Missed, jobs[3].Delay = "rate 1m0s", "coalesce", time.Hour
	must(s.Insert(ctx, jobs, store.Placement{}))
	for _, node := range []string{"left", "killed"} {
		now := must(s.Join(ctx, node, time.Hour))
		c := must(s.Claim(ctx, store.ClaimRequest{Node: node, Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}}))
		of := store.Ref{ID: c.Jobs[0].ID, Epoch: c.Jobs[0].Epoch}
		must(s.Commit(ctx, store.CommitRequest{Node: node, Begun: []store.Begin{{Ref: of, Started: now}}}))
		for i, result := range [][]byte{{2}, {1}, nil} {
			k := store.KeptStep{Name: fmt.Sprint("stép", i), Signal: result == nil, Occasion: c.Jobs[0].Occurrence, Result: result}
			if _, ok, err := s.KeepStep(ctx, of, k); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if node == "left" {
			must(s.Commit(ctx, store.CommitRequest{Node: node, History: 9, Outcomes: []store.Outcome{{Ref: of, State: store.Succeeded, Result: []byte{7},
				Run: store.Run{Started: now, Finished: now, Label: "läbel"}, Output: []byte{0, 255}}}}))
			must(0, s.Leave(ctx, node))
		} else {
			must(s.Heartbeat(ctx, node, -time.Second, store.Watch{}))
		}
	}
	must(0, s.PauseKind(ctx, "paused", true))
	must(0, s.NoteAct(ctx, store.Act{Who: "ops' é", Action: "cancel", Reason: "it <was> late", Answer: "applied"}))
	return s
}

var places = []struct {
	name string
	open func(t *testing.T) store.Full
}{
	{"memory", func(*testing.T) store.Full { return memory.New() }},
	{"sqlite", func(t *testing.T) store.Full {
		s := must(sqlite.Open(filepath.Join(t.TempDir(), "jobs.db")))
		t.Cleanup(func() { s.Close() })
		return s
	}},
	{"postgres", func(t *testing.T) store.Full {
		s := must(postgres.Open(server.Schema(t)))
		t.Cleanup(func() { s.Close() })
		return s
	}},
}

// text is the export of a store without the first line, which has the time, and the last.
func text(t *testing.T, s store.Store) (all []byte, rows string) {
	t.Helper()
	var b bytes.Buffer
	must(transfer.Export(t.Context(), s, &b))
	lines := strings.SplitAfter(b.String(), "\n")
	return b.Bytes(), strings.Join(lines[1:len(lines)-2], "")
}

// A store has all that another one had, whatever both are.
func TestImportHasAllThatWasExported(t *testing.T) {
	exported, want := text(t, filled(t))
	for _, from := range places {
		for _, to := range places {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				first, then := from.open(t), to.open(t)
				must(transfer.Import(t.Context(), first, bytes.NewReader(exported)))
				again, _ := text(t, first)
				s := must(transfer.Import(t.Context(), then, bytes.NewReader(again)))
				if s.Jobs != 4 || s.Held != 1 || s.Runs != 1 || s.Exported.IsZero() {
					t.Errorf("imported: %+v", s)
				}
				if _, got := text(t, then); got != want {
					t.Errorf("it has\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// A store with a node that is alive is neither exported nor imported into; one that has something takes no import.
func TestStoresAreIdle(t *testing.T) {
	exported, _ := text(t, filled(t))
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			s := place.open(t)
			must(s.Join(t.Context(), "at-work", time.Hour))
			_, err := transfer.Export(t.Context(), s, new(bytes.Buffer))
			_, err2 := transfer.Import(t.Context(), s, bytes.NewReader(exported))
			for _, err := range []error{err, err2} {
				if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "node at-work is alive") {
					t.Errorf("with a node: %v", err)
				}
			}
			must(0, s.Leave(t.Context(), "at-work"))
			must(transfer.Import(t.Context(), s, bytes.NewReader(exported)))
			if _, err := transfer.Import(t.Context(), s, bytes.NewReader(exported)); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// An export that was cut or changed is declined, wherever that is, and leaves the store empty.
func TestImportDeclinesWhatIsNotWhole(t *testing.T) {
	exported, _ := text(t, filled(t))
	lines := bytes.SplitAfter(exported, []byte("\n"))
	lines = lines[:len(lines)-1]
	joined := func(parts ...[][]byte) []byte {
		var all []byte
		for _, part := range parts {
			all = append(all, bytes.Join(part, nil)...)
		}
		return all
	}
	head := `{"store":{"format":1,"exported":"2026-11-27T00:00:00Z"}}` + "\n"
	wrong := map[string][]byte{
		"line 1: the export ends":                           nil,
		"line 1: this is no export":                         []byte(`{"paused":{"kind":"k"}}` + "\n"),
		"line 1: the export has format 2":                   []byte(strings.Replace(head, "1", "2", 1)),
		`line 2: json: unknown field "jobs"`:                []byte(head + `{"jobs":{}}` + "\n"),
		"line 2: it has no row":                             []byte(head + "{}\n"),
		"line 2: json: cannot unmarshal string":             []byte(head + `{"job":{"runs":"7"}}` + "\n"),
		"after the end":                                     append(bytes.Clone(exported), '\n'),
		fmt.Sprintf("line %d: the export ends", len(lines)): exported[:len(exported)-1],
	}
	for i := 1; i < len(lines)-1; i++ {
		last := len(lines)
		wrong[fmt.Sprintf("line %d: the checksum", last-1)+strings.Repeat(" ", i)] = joined(lines[:i], lines[i+1:])
		wrong[fmt.Sprintf("line %d: the checksum", last+1)+strings.Repeat(" ", i)] = joined(lines[:i+1], lines[i:])
		wrong[fmt.Sprintf("line %d: the export ends", i+1)] = joined(lines[:i], [][]byte{lines[i][:len(lines[i])/2]})
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			s := place.open(t)
			for want, data := range wrong {
				_, err := transfer.Import(t.Context(), s, bytes.NewReader(data))
				if err == nil || !strings.Contains(err.Error(), strings.TrimRight(want, " ")) && !strings.Contains(want, "checksum") {
					t.Errorf("%v, want %q", err, want)
				}
				if _, rows := text(t, s); rows != "" {
					t.Fatalf("%v, and left\n%s", err, rows)
				}
			}
		})
	}
}

// A store that can't be moved is declined.
func TestExportNeedsAMover(t *testing.T) {
	s := struct{ store.Store }{memory.New()}
	_, err := transfer.Export(t.Context(), s, new(bytes.Buffer))
	_, err2 := transfer.Import(t.Context(), s, strings.NewReader(""))
	for _, err := range []error{err, err2} {
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "store.Mover") {
			t.Errorf("a store that is no Mover: %v", err)
		}
	}
}
