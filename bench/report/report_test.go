package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/executor-go/executor/bench/report"
	"github.com/executor-go/executor/bench/round"
)

// sample returns a small report, in which channel workers are better at execute/2 and one of
// its two targets is missed.
func sample() *report.Report {
	return report.New(round.Samples{
		{Workload: "execute/2", Subject: "pond"}:            {200, 190, 230},
		{Workload: "execute/2", Subject: "executor"}:        {90, 300, 100},
		{Workload: "execute/2", Subject: "channel"}:         {50, 50, 50},
		{Workload: "execute/8", Subject: "executor"}:        {80},
		{Workload: "execute/8", Subject: "channel"}:         {79},
		{Workload: "schedule-cancel", Subject: "executor"}:  {100},
		{Workload: "schedule-cancel", Subject: "jdk"}:       {1500},
		{Workload: "pending-bytes", Subject: "executor"}:    {111},
		{Workload: "allocs-execute", Subject: "executor"}:   {0},
		{Workload: "allocs-execute", Subject: "errgroup"}:   {1},
		{Workload: "schedule-cancel/1k", Subject: "jdk"}:    {90},
		{Workload: "schedule-cancel/10m", Subject: "jdk"}:   {170},
		{Workload: "schedule-cancel/10k", Subject: "cron"}:  {1},
		{Workload: "no such workload", Subject: "executor"}: {1},
	}, report.Setting{
		Date: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Took: time.Minute, Rounds: 3,
		Go: "go1.26", Java: "17.0.1", Commit: "abc+", Versions: map[string]string{"pond": "v2.7.1"},
		Machine: report.Machine{OS: "linux/amd64", CPU: "Some CPU", Cores: 2, Memory: 16},
	})
}

// A record has the median of its samples. The records are in the order of the tables: by
// workload, then by subject.
func TestReportRecords(t *testing.T) {
	var got []string
	for _, rec := range sample().Records[:4] {
		got = append(got, rec.Workload+" "+rec.Subject+" "+rec.Unit)
	}
	want := []string{
		"execute/2 executor ns/task", "execute/2 channel ns/task", "execute/2 pond ns/task",
		"allocs-execute executor allocations/task",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("records are %q, want %q", got, want)
	}
	if v, ok := sample().Value("execute/2", "executor"); !ok || v != 100 {
		t.Errorf("value is %v, %v, want the median, 100", v, ok)
	}
}

// A verdict compares our value with a number or with a multiple of another record, and is
// unknown if a record is missing.
func TestReportVerdicts(t *testing.T) {
	got := map[string]report.Verdict{}
	for _, v := range sample().Verdicts() {
		got[v.Workload+" "+v.Subject] = v
	}
	for _, c := range []struct {
		target         string
		known, reached bool
		found          float64
	}{
		{"execute/2 pond", true, true, 0.5},
		{"execute/2 channel", true, false, 2},
		{"execute/8 pond", false, false, 80},
		{"schedule-cancel jdk", true, true, 100.0 / 1500},
		{"pending-bytes ", true, false, 111},
		{"allocs-execute ", true, true, 0},
	} {
		v, ok := got[c.target]
		if !ok || v.Known != c.known || v.Reached() != c.reached || v.Found != c.found {
			t.Errorf("%s: %+v, reached %v; want %+v", c.target, v, v.Reached(), c)
		}
	}
}

// Losses are the records in which a rival is better by more than noise.
func TestReportLosses(t *testing.T) {
	want := []report.Loss{{Workload: "execute/2", Subject: "channel", Unit: "ns/task", Theirs: 50, Ours: 100}}
	if got := sample().Losses(); !reflect.DeepEqual(got, want) {
		t.Errorf("losses are %+v, want %+v", got, want)
	}
}

// A record close to zero is no loss.
func TestReportLossesIgnoreZero(t *testing.T) {
	r := report.New(round.Samples{
		{Workload: "allocs-execute", Subject: "executor"}: {0.004},
		{Workload: "allocs-execute", Subject: "conc"}:     {0.00001},
	}, report.Setting{})
	if got := r.Losses(); len(got) != 0 {
		t.Errorf("losses are %+v", got)
	}
}

// Jobs in a database are compared with ours in the same database, and our other subjects are
// not rivals.
func TestReportDurableReference(t *testing.T) {
	r := report.New(round.Samples{
		{Workload: "durable-throughput", Subject: "executor-postgres"}:         {40},
		{Workload: "durable-throughput", Subject: "executor-sqlite"}:           {20},
		{Workload: "durable-throughput", Subject: "river"}:                     {100},
		{Workload: "durable-lateness-local-p50", Subject: "executor-postgres"}: {0.5},
		{Workload: "durable-lateness-local-p50", Subject: "executor-sqlite"}:   {0.4},
		{Workload: "durable-lateness-local-p50", Subject: "river"}:             {2000},
		{Workload: "durable-insert", Subject: "executor-postgres"}:             {30},
		{Workload: "durable-insert", Subject: "river"}:                         {20},
	}, report.Setting{Postgres: "15.18"})
	want := []report.Loss{{Workload: "durable-insert", Subject: "river", Unit: "µs/job", Theirs: 20, Ours: 30}}
	if got := r.Losses(); !reflect.DeepEqual(got, want) {
		t.Errorf("losses are %+v, want %+v", got, want)
	}
	page := string(r.Markdown())
	for _, want := range []string{
		"PostgreSQL 15.18",
		"| durable-throughput | µs/job | **40** | 20 (0.50×) | 100 (2.50×) |",
		"| durable-lateness-local-p50 | ms | **0.5** | 0.4 (0.80×) | 2,000 (4,000×) |",
		"| River | `durable-insert` (20 against 30 µs/job) | ",
		"| durable-throughput | at most 1 × River | 0.4 | reached |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// The table of growth has a row for each call, and the ratio of a size to the first of the same subject, if there is one.
func TestReportGrowth(t *testing.T) {
	samples := round.Samples{
		{Workload: "growth-claim/1k", Subject: "executor-sqlite"}:    {10},
		{Workload: "growth-claim/1m", Subject: "executor-sqlite"}:    {15},
		{Workload: "growth-look/1m", Subject: "executor-sqlite"}:     {500},
		{Workload: "steps-all/1k", Subject: "executor-sqlite"}:       {1000},
		{Workload: "steps-all/100k", Subject: "executor-sqlite"}:     {1200},
		{Workload: "waiting-bytes/100k", Subject: "executor-sqlite"}: {2},
	}
	for id, v := range map[string]float64{"growth-insert": 30, "growth-claim": 20, "growth-settle": 40, "growth-look": 400} {
		samples[round.Key{Workload: id + "/1k", Subject: "executor-postgres"}] = []float64{v}
		samples[round.Key{Workload: id + "/1m", Subject: "executor-postgres"}] = []float64{1.5 * v}
	}
	page := string(report.New(samples, report.Setting{}).Markdown())
	for _, want := range []string{
		"## Growth of a database\n\n| workload | unit | executor on PostgreSQL, 1k | executor on PostgreSQL, 1m | " +
			"executor on SQLite, 1k | executor on SQLite, 1m |\n",
		"| growth-claim | µs/job | **20** | 30 (1.50×) | 10 | 15 (1.50×) |\n",
		"| growth-look | µs/look | **400** | 600 (1.50×) |  | 500 |\n",
		"## One job at a time\n\n| workload | unit | executor on SQLite, 1k | executor on SQLite, 100k |\n",
		"| steps-all | µs | **1,000** | 1,200 (1.20×) |\n",
		"| waiting-bytes | bytes/job |  | 2 |\n",
		"| growth-claim/1m | at most 1.25 × our own growth-claim/1k | 1.5 | missed by 20 % |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// The page has the rivals that are better, and the targets that are missed.
func TestReportMarkdown(t *testing.T) {
	page := string(sample().Markdown())
	for _, want := range []string{
		"21 November 2026: Some CPU, 2 cores, 16 GB, linux/amd64,\n" +
			"go1.26, JDK 17.0.1, no PostgreSQL, commit abc+.\n3 rounds",
		"| execute/2 | ns/task | **100 ±52 %** | 50 (0.50×) | ",
		"| schedule-cancel | ns/pair | **100** | 1,500 (15×) |",
		"| channel and workers | `execute/2` (50 against 100 ns/task) | ",
		"| pond | none of these | ",
		"| execute/2 | at most 1.4 × channel and workers | 2 | missed by 43 % |",
		"| pending-bytes | at most 90 | 111 | missed by 23 % |",
		"| missed | why |\n|---|---|\n| `execute/2` | a pool counts, ",
		"| pond v2.7.1 | ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(page, "quick run") {
		t.Error("the page of a full run has the note on quick runs")
	}
}

// Each line of a table of the page has as many cells as its head.
func TestReportMarkdownTables(t *testing.T) {
	cells := 0
	for _, line := range strings.Split(string(sample().Markdown()), "\n") {
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			cells = 0
		case cells == 0:
			cells = n
		case n != cells:
			t.Errorf("%d cells instead of %d in %q", n, cells, line)
		}
	}
}

// Outside of tables the page has a line for each sentence, and no line is longer than 120
// columns.
func TestReportMarkdownLines(t *testing.T) {
	for line := range strings.Lines(string(sample().Markdown())) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "|") {
			continue
		}
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
		if before, _, ok := strings.Cut(line, ". "); ok && !strings.HasPrefix(line, "<!--") {
			t.Errorf("a line with more than the sentence %q", before)
		}
	}
}

// Every chart is well-formed XML, also without records, and refers to no other file.
func TestReportCharts(t *testing.T) {
	for _, r := range []*report.Report{sample(), report.New(nil, report.Setting{})} {
		for name, svg := range r.Charts() {
			d := xml.NewDecoder(bytes.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			text := strings.Replace(string(svg), `xmlns="http://www.w3.org/2000/svg"`, "", 1)
			for _, bad := range []string{"http", "NaN", "Inf", "@font-face", "<script"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s has %q", name, bad)
				}
			}
		}
	}
}

// Load returns what Save wrote, and Render writes the page and the charts.
func TestRepositorySaveAndRender(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "bench", "results"), 0o755); err != nil {
		t.Fatal(err)
	}
	repository, err := report.Locate(root)
	if err != nil {
		t.Fatal(err)
	}
	front := filepath.Join(root, "README.md")
	if err := os.WriteFile(front, []byte("# a\n"+readmeBegin+"old\n"+readmeEnd+"z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sample()
	if err := repository.Save(r); err != nil {
		t.Fatal(err)
	}
	loaded, err := repository.Load()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(loaded, r) {
		t.Errorf("loaded %+v, saved %+v", loaded, r)
	}
	var out strings.Builder
	if err := repository.Render(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "missed by 43 %") {
		t.Errorf("no missed target in the printed report:\n%s", &out)
	}
	for _, name := range []string{"docs/benchmarks.md", "bench/results/overview.svg", "bench/results/pending.svg"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(front)
	if err != nil {
		t.Fatal(err)
	}
	const row = "| memory of a pending task, bytes | 111 |  |\n"
	if !strings.Contains(string(text), row) || strings.Contains(string(text), "old") {
		t.Errorf("README.md is\n%s\nwant one with %q", text, row)
	}
	if !strings.HasPrefix(string(text), "# a\n") || !strings.HasSuffix(string(text), "z\n") {
		t.Errorf("README.md lost the text around the table:\n%s", text)
	}
}

// A README without a place for the table is an error that says what is missing.
func TestReadmeWithoutPlace(t *testing.T) {
	_, err := sample().Readme([]byte("# executor\n"))
	if err == nil || !strings.Contains(err.Error(), "no generated part") {
		t.Errorf("the error is %v", err)
	}
}

const (
	readmeBegin = "<!-- Generated by bench from bench/results/latest.json: -->\n"
	readmeEnd   = "<!-- end of the generated part -->\n"
)
