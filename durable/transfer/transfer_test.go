package transfer_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/filled"
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

// must returns v, and ends the test if there was an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// places are the stores that there are, each empty.
var places = []struct {
	name string
	open func(t *testing.T) store.Full
}{
	{"memory", func(t *testing.T) store.Full { return memory.New() }},
	{"sqlite", func(t *testing.T) store.Full {
		s := must(sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"), sqlite.Normal()))
		t.Cleanup(func() { s.Close() })
		return s
	}},
	{"postgres", func(t *testing.T) store.Full {
		s := must(postgres.Open(server.Schema(t)))
		t.Cleanup(func() { s.Close() })
		return s
	}},
}

// text is what Export writes.
func text(t *testing.T, s store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	must(transfer.Export(t.Context(), s, &b))
	return b.Bytes()
}

// move exports one store, and imports it into another.
func move(t *testing.T, from, to store.Store) transfer.Result {
	t.Helper()
	return must(transfer.Import(t.Context(), to, bytes.NewReader(text(t, from)), transfer.Options{}))
}

// rows are what a store has, one text each. The numbers of acts are each store's own. Times from then on, for some
// minutes, are the same: they are those of the import.
func rows(t *testing.T, s store.Full, then time.Time) []string {
	t.Helper()
	var all []string
	must(0, s.(store.Mover).Export(t.Context(), func(row store.Row) error {
		if row.Act != nil {
			row.Act.Seq = 0
		}
		all = append(all, shown(row, then))
		return nil
	}))
	slices.Sort(all)
	return all
}

func shown(row store.Row, then time.Time) string {
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			leveled := reflect.New(v.Field(i).Type().Elem())
			leveled.Elem().Set(v.Field(i).Elem())
			level(leveled.Elem(), then)
			return fmt.Sprintf("%s %+v", v.Type().Field(i).Name, leveled.Elem().Interface())
		}
	}
	return ""
}

// level makes the times of an import the same, and empty payloads, which a database has where there are none.
func level(v reflect.Value, then time.Time) {
	for i := range v.NumField() {
		switch f := v.Field(i).Addr().Interface().(type) {
		case *time.Time:
			if !then.IsZero() && !f.Before(then) && f.Before(then.Add(10*time.Minute)) {
				*f = then
			}
			*f = f.UTC()
		case *store.Run, *store.KeptStep:
			level(v.Field(i), then)
		}
	}
	if j, ok := v.Addr().Interface().(*store.Job); ok && len(j.Payload) == 0 {
		j.Payload = nil
	}
}

// diff returns the first rows in which two stores differ, "" if there are none.
func diff(a, b []string) string {
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("%d and %d rows; of %d\n%s\n%s", len(a), len(b), i, x, y)
		}
	}
	return ""
}

// Whatever a store has is there after it was moved to another one, and all stores make the same of it: what no node
// held is as it was, and what one held is freed.
func TestImportHasAllThatWasExported(t *testing.T) {
	for _, source := range places {
		t.Run(source.name, func(t *testing.T) {
			seeds := 3
			if source.name != "memory" || os.Getenv("EXECUTOR_LONG") == "" {
				seeds = 1
			}
			for seed := range uint64(seeds) {
				from := source.open(t)
				must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(seed, 1)), 60))
				exported := text(t, from)
				then := must(from.Now(t.Context())).Add(-time.Millisecond)
				held := must(from.List(t.Context(), store.Filter{States: []store.State{store.Claimed, store.Confirmed, store.Running}, Limit: 1000}))
				var first []string
				for _, target := range places {
					to := target.open(t)
					result := must(transfer.Import(t.Context(), to, bytes.NewReader(exported), transfer.Options{}))
					if result.Jobs != result.Rows.Jobs || result.There != 0 || result.Freed != len(held) || result.Held != len(held) {
						t.Errorf("seed %d: imported into %s: %+v, of which %d were held", seed, target.name, result, len(held))
					}
					got := rows(t, to, then)
					if first == nil {
						first = got
						kept(t, from, got, held, then)
					}
					if d := diff(first, got); d != "" {
						t.Errorf("seed %d: %s and %s differ: %s", seed, places[0].name, target.name, d)
					}
				}
			}
		})
	}
}

// kept holds that the rows of a store are among those of another one, but for jobs that are held, and jobs after these.
func kept(t *testing.T, from store.Full, got []string, held []store.Job, then time.Time) {
	t.Helper()
	changed := make(map[string]bool)
	for _, j := range held {
		changed[j.ID.String()] = true
	}
	must(0, from.(store.Mover).Export(t.Context(), func(row store.Row) error {
		if row.After != nil {
			for _, p := range row.After.Parents {
				if changed[p.ID.String()] {
					changed[row.After.Job.String()] = true
				}
			}
		}
		return nil
	}))
	for _, row := range rows(t, from, then) {
		if id := regexpID(row); !changed[id] && !slices.Contains(got, row) {
			t.Errorf("lost or changed: %s", row)
		}
	}
	for _, j := range held {
		if i := slices.IndexFunc(got, func(row string) bool { return strings.HasPrefix(row, "Job {ID:"+j.ID.String()) }); i < 0 || strings.Contains(got[i], "Owner:n") {
			t.Errorf("what a node held is there and freed at %d", i)
		}
	}
}

// regexpID returns the ID that a row begins with, if it is of a job, its parents, runs or steps.
func regexpID(row string) string {
	for _, prefix := range []string{"Job {ID:", "After {Job:", "Run {Run:{Job:", "Step {Job:"} {
		if rest, ok := strings.CutPrefix(row, prefix); ok {
			return rest[:36]
		}
	}
	return ""
}

// A store that was moved to each of the others, one after the other, is the same in the end.
func TestMovesFromStoreToStoreChangeNothing(t *testing.T) {
	for seed := range uint64(2) {
		from := memory.New()
		must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(seed, 2)), 150))
		var want []string
		var last store.Full = from
		for _, i := range []int{1, 2, 0, 2, 1, 0} {
			to := places[i].open(t)
			move(t, last, to)
			if got := rows(t, to, time.Time{}); want == nil {
				want = got // nothing is held any more
			} else if d := diff(want, got); d != "" {
				t.Fatalf("seed %d: %s: %s", seed, places[i].name, d)
			}
			last = to
		}
	}
}

// Everything that a row can have is moved by the tests above: what is new in a store must be added to package filled,
// and then shows here if it is lost.
func TestFilledStoresHaveEveryField(t *testing.T) {
	seen := make(map[string]bool)
	var note func(path string, v reflect.Value)
	note = func(path string, v reflect.Value) {
		if _, isTime := v.Interface().(time.Time); v.Kind() == reflect.Struct && !isTime {
			for i := range v.NumField() {
				note(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		seen[path] = seen[path] || !v.IsZero()
	}
	for seed := range uint64(10) {
		from := memory.New()
		must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(seed, 3)), 150))
		must(0, from.Export(t.Context(), func(row store.Row) error {
			v := reflect.ValueOf(row)
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if seen[name] = seen[name] || !v.Field(i).IsNil(); !v.Field(i).IsNil() {
					note(name, v.Field(i).Elem())
				}
			}
			return nil
		}))
	}
	for field, there := range seen {
		if !there {
			t.Errorf("no row has %s: let package filled make one", field)
		}
	}
}

// After an import, nodes claim what waits, and find keys and tags.
func TestImportIsUsable(t *testing.T) {
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			from, to := memory.New(), place.open(t)
			jobs := []store.NewJob{
				{ID: store.NewID(), Key: "key", Kind: "k", Payload: []byte("\x00\xff"), Schedule: store.Once, Attempts: 1, Tags: []string{"t"}},
				{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1, Partition: "p"},
				{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1},
			}
			jobs[2].After = store.After{Parents: []store.ID{jobs[0].ID}, Need: 1}
			must(from.Insert(t.Context(), jobs, store.Placement{}))
			move(t, from, to)
			must(to.Join(t.Context(), "n", time.Hour))
			claim := func() store.ClaimResult {
				return must(to.ClaimLimited(t.Context(), store.ClaimRequest{Node: "n", Ahead: time.Minute, Lead: time.Minute, Limit: 9,
					Kinds: []store.KindLimit{{Kind: "k", Max: 9, PerPartition: 1}}}))
			}
			c := claim()
			if len(c.Jobs) != 2 {
				t.Fatalf("claimed %+v", c.Jobs)
			}
			if found := must(to.List(t.Context(), store.Filter{Tags: []string{"t"}})); len(found) != 1 || found[0].ID != jobs[0].ID {
				t.Errorf("by its tag: %+v", found)
			}
			first := must(to.Find(t.Context(), "key"))
			if string(first.Payload) != "\x00\xff" {
				t.Errorf("the payload is %q", first.Payload)
			}
			must(to.Commit(t.Context(), store.CommitRequest{Node: "n", Outcomes: []store.Outcome{{Ref: store.Ref{ID: first.ID, Epoch: first.Epoch},
				State: store.Succeeded, Due: first.Due, Occurrence: first.Occurrence}}}))
			if c := claim(); len(c.Jobs) != 1 || c.Jobs[0].ID != jobs[2].ID {
				t.Errorf("the job after it is not released: %+v", c.Jobs)
			}
		})
	}
}

// What programs may keep in a store, however odd, can be moved to any other.
func TestImportTakesWhatProgramsMayKeep(t *testing.T) {
	meta := map[string]string{"a\x00": "\x00b"}
	for _, from := range places {
		for _, to := range places {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				from, to := from.open(t), to.open(t)
				jobs := must(durable.New(durable.Config{Store: from}))
				id := must(durable.Client[int, int](jobs, "k").Schedule(t.Context(), 0, 1, durable.WithMeta(meta)))
				must(0, jobs.NoteAct(t.Context(), store.Act{Who: "ann"})) // without an Action
				move(t, from, to)
				if j := must(to.Get(t.Context(), id)); !maps.Equal(j.Meta, meta) {
					t.Errorf("the meta is %q", j.Meta)
				}
				if acts := must(to.Acts(t.Context(), store.ActFilter{Limit: 9})); len(acts) != 1 || acts[0].Who != "ann" {
					t.Errorf("the acts are %+v", acts)
				}
			})
		}
	}
}

// A job whose last attempt a node had at the moment of the export is dead, and jobs after it are canceled.
func TestImportSettlesJobsAfterWhatIsLost(t *testing.T) {
	from := memory.New()
	jobs := make([]store.NewJob, 3)
	for i := range jobs {
		jobs[i] = store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}
		if i > 0 {
			jobs[i].After = store.After{Parents: []store.ID{jobs[i-1].ID}, Need: 1}
		}
	}
	must(from.Insert(t.Context(), jobs, store.Placement{}))
	must(from.Join(t.Context(), "n", time.Hour))
	c := must(from.Claim(t.Context(), store.ClaimRequest{Node: "n", Lead: time.Second, Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}}))
	must(from.Commit(t.Context(), store.CommitRequest{Node: "n", Begun: []store.Begin{{Ref: store.Ref{ID: c.Jobs[0].ID, Epoch: c.Jobs[0].Epoch}, Started: c.Now}}}))
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			to := place.open(t)
			if r := move(t, from, to); r.Freed != 1 || r.Dead != 1 {
				t.Errorf("imported: %+v", r)
			}
			for i, want := range []store.State{store.Dead, store.Canceled, store.Canceled} {
				if j := must(to.Get(t.Context(), jobs[i].ID)); j.State != want || j.Error == "" {
					t.Errorf("job %d is %v, want %v: %q", i, j.State, want, j.Error)
				}
			}
			if runs := must(to.Runs(t.Context(), jobs[0].ID, 0, 5)); len(runs) != 1 || runs[0].Verdict != store.RunLost {
				t.Errorf("its history is %+v", runs)
			}
		})
	}
}

// A store that has something takes no import unless it is told to add. Then it leaves alone what it has, so that an
// import may be repeated, and declines a key that another job has.
func TestImportIntoWhatIsNotEmpty(t *testing.T) {
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			from, to := memory.New(), place.open(t)
			must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(1, 4)), 60))
			exported := text(t, from)
			do := func(add bool) (transfer.Result, error) {
				return transfer.Import(t.Context(), to, bytes.NewReader(exported), transfer.Options{Add: add})
			}
			must(do(false))
			before := rows(t, to, time.Time{})
			if _, err := do(false); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("again: %v", err)
			}
			if r := must(do(true)); r.Jobs != 0 || r.There != r.Rows.Jobs || r.There == 0 {
				t.Errorf("added: %+v", r)
			}
			if d := diff(before, rows(t, to, time.Time{})); d != "" {
				t.Errorf("adding it again has changed: %s", d)
			}
			other := memory.New()
			key := must(to.List(t.Context(), store.Filter{Prefix: "key/", Limit: 1}))[0].Key
			must(other.Insert(t.Context(), []store.NewJob{{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1},
				{ID: store.NewID(), Key: key, Kind: "k", Schedule: store.Once, Attempts: 1}}, store.Placement{}))
			_, err := transfer.Import(t.Context(), to, bytes.NewReader(text(t, other)), transfer.Options{Add: true})
			if !errors.Is(err, store.ErrKeyInUse) || !strings.Contains(err.Error(), key) {
				t.Errorf("a key that is taken: %v", err)
			}
			if d := diff(before, rows(t, to, time.Time{})); d != "" {
				t.Errorf("an import that failed has changed: %s", d)
			}
		})
	}
}

// An export that was cut, wherever that is, is declined, and leaves the store as it was.
func TestImportDeclinesWhatWasCut(t *testing.T) {
	from := memory.New()
	must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(1, 5)), 30))
	exported := text(t, from)
	lines := bytes.SplitAfter(exported, []byte("\n"))
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			to := place.open(t)
			cuts := make(map[int]string) // with the line of the error
			n := 0
			for i, l := range lines[:len(lines)-1] {
				cuts[n] = fmt.Sprintf("line %d:", i+1)
				cuts[n+len(l)/2] = fmt.Sprintf("line %d:", i+1)
				n += len(l)
			}
			cuts[n-1] = fmt.Sprintf("line %d:", len(lines)-1) // the end of the last line
			for cut, line := range cuts {
				_, err := transfer.Import(t.Context(), to, bytes.NewReader(exported[:cut]), transfer.Options{})
				if err == nil || !strings.Contains(err.Error(), line) || !errors.Is(err, executor.ErrInvalid) {
					t.Errorf("cut at %d: %v, want %s", cut, err, line)
				}
			}
			if left := rows(t, to, time.Time{}); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// An export of which a line is missing, double or changed is declined.
func TestImportDeclinesWhatWasChanged(t *testing.T) {
	from := memory.New()
	must(0, filled.Fill(t.Context(), from, rand.New(rand.NewPCG(2, 5)), 30))
	exported := text(t, from)
	lines := bytes.SplitAfter(exported, []byte("\n"))
	for i := range lines[:len(lines)-1] {
		for name, changed := range map[string][][]byte{
			"missing": slices.Concat(lines[:i], lines[i+1:]),
			"double":  slices.Concat(lines[:i+1], lines[i:]),
			"changed": slices.Concat(lines[:i], [][]byte{bytes.Replace(lines[i], []byte("}"), []byte(" }"), 1)}, lines[i+1:]),
		} {
			if name == "changed" && i == len(lines)-2 {
				continue // blanks in the last line are none of the checksum's business
			}
			if _, err := transfer.Check(bytes.NewReader(bytes.Join(changed, nil))); !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("line %d is %s: %v", i+1, name, err)
			}
		}
	}
	if s, err := transfer.Check(bytes.NewReader(exported)); err != nil || s.Rows.Jobs == 0 {
		t.Errorf("the export itself: %+v, %v", s, err)
	}
}

const (
	head = `{"store":{"format":1,"exported":"2026-11-27T00:00:00Z"}}` + "\n"
	id1  = "01890a5d-ac96-774b-bcce-b302099a8057"
	id2  = "01890a5d-ac96-774b-bcce-b302099a8058"
)

// jobText is the line of a job.
func jobText(id, more string) string {
	return `{"job":{"id":"` + id + `","kind":"k","priority":0,"schedule":"once","anchor":"2026-11-27T00:00:00Z","due":"2026-11-27T00:00:00Z",` +
		`"occurrence":"2026-11-27T00:00:00Z","epoch":0,"attempt":0,"attempts":1,"runs":1,"created":"2026-11-27T00:00:00Z","updated":"2026-11-27T00:00:00Z",` +
		cmp.Or(more, `"state":"waiting"`) + "}}\n"
}

// What is wrong with a line is said with its number and the name of its field.
func TestImportNamesLineAndField(t *testing.T) {
	waiting := jobText(id1, "")
	for _, test := range []struct{ text, want string }{
		{"", "line 1: the export ends before its last line"},
		{"\n", "line 1: it is no JSON object"},
		{"{}\n", `line 1: it must be {"store": ...}`},
		{waiting, `line 1: it must be {"store": ...}`},
		{`{"store":{"format":2,"exported":"2026-11-27T00:00:00Z"}}` + "\n", "line 1: store.format 2:"},
		{`{"store":{"format":"1"}}` + "\n", "line 1: store.format: it is a string"},
		{head + "{}\n", "line 2: it has no row"},
		{head + waiting[:len(waiting)-2] + `,"paused":{"kind":"k"}}` + "\n", "line 2: it has more than one row"},
		{head + "[]\n", "line 2: it is no JSON object"},
		{head + `{"job":7}` + "\n", "line 2: job: it must be a JSON object"},
		{head + `{"job":{}}` + "\n", "line 2: job.kind: it is missing"},
		{head + `{"jobs":{}}` + "\n", "line 2: jobs: no such field"},
		{head + jobText(id1, `"state":"asleep"`), `line 2: job.state: durable: state "asleep": it must be one of`},
		{head + jobText(id1, `"state":"waiting","owner":"n"`), `line 2: job.owner "n"`},
		{head + jobText(id1, `"state":"claimed"`), `line 2: job.owner ""`},
		{head + jobText(id1, `"state":"running","owner":"n"`), "line 2: job.started"},
		{head + jobText("7", ""), "line 2: job.id:"},
		{head + jobText("00000000-0000-0000-0000-000000000000", ""), "line 2: job.id: it is missing"},
		{head + jobText(id2, "") + waiting, "line 3: job.id: it must come after"},
		{head + waiting + waiting, "line 3: job.id: it must come after"},
		{head + jobText(id1, `"priority":2,"state":"waiting"`), "line 2: job.priority 2:"},
		{head + jobText(id1, `"epoch":-1,"state":"waiting"`), "line 2: job.epoch -1:"},
		{head + jobText(id1, `"attempts":1.5,"state":"waiting"`), "line 2: job.attempts: it is a number 1.5"},
		{head + jobText(id1, `"due":"tomorrow","state":"waiting"`), "line 2: job.due:"},
		{head + jobText(id1, `"payload":"%","state":"waiting"`), "line 2: job.payload:"},
		{head + jobText(id1, `"key":"a\u0000","state":"waiting"`), `line 2: job.key "a\x00": it has a zero byte`},
		{head + jobText(id1, `"tags":["\u0000"],"state":"waiting"`), `line 2: job.tags[0] "\x00": it has a zero byte`},
		{head + jobText(id1, `"tags":["b","a"],"state":"waiting"`), `line 2: job.tags "a": they must be in order`},
		{head + jobText(id1, `"tags":["a\nb"],"state":"waiting"`), `line 2: job.tags "a\nb"`},
		{head + jobText(id1, `"colour":"red","state":"waiting"`), "line 2: job.colour: no such field"},
		{head + jobText(id1, `"state":"blocked"`) + `{"paused":{"kind":"k"}}` + "\n", "line 3: job " + id1 + " is blocked"},
		{head + `{"after":{"job":"` + id1 + `","need":1,"parents":[]}}` + "\n", "line 2: after.job " + id1},
		{head + waiting + `{"after":{"job":"` + id1 + `","need":1,"parents":[]}}` + "\n", "line 3: after.parents: there are none"},
		{head + waiting + `{"after":{"job":"` + id1 + `","need":1,"parents":[{"id":"` + id1 + `","state":"waiting"}]}}` + "\n", "line 3: after.parents[0].id"},
		{head + waiting + `{"after":{"job":"` + id1 + `","need":1,"parents":[{"id":"` + id2 + `","state":"paused"}]}}` + "\n", "line 3: after.parents[0].state"},
		{head + waiting + `{"after":{"job":"` + id1 + `","need":2,"parents":[{"id":"` + id2 + `","state":"dead"}]}}` + "\n", "line 3: after.need 2"},
		{head + `{"run":{"job":"` + id1 + `","seq":1}}` + "\n", "line 2: run.job " + id1},
		{head + waiting + `{"run":{"job":"` + id1 + `","seq":2,"verdict":"succeeded"}}` + "\n", "line 3: run.seq 2: it must be 1 to 1"},
		{head + waiting + `{"run":{"job":"` + id1 + `","seq":1,"verdict":"fine"}}` + "\n", "line 3: run.verdict:"},
		{head + waiting + `{"step":{"job":"` + id1 + `"}}` + "\n", "line 3: step.name: it is missing"},
		{head + `{"paused":{"kind":""}}` + "\n", "line 2: paused.kind: it is missing"},
		{head + `{"paused":{"kind":"k"}}` + "\n" + waiting, "line 3: job: it comes after a line of paused"},
		{head + waiting + `{"end":{"rows":{},"sha256":""}}` + "\n", "line 3: end.rows:"},
		{head + `{"end":{"rows":{},"sha256":""}}` + "\n", "line 2: end.sha256:"},
	} {
		for _, read := range []func(string) error{
			func(text string) error { _, err := transfer.Check(strings.NewReader(text)); return err },
			func(text string) error {
				_, err := transfer.Import(t.Context(), memory.New(), strings.NewReader(text), transfer.Options{})
				return err
			},
		} {
			if err := read(test.text); err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, executor.ErrInvalid) {
				t.Errorf("%s: %v, want %q", test.text, err, test.want)
			}
		}
	}
}

// A job that waits for one which is not there is declined.
func TestImportDeclinesALostParent(t *testing.T) {
	from := memory.New()
	jobs := []store.NewJob{{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}, {ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}}
	jobs[1].After = store.After{Parents: []store.ID{jobs[0].ID}, Need: 1}
	must(from.Insert(t.Context(), jobs, store.Placement{}))
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			to := place.open(t)
			_, err := to.(store.Mover).Import(t.Context(), func(yield func(store.Row, error) bool) {
				must(0, from.Export(t.Context(), func(row store.Row) error {
					if row.Job == nil || row.Job.ID != jobs[0].ID {
						yield(row, nil)
					}
					return nil
				}))
			}, false)
			if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), jobs[0].ID.String()) {
				t.Errorf("imported: %v", err)
			}
			if left := rows(t, to, time.Time{}); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A store that can't be moved is declined.
func TestExportNeedsAMover(t *testing.T) {
	s := struct{ store.Store }{memory.New()}
	_, err := transfer.Export(t.Context(), s, new(bytes.Buffer))
	_, err2 := transfer.Import(t.Context(), s, strings.NewReader(head), transfer.Options{})
	for _, err := range []error{err, err2} {
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "store.Mover") {
			t.Errorf("a store that is no Mover: %v", err)
		}
	}
}
