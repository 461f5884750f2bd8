package web

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// newJob returns a job that waits, with runs of the last minutes: . is ok, x failed.
func newJob(name, runs string) view.Job {
	next := time.Now().Add(time.Hour)
	j := view.Job{Job: name, Schedule: "@hourly", Command: "run " + name, State: catalog.Status{State: catalog.StateWaiting}, Next: &next}
	for i, c := range runs {
		p := view.Past{Run: int64(i + 1), Outcome: outcome.OK, Took: time.Second, Finished: time.Now().Add(-time.Duration(len(runs)-i) * time.Minute)}
		if c == 'x' {
			p.Outcome = outcome.Failed
		}
		j.Past = append(j.Past, p)
		j.Last = &view.Run{Job: name, Run: p.Run, Outcome: p.Outcome, Started: p.Finished.Add(-p.Took), Finished: p.Finished, Took: 1}
	}
	return j
}

// many returns a daemon with many jobs in groups, of which each hundredth fails.
func many(n int) *fake {
	f, run := newFake("backup")
	run.End(nil)
	f.jobs = nil
	for i := range n {
		runs := strings.Repeat(".", 30)
		if i%100 == 99 {
			runs = strings.Repeat(".", 28) + "xx"
		}
		f.jobs = append(f.jobs, newJob(fmt.Sprintf("group%d/job%04d", i%7, i), runs))
	}
	return f
}

var jobRows = regexp.MustCompile(`<tr id="j[^"]*"><th scope="row"><a href="job\?name=([^"]*)"`)

// rowsOf returns the names of the jobs of a list, in its order.
func rowsOf(text string) (names []string) {
	for _, m := range jobRows.FindAllStringSubmatch(text, -1) {
		name, _ := url.QueryUnescape(html.UnescapeString(m[1]))
		names = append(names, name)
	}
	return names
}

// get returns a page.
func get(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := ask(h, "GET", path, nil)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// The first lines say whether all is well, how much has run, what comes next, and which jobs need somebody.
func TestJobsFirstLines(t *testing.T) {
	f := many(3)
	hour := time.Now().Truncate(time.Hour)
	f.day = view.Day{Hours: []view.Hour{{From: hour.Add(-time.Hour), OK: 300}, {From: hour, OK: 7, Failed: 5}}}
	soon := time.Now().Add(90 * time.Second)
	f.jobs[1].Next = &soon
	h := New(Config{Daemon: f, Title: "shop.toml"}).Handler()
	text := get(t, h, "/")
	for _, want := range []string{
		"<h1>All well</h1>", "312 runs in 24 h, 98.3 % ok; next: ", `<bdi>group1/job0001</bdi></a> in` + "\u00a0" + "1.5", "shop.toml",
		`href="runs?from=` + url.QueryEscape(hour.Local().Format(time.RFC3339)), "12 runs, 5 failed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	f.jobs[0] = newJob("report/<daily>", "..xxx")
	f.jobs[2] = newJob("flaky", "x.x.x.")
	text = get(t, New(Config{Daemon: f}).Handler(), "/")
	for _, want := range []string{
		`<h1 class="bad">2 of 3 jobs need you</h1>`, `<a href="run?job=report%2F%3Cdaily%3E&amp;run=5"><bdi>report/&lt;daily&gt;</bdi></a> <span class="soft">3 runs, since `,
		`<bdi>flaky</bdi></a> <span class="soft">3 of the last 6</span>`, "<title>(2 problems)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if got := rowsOf(text); fmt.Sprint(got) != "[report/<daily> flaky group1/job0001]" {
		t.Errorf("the rows are %v", got)
	}
}

// The first line says that there are no jobs, that none has run, or none of late. While the store has not counted the day,
// it says nothing of that.
func TestJobsFirstLineWithoutRuns(t *testing.T) {
	hour := time.Now().Truncate(time.Hour)
	for name, c := range map[string]struct {
		jobs        []view.Job
		since       time.Time
		first, says string
	}{
		"no jobs":  {nil, hour, "<h1>No jobs yet</h1>", `<p id="sum" class="wrap"><span`},
		"new jobs": {[]view.Job{newJob("a", "")}, hour, "<h1>All well</h1>", "No run has ended yet; next: "},
		"seldom":   {[]view.Job{newJob("a", "."), newJob("b", "")}, hour, "<h1>All well</h1>", "No run has ended in 24 h; next: "},
		"counting": {[]view.Job{newJob("a", ".")}, hour.Add(time.Minute), "<h1>All well</h1>", `<p id="sum" class="wrap">next: `},
	} {
		f := many(0)
		f.jobs, f.day = c.jobs, view.Day{Hours: []view.Hour{{From: hour}}, Since: c.since}
		text := get(t, New(Config{Daemon: f}).Handler(), "/")
		if !strings.Contains(text, c.first) || !strings.Contains(text, c.says) {
			t.Errorf("%s: no %s or %s in %s", name, c.first, c.says, text)
		}
	}
}

// A due time that was missed has no run to lead to: its job says why, in the list and on its page. A job that should run by
// now is overdue, and not due in the past.
func TestJobsWithoutRunLeadToNone(t *testing.T) {
	f := many(0)
	due, late := time.Now().Add(-2*time.Hour).Truncate(time.Second), time.Now().Add(-30*time.Minute-time.Second)
	j := newJob("sync", "..")
	missed := view.Run{Job: "sync", Due: due, Started: due, Finished: due, Attempt: 1, Outcome: outcome.Missed, Error: "missed: no <daemon> ran"}
	j.Last, j.Next = &missed, &late
	f.jobs, f.past = []view.Job{j}, []view.Run{missed, missed}
	f.past[1].Due = due.Add(-time.Hour)
	h := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Act: func(context.Context, client.Order) (admin.Answer, error) {
		return admin.Answer{}, errors.New("it is not asked for")
	}}).Handler()
	list := ask(h, "GET", "/", header("Authorization", "Bearer "+token)).Body.String()
	own := ask(h, "GET", "/job?name=sync", header("Authorization", "Bearer "+token)).Body.String()
	for _, text := range []string{list, own} {
		if strings.Contains(text, "run=0") || !strings.Contains(text, "30\u00a0min overdue") || strings.Contains(text, "missed: ") {
			t.Errorf("the page is %s", text)
		}
	}
	if !strings.Contains(list, `<a href="job?name=sync" class="other">! missed</a> 2`) || !strings.Contains(list, "· no &lt;daemon&gt; ran<") {
		t.Errorf("the list is %s", list)
	}
	attention, _, _ := strings.Cut(own[strings.Index(own, `<div id="attention">`):], "</div>")
	for _, want := range []string{"<b>! missed</b> 2\u00a0h\u00a0ago: no &lt;daemon&gt; ran</p>", "No run has ended since. The last good run is", ">Run again…</a>"} {
		if !strings.Contains(attention, want) {
			t.Errorf("no %s in %s", want, attention)
		}
	}
	if strings.Contains(attention, "utput") || strings.Contains(attention, "wrote") {
		t.Errorf("what was not run has output: %s", attention)
	}
	rows := regexp.MustCompile(`<tr id="(r0-\d+)"><th scope="row">–</th><td class="l"><i class="pill other">missed</i>`).FindAllStringSubmatch(own, -1)
	if len(rows) != 2 || rows[0][1] == rows[1][1] {
		t.Errorf("the rows are %q in %s", rows, own)
	}
}

// Of more groups than have a link the number of the others is said.
func TestJobsSayHowManyGroups(t *testing.T) {
	f := many(0)
	for i := range mostGroups + 3 {
		f.jobs = append(f.jobs, newJob(fmt.Sprintf("g%02d/a", i), "."))
	}
	if text := get(t, New(Config{Daemon: f}).Handler(), "/"); !strings.Contains(text, `<span class="soft">and 3 more</span></nav>`) {
		t.Errorf("the page is %s", text)
	}
}

// Each of a thousand jobs is on a page, and those that fail are the first, and named on each page.
func TestJobsHasPages(t *testing.T) {
	h := New(Config{Daemon: many(1000)}).Handler()
	var all []string
	for path := "/"; path != ""; {
		text := get(t, h, path)
		names := rowsOf(text)
		if len(names) == 0 || len(names) > rowsOfPage {
			t.Fatalf("%s has %d jobs", path, len(names))
		}
		all = append(all, names...)
		needing, _, _ := strings.Cut(text[strings.Index(text, `<p id="needing">`):], "</p>")
		if strings.Count(needing, "<a ") != mostNeeding+1 || !strings.Contains(needing, "and 2 more") {
			t.Errorf("%s says of those that fail %s", path, needing)
		}
		next := regexp.MustCompile(`<a href="\./([^"]*)">Next</a>`).FindStringSubmatch(text)
		if path = ""; next != nil {
			path = "/" + html.UnescapeString(next[1])
		}
	}
	for i, name := range all[:12] {
		if fails := strings.HasSuffix(name, "99"); fails != (i < 10) {
			t.Errorf("job %d is %s", i, name)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 1000 {
		t.Errorf("%d jobs are on pages", len(all))
	}
	for _, page := range []string{"99", "9223372036854775807", "99999999999999999999"} {
		if got := rowsOf(get(t, h, "/?page="+page)); len(got) != 100 {
			t.Errorf("on page %s, beyond the last one, are %d jobs", page, len(got))
		}
	}
	if got := rowsOf(get(t, New(Config{Daemon: many(0)}).Handler(), "/?page=9223372036854775807")); len(got) != 0 {
		t.Errorf("without jobs there are %d", len(got))
	}
}

// Jobs are found by a part of the name, a tag, the command or the state, all words of the search; by group; and in an order.
func TestJobsAreFound(t *testing.T) {
	f := many(0)
	for name, runs := range map[string]string{"sync/prices": "..xx", "sync/stock": "....", "backup/files": "x.x.x.", "nightly": ""} {
		f.jobs = append(f.jobs, newJob(name, runs))
	}
	slices.SortFunc(f.jobs, func(a, b view.Job) int { return strings.Compare(a.Job, b.Job) })
	f.jobs[0].Tags = []string{"team=ops", "<disk>"}
	f.jobs[1].State, f.jobs[1].Next = catalog.Status{State: catalog.StatePaused}, nil
	f.jobs[3].Running = &view.Run{Job: "sync/stock", Run: 9, Outcome: outcome.InProgress, Took: 12}
	f.jobs[3].State = catalog.Status{State: catalog.StateRunning}
	h := New(Config{Daemon: f}).Handler()
	for query, want := range map[string]string{
		"":                             "[sync/prices backup/files nightly sync/stock]",
		"find=SYNC":                    "[sync/prices sync/stock]",
		"find=run+night":               "[nightly]",
		"find=ops":                     "[backup/files]",
		"find=%3Cdisk%3E":              "[backup/files]",
		"find=sync+failing":            "[sync/prices]",
		"find=nothing":                 "[]",
		"state=flaky":                  "[backup/files]",
		"state=paused":                 "[nightly]",
		"state=needs+you":              "[sync/prices backup/files]",
		"group=sync":                   "[sync/prices sync/stock]",
		"group=sync&state=running":     "[sync/stock]",
		"sort=name":                    "[backup/files nightly sync/prices sync/stock]",
		"sort=-name":                   "[sync/stock sync/prices nightly backup/files]",
		"sort=-failed":                 "[backup/files sync/prices nightly sync/stock]",
		"sort=next&state=&find=files":  "[backup/files]",
		"sort=hostile&group=&page=-1":  "[sync/prices backup/files nightly sync/stock]",
		"sort=-last&find=files+run+ok": "[]",
	} {
		if got := fmt.Sprint(rowsOf(get(t, h, "/?"+query))); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	text := get(t, h, "/")
	for _, want := range []string{`<a href="./?state=failing" class="bad">1 failing</a>`, `class="other">1 flaky</a>`, `class="held">1 paused</a>`,
		`<bdi>sync</bdi> 2 <span class="bad">✕ 1</span>`, `title="run 9 is running">▶ 12`, `<a href="./?sort=name">Job</a>`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if text := get(t, h, "/?sort=-failed&find=s"); !strings.Contains(text, `aria-sort="descending"><a href="./?find=s&amp;sort=failed">Last 30 runs`) {
		t.Errorf("the head of the column is %s", text)
	}
}

var groupRows = regexp.MustCompile(`<tr (?:id="j[^"]*"><th scope="row"><a href="job\?name=([^"]*)"|class="group" id="gj[^"]*"><th colspan="5" scope="rowgroup"><a href="\./\?[^"]*group=[^"]*"><bdi>([^<]*)</bdi></a> (.*?)</th>)`)

// A group has a line above its jobs, with how many there are and how many need somebody, who are on top of the list. There
// is none where the rows have another order, or are of one group.
func TestJobsByGroup(t *testing.T) {
	f, run := newFake("backup")
	run.End(nil)
	f.jobs = []view.Job{newJob("b/1", "."), newJob("b/2", "x"), newJob("b/3", "."), newJob("a/1", "."), newJob("nightly", "."), newJob("z", ".")}
	h := New(Config{Daemon: f}).Handler()
	for query, want := range map[string]string{
		"":              "b/2 nightly z [a 1] a/1 [b 3 ✕ 1] b/1 b/3",
		"find=b":        "b/2 [b 3 ✕ 1] b/1 b/3",
		"sort=name":     "a/1 b/1 b/2 b/3 nightly z",
		"group=b":       "b/2 b/1 b/3",
		"state=failing": "b/2",
	} {
		var rows []string
		for _, m := range groupRows.FindAllStringSubmatch(get(t, h, "/?"+query), -1) {
			if name, _ := url.QueryUnescape(m[1]); name != "" {
				rows = append(rows, name)
			} else {
				rows = append(rows, "["+m[2]+" "+regexp.MustCompile("<[^>]*>").ReplaceAllString(m[3], "")+"]")
			}
		}
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// Rows stay where they are while a page is open, whatever becomes of the jobs; a page that is loaded is sorted anew.
func TestJobsStandStill(t *testing.T) {
	f := many(250)
	h := New(Config{Daemon: f}).Handler()
	text := get(t, h, "/")
	before := rowsOf(text)
	still := regexp.MustCompile(`data-still="([^"]+)"`).FindStringSubmatch(text)[1]
	for i := range f.jobs {
		if i%3 == 1 {
			f.jobs[i] = newJob(f.jobs[i].Job, "..xxx")
		}
	}
	f.jobs = slices.DeleteFunc(f.jobs, func(j view.Job) bool { return j.Job == before[50] })
	update := func(h http.Handler) string { return get(t, h, "/?still="+still) } // as the stream asks
	text = update(h)
	if got, want := rowsOf(text), slices.Delete(slices.Clone(before), 50, 51); !slices.Equal(got, want) {
		t.Errorf("the rows are %v,\nwant %v", got, want)
	}
	if !strings.Contains(text, ">Sort again</a>") || !strings.Contains(text, `data-still="`+still+`"`) {
		t.Errorf("there is no link to sort again, or another order: %s", text)
	}
	if got := rowsOf(get(t, h, "/?page=1")); slices.Equal(got, before) || len(got) != rowsOfPage {
		t.Errorf("a new page has %v", got)
	}
	restarted := New(Config{Daemon: f}).Handler()
	first := rowsOf(update(restarted))
	f.jobs[2] = newJob(f.jobs[2].Job, "..xxx")
	if got := rowsOf(update(restarted)); len(first) != rowsOfPage || !slices.Equal(got, first) {
		t.Errorf("after a restart the rows are %v and %v", first, got)
	}
}

// Orders are forgotten that nobody asks for.
func TestOrdersAreFew(t *testing.T) {
	var o orders
	_, kept := o.keep("", []string{"a"})
	for i := range 10 * mostOrders {
		o.keep("", nil)
		if names, _ := o.keep(kept, []string{"b"}); names[0] != "a" {
			t.Fatalf("after %d others an order that is used is forgotten", i)
		}
	}
	if _, id := o.keep(strings.Repeat("x", 1000), nil); len(id) > longestOrder || len(o.latest) > mostOrders {
		t.Errorf("%d orders, one with a name of %d bytes", len(o.latest), len(id))
	}
}

// In the row of a job is why it fails, the last line that it wrote included, and its runs are links.
func TestJobsSayWhy(t *testing.T) {
	f := many(0)
	for name, runs := range map[string]string{"sync": ".x", "mail": ".."} {
		j := newJob(name, runs)
		j.Last.Error, j.Last.Stderr = "exit status 1", []string{"connecting", "no <space> on " + name}
		f.jobs = append(f.jobs, j)
	}
	text := get(t, New(Config{Daemon: f}).Handler(), "/")
	if !strings.Contains(text, "exit status 1: no &lt;space&gt; on sync") || strings.Contains(text, "on mail") ||
		!strings.Contains(text, `<a href="run?job=sync&amp;run=2" tabindex="-1" class="b20 bad" title="run 2: failed after 1`) {
		t.Errorf("the page is %s", text)
	}
}

// Rows of the list of all runs lead to the run, and the name of a job stands for its runs that are kept.
func TestRunsLeadToRun(t *testing.T) {
	f := many(1)
	f.jobs[0].Runs = MostRuns + 7
	name := f.jobs[0].Job
	s := New(Config{Daemon: f, Namespace: "n"})
	key := catalog.Key("n", name)
	for key, want := range map[string][2]string{
		durable.RunKey(key, 12): {name + "#12", "run?job=" + url.QueryEscape(name) + "&run=12"}, key: {name, "job?name=" + url.QueryEscape(name)},
	} {
		if name, path := s.linkOf(key); name != want[0] || path != want[1] {
			t.Errorf("%s: %s at %s, want %v", key, name, path, want)
		}
	}
	keys, err := s.keysOf(t.Context(), name)
	if err != nil || len(keys) != MostRuns+1 || keys[0] != key || keys[1] != durable.RunKey(key, MostRuns+7) || keys[MostRuns] != durable.RunKey(key, 8) {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if keys, err := s.keysOf(t.Context(), "none"); err != nil || len(keys) > 0 {
		t.Errorf("a job that does not exist has the keys %v, %v", keys, err)
	}
}

// A page about a thousand jobs, each with 30 runs.
func BenchmarkJobs(b *testing.B) {
	h := New(Config{Daemon: many(1000)}).Handler()
	n := 0
	for i := range b.N {
		n = ask(h, "GET", fmt.Sprint("/?n=", i), nil).Body.Len() // each is another page for the cache
	}
	b.ReportMetric(float64(n), "B/page")
}
