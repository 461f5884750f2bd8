package anystore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
)

// memories are the stores that a test has, by their names.
type memories map[string]*memory.Store

var errQuiet = errors.New("quiet")

// run runs a command line, and returns what it prints and its error.
func (s memories) run(t *testing.T, line ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := Command(Host{
		Flag: func(cmd *cobra.Command) func(bool) (durable.Store, string, error) {
			name := cmd.Flags().String("store", "a", "")
			return func(create bool) (durable.Store, string, error) {
				if s[*name] == nil && create {
					s[*name] = memory.New()
				}
				if s[*name] == nil {
					return nil, "", errors.New("no store " + *name)
				}
				return s[*name], *name, nil
			}
		},
		Mistake: func(err error) error { return err },
		Quiet:   errQuiet,
		Who:     func() string { return "me" },
	})
	var out, fail bytes.Buffer
	cmd.SetArgs(line)
	cmd.SetOut(&out)
	cmd.SetErr(&fail)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.Execute()
	return out.String(), fail.String(), err
}

// ok is run of what has to succeed.
func (s memories) ok(t *testing.T, line ...string) string {
	t.Helper()
	out, _, err := s.run(t, line...)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return out
}

// fields returns a table with one blank between its cells.
func fields(table string) string { return strings.Join(strings.Fields(table), " ") }

// filled returns the store of a program with mails, of which two are dead, and another job.
func filled(t *testing.T) (memories, []durable.ID) {
	t.Helper()
	s := memory.New()
	var jobs []store.NewJob
	for i, payload := range []string{`{"to": "gopher"}`, "plain text", "\x1f\x8b\x00binary, and more than sixteen bytes"} {
		jobs = append(jobs, store.NewJob{ID: durable.ID{1, 15: byte(i + 1)}, Key: fmt.Sprint("welcome/", i), Kind: "mail", Payload: []byte(payload), Schedule: store.Once,
			Attempts: 1, Tags: []string{fmt.Sprint("n=", i), "team=shop"}})
	}
	jobs = append(jobs, store.NewJob{ID: durable.ID{1, 15: 9}, Kind: "other", Payload: []byte("1"), Schedule: store.Once, Attempts: 1, Delay: time.Hour})
	must(t)(s.Insert(t.Context(), jobs, store.Placement{}))
	must(t)(s.Join(t.Context(), "node", time.Hour))
	c := must(t)(s.Claim(t.Context(), store.ClaimRequest{Node: "node", Limit: 2, Kinds: []store.KindLimit{{Kind: "mail", Max: 2}}})).(store.ClaimResult)
	end := store.CommitRequest{Node: "node", History: 5}
	for _, j := range c.Jobs {
		end.Outcomes = append(end.Outcomes, store.Outcome{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: store.Dead, Due: j.Due, Occurrence: j.Occurrence,
			Error: "connection refused", Run: store.Run{Started: c.Now, Finished: c.Now.Add(time.Second), Verdict: store.RunFailed, Error: "connection refused"}})
	}
	must(t)(s.Commit(t.Context(), end))
	ids := make([]durable.ID, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	return memories{"a": s}, ids
}

func must(t *testing.T) func(v any, err error) any {
	return func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Payloads are shown as JSON or text, if they are such, and without what disturbs a terminal.
func TestShown(t *testing.T) {
	for data, want := range map[string]string{
		"": "none", "{\n \"a\": 1\n}\n": `{"a": 1}`, "plain text": "plain text", "\x00": "1 bytes: 00", "\x1b[31m": "5 bytes: 1b5b33316d",
		strings.Repeat("\xff", 17): "17 bytes: " + strings.Repeat("ff", 16) + "...", "\"\u202e\"": `"\u202e"`,
	} {
		if got := Shown([]byte(data)); got != want {
			t.Errorf("%q is shown as %q, want %q", data, got, want)
		}
	}
}

// The flags choose jobs together.
func TestListFilters(t *testing.T) {
	s, ids := filled(t)
	for _, test := range []struct {
		line string
		want []int
	}{
		{"list", []int{0, 1, 2, 3}}, {"list --kind mail --state dead", []int{0, 1}}, {"list --state waiting", []int{2, 3}},
		{"list --state waiting --state dead --kind mail", []int{0, 1, 2}}, {"list --tag n=2 --tag team=shop", []int{2}},
		{"list --error refused --key welcome/1", []int{1}}, {"list --within 1h --state dead,canceled", []int{0, 1}}, {"list -n 1", []int{3}}, {"list -n 1 --after " + ids[3].String(), []int{2}},
	} {
		out := s.ok(t, strings.Fields(test.line)...)
		for i, id := range ids {
			want := false
			for _, k := range test.want {
				want = want || k == i
			}
			if strings.Contains(out, id.String()) != want {
				t.Errorf("%s: job %d: want %v in\n%s", test.line, i, want, out)
			}
		}
	}
}

// On a terminal of 80 columns the table fits, and no ID is cut.
func TestListFits80Columns(t *testing.T) {
	j := durable.Job{ID: durable.NewID(), Kind: strings.Repeat("kind", 20), State: durable.Succeeded}
	for _, row := range jobRows([]durable.Job{j}, 80)[1:] {
		if text := strings.Join(row, "  "); len([]rune(text)) > 80 || !strings.Contains(text, j.ID.String()) {
			t.Errorf("%d columns: %s", len([]rune(text)), text)
		}
	}
}

// A line of JSON has a payload as what it is.
func TestListJSON(t *testing.T) {
	s, _ := filled(t)
	var got []any
	for in := json.NewDecoder(strings.NewReader(s.ok(t, "list", "--json", "--kind", "mail"))); in.More(); {
		var j struct{ Payload any }
		if err := in.Decode(&j); err != nil {
			t.Fatal(err)
		}
		got = append(got, j.Payload)
	}
	if want := "[map[base64:H4sAYmluYXJ5LCBhbmQgbW9yZSB0aGFuIHNpeHRlZW4gYnl0ZXM=] map[base64:cGxhaW4gdGV4dA==] map[to:gopher]]"; fmt.Sprint(got) != want {
		t.Errorf("payloads %v, want %v", got, want)
	}
}

// A job is found by its key or its ID, with its history.
func TestShowFindsByKeyAndID(t *testing.T) {
	s, ids := filled(t)
	byKey, byID := s.ok(t, "show", "welcome/0"), s.ok(t, "show", ids[0].String())
	if byKey != byID {
		t.Errorf("by key\n%s\nby ID\n%s", byKey, byID)
	}
	for _, want := range []string{"payload    {\"to\": \"gopher\"}", "state      dead", "error      connection refused", "tags       n=0, team=shop", "run        1 "} {
		if !strings.Contains(byKey, want) {
			t.Errorf("%q is not in\n%s", want, byKey)
		}
	}
	if _, _, err := s.run(t, "show", "welcome/9"); err == nil || !strings.Contains(err.Error(), "no job with the ID or key welcome/9") {
		t.Errorf("an unknown job: %v", err)
	}
}

// Jobs that flags choose are counted, and changed only with --yes.
func TestChangeOfChosenNeedsYes(t *testing.T) {
	s, _ := filled(t)
	dead := func() int {
		counts := must(t)(s["a"].Counts(t.Context(), durable.Filter{States: []durable.State{durable.Dead}})).([]durable.Count)
		n := 0
		for _, c := range counts {
			n += c.Jobs
		}
		return n
	}
	chosen := []string{"revive", "--state", "dead", "--error", "refused"}
	if out := s.ok(t, append(chosen, "--dry-run")...); !strings.Contains(fields(out), "mail dead 2 ") || dead() != 2 {
		t.Errorf("--dry-run: %s, and %d are dead", out, dead())
	}
	if _, _, err := s.run(t, chosen...); err == nil || !strings.Contains(err.Error(), "2 jobs") || !strings.Contains(err.Error(), "--yes") || dead() != 2 {
		t.Errorf("without --yes: %v, and %d are dead", err, dead())
	}
	if out := s.ok(t, append(chosen, "--yes", "--reason", "it is back")...); out != "2 applied\n" || dead() != 0 {
		t.Errorf("with --yes: %s, and %d are dead", out, dead())
	}
	acts := must(t)(s["a"].Acts(t.Context(), durable.ActFilter{Limit: 5})).([]durable.Act)
	if len(acts) != 1 || acts[0].Action != "revive jobs" || acts[0].Reason != "it is back" || acts[0].Who != "me" || acts[0].Key != "state dead, error has refused" {
		t.Errorf("acts: %+v", acts)
	}
}

// Each change does to a job that is named what it says.
func TestChangeOfNamed(t *testing.T) {
	for _, test := range []struct{ line, key, want string }{
		{"cancel", "welcome/2", "canceled"}, {"pause", "welcome/2", "paused"}, {"revive", "welcome/0", "waiting"}, {"delete", "welcome/0", ""},
		{"reschedule --to 2h", "welcome/2", "waiting"}, {"reschedule --to 2099-01-01T00:00:00Z", "welcome/2", "waiting"}, {"run-now", "welcome/2", "waiting"},
	} {
		s, _ := filled(t)
		s.ok(t, append(strings.Fields(test.line), test.key)...)
		j, err := s["a"].Find(context.Background(), test.key)
		if test.want == "" && !errors.Is(err, durable.ErrNotFound) || test.want != "" && j.State.String() != test.want {
			t.Errorf("%s: %v, %v", test.line, j.State, err)
		}
		if strings.HasPrefix(test.line, "reschedule") && time.Until(j.Due) < time.Hour {
			t.Errorf("%s: due %v", test.line, j.Due)
		}
	}
	s, _ := filled(t)
	if out, _, err := s.run(t, "cancel", "welcome/0"); !errors.Is(err, errQuiet) || out != "welcome/0: too late: it is dead\n" {
		t.Errorf("cancel of what is dead: %q, %v", out, err)
	}
}

// A change that flags choose jobs for, and that is made to none of them, ends as one of a named job does.
func TestChangeOfChosenThatChangesNone(t *testing.T) {
	s, _ := filled(t)
	for line, want := range map[string]string{
		"resume --key welcome/2 --yes":         "1 too late\n",
		"resume --key nobody --yes":            "",
		"resume --key nobody --yes --reason x": "",
	} {
		if out, _, err := s.run(t, strings.Fields(line)...); !errors.Is(err, errQuiet) || out != want {
			t.Errorf("%s: %q, %v; want %q", line, out, err, want)
		}
	}
	s.ok(t, "resume", "--key", "nobody", "--dry-run")
}

// What is to be from now on is that on the clock of the store.
func TestRescheduleByTheStoresClock(t *testing.T) {
	for _, chosen := range []string{"welcome/2", "--key welcome/2 --yes"} {
		s, _ := filled(t)
		s["a"].Shift(1000 * time.Hour)
		s.ok(t, strings.Fields("reschedule --to 2h "+chosen)...)
		now := must(t)(s["a"].Now(t.Context())).(time.Time)
		if j := must(t)(s["a"].Find(t.Context(), "welcome/2")).(durable.Job); j.Due.Before(now.Add(time.Hour)) || j.Due.After(now.Add(2*time.Hour)) {
			t.Errorf("%s: due %v after now", chosen, j.Due.Sub(now))
		}
	}
}

// A command line that does not say which jobs is a mistake, and changes none.
func TestChangeMistakes(t *testing.T) {
	s, _ := filled(t)
	for line, want := range map[string]string{
		"delete":                        "needs the ID or key",
		"delete --yes":                  "needs the ID or key",
		"delete welcome/0 --kind mail":  "not both",
		"delete welcome/0 --dry-run":    "--dry-run is for",
		"delete --state asleep --yes":   `--state "asleep"`,
		"reschedule welcome/2":          `--to ""`,
		"reschedule welcome/2 --to now": `--to "now"`,
		"list --after x":                "--after x",
		"list -n 0":                     "-n 0",
		"nonsense":                      "unknown command",
		"list x":                        `list takes no arguments, but got "x"`,
		"export x":                      `export takes no arguments, but got "x"`,
		"show":                          "show needs the ID or key of a job, such as: executord store show --store jobs.db",
		"pause-kind":                    "pause-kind needs the name of a kind, such as: executord store pause-kind",
		"undrain":                       "undrain needs the name of a node, such as: executord store undrain",
		"import a b":                    `import takes one file, but got "b" too`,
		"list --store b":                "no store b",
		"move welcome/2":                "move needs --to",
		"move welcome/2 --to \x01":      `queue "\x01"`,

		"reschedule welcome/2 --to 0000-01-01T00:00:00Z":         "in the years 1 to 9999",
		"reschedule welcome/2 --to 0001-01-01T00:00:00Z":         `--to "0001`,
		"reschedule --kind mail --yes --to 0000-01-01T00:00:00Z": "in the years 1 to 9999",
	} {
		if _, _, err := s.run(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if n := len(must(t)(s["a"].List(t.Context(), durable.Filter{})).([]durable.Job)); n != 4 {
		t.Errorf("%d jobs are left", n)
	}
}

// Kinds are paused and resumed, and shown with the counts.
func TestPauseKind(t *testing.T) {
	s, _ := filled(t)
	s.ok(t, "pause-kind", "mail")
	if out := s.ok(t, "counts"); !strings.Contains(fields(out), "mail waiting 1 ") || !strings.Contains(out, "kind is paused") {
		t.Errorf("counts: %s", out)
	}
	s.ok(t, "resume-kind", "mail")
	if out := s.ok(t, "counts"); strings.Contains(out, "paused") {
		t.Errorf("counts: %s", out)
	}
	if out, _, err := s.run(t, "resume-kind", "mail"); !errors.Is(err, errQuiet) || out != "mail: too late: it is not paused\n" {
		t.Errorf("resume-kind of what is not paused: %q, %v", out, err)
	}
	if out := s.ok(t, "pause-kind", "mial"); out != "mial: paused, though no job is of this kind\n" {
		t.Errorf("pause-kind of a kind without jobs: %q", out)
	}
}

// A kind is paused until a time, which the job has that ends the pause. A time that is none, or has passed, is an error.
func TestPauseKindUntil(t *testing.T) {
	s, _ := filled(t)
	s.ok(t, "pause-kind", "mail", "--until", "2099-01-02T03:04:05Z")
	if out := s.ok(t, "list", "--kind", "durable/resume", "--json"); !strings.Contains(out, "2099-01-02T03:04:05Z") {
		t.Errorf("list: %s", out)
	}
	s.ok(t, "pause-kind", "mail", "--until", "90m")
	s.ok(t, "resume-kind", "mail")
	for _, until := range []string{"tomorrow", "-1m", "2001-02-03T04:05:06Z"} {
		if _, _, err := s.run(t, "pause-kind", "mail", "--until", until); err == nil {
			t.Errorf("--until %s: no error", until)
		}
	}
	if out := s.ok(t, "counts"); strings.Contains(out, "paused") {
		t.Errorf("counts: %s", out)
	}
}

// Nodes are shown with what they hold.
func TestNodes(t *testing.T) {
	s, _ := filled(t)
	if out := s.ok(t, "nodes"); !strings.Contains(fields(out), "node - 0 0 ") {
		t.Errorf("nodes: %s", out)
	}
}

// Jobs are moved into queues and out of them, by name or by filter; queues without a node are noted.
func TestMove(t *testing.T) {
	s, ids := filled(t)
	if out := s.ok(t, "move", "--to", "gpu", "welcome/2"); out != "welcome/2: applied, to the queue gpu\n" {
		t.Errorf("move: %s", out)
	}
	if out := s.ok(t, "queues"); !strings.Contains(fields(out), "gpu 1 ") || !strings.Contains(out, "no node serves it") {
		t.Errorf("queues: %s", out)
	}
	if out := s.ok(t, "list", "--queue", "gpu"); !strings.Contains(out, ids[2].String()) || strings.Contains(out, ids[3].String()) {
		t.Errorf("list: %s", out)
	}
	if out := s.ok(t, "show", "welcome/2"); !strings.Contains(out, "queue      gpu\n") {
		t.Errorf("show: %s", out)
	}
	if out := s.ok(t, "move", "--queue", "gpu", "--to", "", "--yes"); out != "1 applied\n" {
		t.Errorf("move back: %s", out)
	}
	if out, _, err := s.run(t, "move", "--to", "gpu", "welcome/0"); !errors.Is(err, errQuiet) || out != "welcome/0: too late: it is dead\n" {
		t.Errorf("move of what is dead: %q, %v", out, err)
	}
	part := store.NewJob{ID: durable.NewID(), Key: "part", Kind: "mail", Payload: []byte("1"), Schedule: store.Once, Attempts: 1, Partition: "ann"}
	must(t)(s["a"].Insert(t.Context(), []store.NewJob{part}, store.Placement{}))
	if out, _, err := s.run(t, "move", "--to", "gpu", "part"); !errors.Is(err, errQuiet) || out != "part: too late: it has the partition ann\n" {
		t.Errorf("move of one with a partition: %q, %v", out, err)
	}
}

// A node is drained by its name, and takes jobs again; one that is not there is a mistake.
func TestDrain(t *testing.T) {
	s, _ := filled(t)
	s.ok(t, "drain", "node", "--reason", "a new disk")
	if out := s.ok(t, "nodes"); !strings.Contains(out, "draining") {
		t.Errorf("nodes: %s", out)
	}
	acts := must(t)(s["a"].Acts(t.Context(), durable.ActFilter{Limit: 5})).([]durable.Act)
	if len(acts) != 1 || acts[0].Action != "drain" || acts[0].Key != "node" || acts[0].Reason != "a new disk" {
		t.Errorf("acts: %+v", acts)
	}
	s.ok(t, "undrain", "node")
	if out := s.ok(t, "nodes"); strings.Contains(out, "draining") {
		t.Errorf("nodes: %s", out)
	}
	if _, _, err := s.run(t, "drain", "nobody"); err == nil || !strings.Contains(err.Error(), "no live node nobody") {
		t.Errorf("drain of no node: %v", err)
	}
}

// What was exported is imported into another store, once; a file that was cut is declined, and so is a store whose node
// is alive.
func TestExportAndImport(t *testing.T) {
	s, _ := filled(t)
	file := filepath.Join(t.TempDir(), "jobs.jsonl")
	if _, _, err := s.run(t, "export"); err == nil || !strings.Contains(err.Error(), "node node is alive") {
		t.Errorf("export with a node: %v", err)
	}
	must(t)(nil, s["a"].Leave(t.Context(), "node"))
	text := s.ok(t, "export")
	write := func(text string) { must(t)(nil, os.WriteFile(file, []byte(text), 0o600)) }
	write(text[:len(text)-1])
	if _, _, err := s.run(t, "import", "--store", "b", file); err == nil || !strings.Contains(err.Error(), "it was cut") {
		t.Errorf("import of a file that was cut: %v", err)
	}
	write(text)
	if out := s.ok(t, "import", "--store", "b", file); out != "imported 4 jobs, 2 runs\n" {
		t.Errorf("import: %s", out)
	}
	if _, _, err := s.run(t, "import", "--store", "b", file); err == nil || !strings.Contains(err.Error(), "b is not empty") {
		t.Errorf("import again: %v", err)
	}
	if a, b := s.ok(t, "list", "--json"), s.ok(t, "list", "--json", "--store", "b"); a != b {
		t.Errorf("the stores differ:\n%s\n%s", a, b)
	}
}
