package ui_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

var (
	jobLink  = regexp.MustCompile(`href="job\?id=([0-9a-f-]{36})"`)
	nextLink = regexp.MustCompile(`href="(jobs\?[^"]*)">Next 50`)
)

// The pages of a list have each job once, the latest first.
func TestJobsPages(t *testing.T) {
	jobs := newJobs(t, nil)
	want := make(map[string]bool)
	for range 120 {
		want[addJob(t, jobs, "mail", time.Hour).String()] = true
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	var sizes []int
	var order []string
	for target := "jobs"; target != ""; {
		page := get(t, u, "/"+target)
		found := jobLink.FindAllStringSubmatch(page, -1)
		sizes = append(sizes, len(found))
		for _, m := range found {
			if !want[m[1]] {
				t.Errorf("%s has job %s, which is not there or was on a page before", target, m[1])
			}
			delete(want, m[1])
			order = append(order, m[1]) // an ID begins with the time at which the job was added
		}
		target = ""
		if m := nextLink.FindStringSubmatch(page); m != nil {
			target = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(want) > 0 || !slices.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("pages have %d jobs, and %d are missing", sizes, len(want))
	}
	if slices.Reverse(order); !slices.IsSorted(order) {
		t.Error("the latest jobs do not come first")
	}
}

func TestJobsFilter(t *testing.T) {
	jobs := newJobs(t, nil)
	addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/1"))
	dropped := addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/2"))
	addJob(t, jobs, "report", time.Hour, durable.Key("nightly"))
	if a, err := jobs.Cancel(t.Context(), dropped); a != durable.Applied || err != nil {
		t.Fatal(a, err)
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	for query, want := range map[string]int{
		"": 3, "?state=waiting": 2, "?state=canceled": 1, "?state=dead": 0, "?kind=mail": 2, "?kind=mail&state=waiting": 1,
		"?q=welcome": 2, "?q=night": 1, "?q=wel&kind=report": 0,
	} {
		if n := len(jobLink.FindAllString(get(t, u, "/jobs"+query), -1)); n != want {
			t.Errorf("jobs%s has %d jobs, want %d", query, n, want)
		}
	}
	w := ask(u, http.MethodGet, "/jobs?q="+dropped.String(), nil)
	if w.Code != http.StatusSeeOther || !strings.HasSuffix(w.Header().Get("Location"), "job?id="+dropped.String()) {
		t.Errorf("the search for an ID leads to %d %s", w.Code, w.Header().Get("Location"))
	}
}

var searchBox = regexp.MustCompile(`<input type="search" name="q" id="q" value="([^"]*)"`)

// One box has all that is asked for of a list, whichever link led to it. The address keeps it, on further pages and tabs,
// too; a state that is typed counts more than the tab.
func TestJobsAreSearchedInOneBox(t *testing.T) {
	jobs := newJobs(t, nil)
	for i := range 60 {
		addJob(t, jobs, "mail", time.Hour, durable.Key(fmt.Sprint("night & day/", i)), durable.WithTags("shop=eu", "big one"))
	}
	addJob(t, jobs, "mail", time.Hour, durable.Key("kind:odd"))
	addJob(t, jobs, "report", time.Hour, durable.WithTags("shop=eu"))
	u, _ := newActor(t, nil, jobs)
	for query, want := range map[string]struct {
		jobs int
		box  string
	}{
		"q=kind:report+tag:shop%3Deu+changed:1h":              {1, "kind:report tag:shop=eu changed:1h"},
		"kind=report&tag=shop%3Deu&within=1h":                 {1, "kind:report tag:shop=eu changed:1h"},
		"q=+night+%26+day/+tag:%22big+one%22":                 {50, `"night & day/" tag:"big one"`},
		"q=night&key=none&kind=mail":                          {50, "night kind:mail"},
		"q=%22kind:odd%22":                                    {1, `"kind:odd"`},
		"key=kind:odd":                                        {1, `"kind:odd"`},
		"q=state:waiting+kind:report&state=dead":              {1, "kind:report"},
		"q=state:dead&state=waiting":                          {0, ""},
		"q=error:%22%3Cscript%3Ealert(1)%3C/script%3E+%22%22": {-1, ""},
		"q=tag:":          {-1, ""},
		"q=kind:a+kind:b": {-1, ""},
		"q=error:%22%3Cb%3E%1b[1m%E2%80%AE+%22%22x%22+%3Ci%3E%00": {0, "<i>\x00 error:\"<b>\x1b[1m\u202e \"\"x\""},
	} {
		w := ask(u, http.MethodGet, "/jobs?"+query, nil)
		page := w.Body.String()
		for _, bad := range []string{"<script>alert", "<b>\x1b", "<i>\x00"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q is no text: %s", query, bad, page)
			}
		}
		if want.jobs < 0 {
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s: %d", query, w.Code)
			}
			continue
		}
		m := searchBox.FindStringSubmatch(page)
		if n := len(jobLink.FindAllString(page, -1)); w.Code != http.StatusOK || n != want.jobs || m == nil || html.UnescapeString(m[1]) != strings.ReplaceAll(want.box, "\x00", "\ufffd") {
			t.Errorf("%s: %d with %d jobs and %q in the box, want %+v", query, w.Code, n, m, want)
			continue
		}
		for _, link := range append(regexp.MustCompile(`href="(jobs\?[^"]*)"`).FindAllStringSubmatch(page, -1), []string{"", "jobs?q=" + url.QueryEscape(html.UnescapeString(m[1]))}) {
			if w := ask(u, http.MethodGet, "/"+html.UnescapeString(link[1]), nil); w.Code != http.StatusOK || searchBox.FindStringSubmatch(w.Body.String())[1] != m[1] {
				t.Errorf("%s: the box is lost behind %s: %d %s", query, link[1], w.Code, w.Body)
			}
		}
	}
	if page := get(t, u, "/jobs"); !strings.Contains(page, `<option value="kind:report">`) {
		t.Errorf("no kinds are offered: %s", page)
	}
}

func TestJobPayloads(t *testing.T) {
	jobs := newJobs(t, nil)
	path := "/job?id=" + addJob(t, jobs, "mail", time.Hour).String()
	page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), path)
	if strings.Contains(page, "secret payload") || !strings.Contains(page, "are hidden") {
		t.Errorf("by default: %s", page)
	}
	page = get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: true}), path)
	if !strings.Contains(page, "secret payload") {
		t.Errorf("with Payloads: %s", page)
	}
}

// A job without a key is named by its kind and the begin of its payload, if payloads may be shown, whatever is in it.
func TestJobsWithoutKey(t *testing.T) {
	jobs := newJobs(t, nil)
	for _, payload := range []string{"<b>\u202e\x1b[1m" + strings.Repeat("é", 1000), ""} {
		if _, err := durable.KindOf[string, string](jobs, "mail").AddAfter(t.Context(), time.Hour, payload); err != nil {
			t.Fatal(err)
		}
	}
	names := func(payloads bool) (all []string) {
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: payloads})
		for _, m := range regexp.MustCompile(`<th scope="row">.*?<bdi>(.*?)</bdi>`).FindAllStringSubmatch(get(t, u, "/jobs"), -1) {
			all = append(all, html.UnescapeString(m[1]))
		}
		slices.Sort(all)
		return all
	}
	own := func(payloads bool) (all []string) {
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: payloads})
		for _, m := range jobLink.FindAllStringSubmatch(get(t, u, "/jobs"), -1) {
			name := regexp.MustCompile(`<h1><bdi>(.*?)</bdi></h1>`).FindStringSubmatch(get(t, u, "/job?id="+m[1]))
			all = append(all, html.UnescapeString(name[1]))
		}
		slices.Sort(all)
		return all
	}
	for _, payloads := range []bool{false, true} {
		if list, pages := names(payloads), own(payloads); !slices.Equal(list, pages) {
			t.Errorf("the list has %q, and the pages of the jobs %q", list, pages)
		}
	}
	if all := names(false); len(all) != 2 || !strings.HasPrefix(all[0], "mail …") || !strings.HasPrefix(all[1], "mail …") {
		t.Errorf("without payloads %q", all)
	}
	all := names(true)
	if len(all) != 2 || all[0] != `mail ""` || !strings.HasPrefix(all[1], `mail "\u003cb\u003e`) || !strings.HasSuffix(all[1], "é…") ||
		strings.ContainsAny(all[1], "\u202e\x1b") {
		t.Errorf("with payloads %q", all)
	}
}

// However many pages are open, the store is asked for a view once in two seconds.
func TestJobsAreReadSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		jobs := newJobs(t, &calls)
		addJob(t, jobs, "mail", time.Hour)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		get(t, u, "/jobs")
		before := calls.Load()
		for range 10 * 20 {
			get(t, u, "/jobs")
			time.Sleep(100 * time.Millisecond)
		}
		// The counts and the list; for the title the nodes, the kinds that are paused and the runs that failed; and for the
		// chart what ended in this hour.
		if n := calls.Load() - before; n < 10 || n > 20+2*5 {
			t.Errorf("the store was called %d times in 20 s for 200 pages; want twice in 2 s, and five times in 10 s", n)
		}
	})
}

// What a request reads that is given up before it begins is no view of others: they get the jobs, and no error.
func TestRequestThatIsGivenUp(t *testing.T) {
	for range 20 { // a read may begin all the same
		synctest.Test(t, func(t *testing.T) {
			jobs := newJobs(t, nil)
			id := addJob(t, jobs, "mail", time.Hour, durable.Key("the key"))
			u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
			path := "/job?id=" + id.String()
			get(t, u, path)
			time.Sleep(5 * time.Second) // so that it is read again
			ask(u, http.MethodGet, path, func(r *http.Request) {
				ctx, cancel := context.WithCancel(r.Context())
				cancel()
				*r = *r.WithContext(ctx)
			})
			if page := get(t, u, path); !strings.Contains(page, "the key") || strings.Contains(page, `role="alert"`) {
				t.Errorf("another request gets %s", page)
			}
		})
	}
}

func TestSchedulesHaveJobs(t *testing.T) {
	jobs := newJobs(t, nil)
	kind := durable.KindOf[string, string](jobs, "report")
	for i := range 3 {
		if _, err := kind.AtFixedRate(t.Context(), fmt.Sprint("report ", i), time.Hour, 2*time.Hour, ""); err != nil {
			t.Fatal(err)
		}
	}
	addJob(t, jobs, "mail", time.Hour)
	page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), "/schedules")
	if n := strings.Count(page, "every 2h<"); n != 3 {
		t.Errorf("there are %d schedules, want 3: %s", n, page)
	}
	// 12 times in a day, two hours or 29 units of the axis apart.
	if n := strings.Count(page, `stroke-dasharray="2 27.`); n != 3 {
		t.Errorf("there are %d lanes with marks for two hours, want 3: %s", n, page)
	}
	if strings.Contains(page, "mail") {
		t.Error("a job that runs once is among the schedules")
	}
}

// Of many schedules, the timeline shows those that fail at first, and folds most others. It is whole with few.
func TestSchedulesFoldLanes(t *testing.T) {
	for all, shown := range map[int]int{18: 18, 50: 12} {
		synctest.Test(t, func(t *testing.T) {
			jobs, start := newNode(t)
			kind := durable.Handle(jobs, "report", func(_ context.Context, fails bool) (string, error) {
				if fails {
					return "", executor.Permanent(errors.New("no paper"))
				}
				return "", nil
			})
			for i := range all {
				fails := i == all-1 // it is the last to be due again
				if _, err := kind.AtFixedRate(t.Context(), fmt.Sprint("report ", i), 0, time.Duration(i+1)*time.Hour, fails); err != nil {
					t.Fatal(err)
				}
			}
			start()
			page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), "/schedules")
			first, rest, folded := strings.Cut(page, `<details id="others"><summary>Show all 50</summary>`)
			if folded != (all > shown) {
				t.Fatalf("%d schedules are folded: %v", all, folded)
			}
			lanes := regexp.MustCompile(`>report \d+</text>`)
			if n, m := len(lanes.FindAllString(first, -1)), len(lanes.FindAllString(rest, -1)); n != shown || m != all-shown {
				t.Errorf("of %d schedules, %d are shown, and %d are folded", all, n, m)
			}
			if name := fmt.Sprintf(">report %d</text>", all-1); lanes.FindString(first) != name {
				t.Errorf("the first lane is %s, and the one that fails is %s", lanes.FindString(first), name)
			}
			if n := len(regexp.MustCompile(`<a href="job\?id=[^"]*"><text[^>]*>report \d+</text></a>`).FindAllString(page, -1)); n != all {
				t.Errorf("of %d names %d lead to their jobs", all, n)
			}
		})
	}
}

// Names that differ at their ends are told apart beside the timeline.
func TestSchedulesNamesKeepEnds(t *testing.T) {
	jobs := newJobs(t, nil)
	kind := durable.KindOf[string, string](jobs, "report")
	if _, err := kind.AtFixedRate(t.Context(), "search/reindex-shard-07", time.Hour, time.Hour, ""); err != nil {
		t.Fatal(err)
	}
	if page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), "/schedules"); !strings.Contains(page, ">search/re…shard-07</text>") {
		t.Error(page)
	}
}

// newNode returns jobs, and a function that has a node run what is due, until the test ends.
func newNode(t *testing.T) (jobs *durable.Jobs, start func()) {
	t.Helper()
	jobs = newJobs(t, nil)
	return jobs, func() {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		time.Sleep(3 * time.Second)
		synctest.Wait()
	}
}

var oldRuns = regexp.MustCompile(`href="(runs\?[^"]*)">Next 50`)

// The pages of the latest runs have each run once, and those of a verdict alone if asked.
func TestRunsPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "mail", func(_ context.Context, n int) (string, error) {
			if n%2 == 1 {
				return "", executor.Permanent(fmt.Errorf("mailbox %d is full", n))
			}
			return "", nil
		})
		for n := range 120 {
			opts := []durable.Option{durable.Key(fmt.Sprintf("mail-%d.", n))}
			if n%2 == 1 {
				opts = append(opts, durable.WithTags("odd"))
			}
			if _, err := kind.Add(t.Context(), n, opts...); err != nil {
				t.Fatal(err)
			}
		}
		start()
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		now := time.Now().UTC()
		span := func(from, until time.Duration) string {
			return url.Values{"from": {now.Add(from).Format(time.RFC3339)}, "until": {now.Add(until).Format(time.RFC3339)}}.Encode()
		}
		for query, want := range map[string]int{
			"": 120, "?state=failed": 60, "?state=lost": 0, "?kind=mail": 120, "?kind=none": 0, "?state=running": 0,
			"?job=mail-7.": 1, "?job=mail-7.&state=succeeded": 0, "?job=none": 0, "?tag=odd": 60, "?tag=odd&state=succeeded": 0, "?tag=none": 0,
			"?" + span(-time.Hour, time.Hour): 120, "?state=failed&" + span(-time.Hour, time.Hour): 60, "?" + span(time.Minute, time.Hour): 0,
			"?" + span(-time.Hour, -time.Minute):        0,
			"?day=" + now.Local().Format(time.DateOnly): 120, "?day=1999-01-01": 0,
		} {
			seen := make(map[string]bool)
			for target := "runs" + query; target != ""; {
				page := get(t, u, "/"+target)
				for _, name := range regexp.MustCompile(`<bdi>mail-\d+\.`).FindAllString(page, -1) {
					if seen[name] {
						t.Errorf("%s has the run of %s twice", target, name)
					}
					seen[name] = true
				}
				target = ""
				if m := oldRuns.FindStringSubmatch(page); m != nil {
					target = html.UnescapeString(m[1])
				}
			}
			if len(seen) != want {
				t.Errorf("runs%s has %d runs, want %d", query, len(seen), want)
			}
		}
	})
}

// The timeline has the runs of a schedule that are jobs of their own.
func TestTimelineHasRunsOfSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		n := 0
		kind := durable.Handle(jobs, "mail", func(context.Context, string) (string, error) {
			if n++; n == 3 {
				return "", executor.Permanent(errors.New("no"))
			}
			return "", nil
		})
		if _, err := kind.AtFixedRate(t.Context(), "s", 0, 10*time.Minute, "", durable.OnOverlap(durable.OverlapSkip())); err != nil {
			t.Fatal(err)
		}
		start()
		time.Sleep(time.Hour)
		own := ui.Source{Jobs: jobs, Outcomes: tabs("all"), Outcome: func(r durable.Run) (string, durable.Verdict) {
			if strings.HasPrefix(r.Label, "run ") { // it is that of the schedule
				return "", r.Verdict
			}
			return r.Verdict.String(), r.Verdict
		}}
		text := get(t, newUI(t, ui.Config{Jobs: []ui.Source{own}}), "/schedules")
		for _, want := range []string{`class="ok" d=`, `class="failed" d=`} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in %s", want, text)
			}
		}
	})
}

// The runs in progress are a tab of their own. Runs that are not shown, or are on another tab, take no places on a page.
func TestRunsOfTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "mail", func(ctx context.Context, n int) (string, error) {
			if n < 0 {
				time.Sleep(time.Hour)
			}
			durable.SetLabel(ctx, map[bool]string{true: "off"}[n%3 != 0])
			return "", nil
		})
		for n := range 180 {
			if _, err := kind.Add(t.Context(), n, durable.Key(fmt.Sprintf("mail-%d.", n))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := kind.Add(t.Context(), -1, durable.Key("<slow>"), durable.WithTags("odd")); err != nil {
			t.Fatal(err)
		}
		start()
		time.Sleep(time.Minute)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: []ui.OutcomeTab{
			{Name: "fine", Verdicts: store.Verdicts(), Like: []durable.Verdict{durable.RunSucceeded}},
			{Name: "declined", Verdicts: store.Verdicts(), Like: []durable.Verdict{durable.RunCanceled}},
		}, Keys: func(_ context.Context, name string) ([]string, error) {
			if name == "three" {
				return []string{"mail-0.", "mail-1.", "mail-3."}, nil
			}
			return nil, nil
		}}}})
		for query, want := range map[string]int{"": 50, "state=fine": 50, "state=declined": 0, "job=three": 2, "job=none": 0, "state=running": 1,
			"state=running&tag=odd": 1, "state=running&tag=even": 0, "state=running&job=three": 0, "state=running&q=nobody": 0} {
			text := get(t, u, "/runs?"+query)
			if n := strings.Count(text, `<i class="pill`); n != want || oldRuns.MatchString(text) != (want == 50) {
				t.Errorf("%s: %d runs, want %d: %s", query, n, want, text)
			}
		}
		if text := get(t, u, "/runs?state=running"); !strings.Contains(text, "<bdi>&lt;slow&gt;</bdi>") || !strings.Contains(text, `<i class="pill busy">running</i>`) {
			t.Errorf("the run in progress is shown as %s", text)
		}
		for _, query := range []string{"day=today", "from=1", "until=2026-13-01T00:00:00Z", "job=" + strings.Repeat("x", 2000)} {
			if w := ask(u, http.MethodGet, "/runs?"+query, nil); w.Code != http.StatusBadRequest {
				t.Errorf("%s: %d", query, w.Code)
			}
		}
	})
}

// ownOutcome has the words of a program for outcomes, by the labels of runs.
func ownOutcome(r durable.Run) (string, durable.Verdict) {
	switch {
	case r.Label == "off":
		return "", r.Verdict
	case r.Label == "declined":
		return "<i>declined</i>", durable.RunCanceled
	case r.Verdict == durable.RunSucceeded:
		return "fine", r.Verdict
	}
	return "broken", r.Verdict
}

// tabs returns a tab with each name, with all runs.
func tabs(names ...string) (all []ui.OutcomeTab) {
	for _, name := range names {
		all = append(all, ui.OutcomeTab{Name: name, Verdicts: store.Verdicts()})
	}
	return all
}

// labeled has a node run a job with a label that each run takes from labels, and fail unless that is "".
func labeled(t *testing.T, labels ...string) (jobs *durable.Jobs, id durable.ID) {
	t.Helper()
	jobs, start := newNode(t)
	n := 0
	kind := durable.Handle(jobs, "loan", func(ctx context.Context, _ int) (int, error) {
		label := labels[min(n, len(labels)-1)]
		n++
		durable.SetLabel(ctx, label)
		if label != "" {
			return 0, executor.Permanent(errors.New("no"))
		}
		return 0, nil
	})
	id, err := kind.AtFixedRate(t.Context(), "hourly", 0, time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	start()
	time.Sleep(time.Duration(len(labels)-1) * time.Hour)
	synctest.Wait()
	return jobs, id
}

// A program's own word for an outcome stands, with the sign of the verdict that it is like, wherever pages have that
// outcome: in the lists of runs, above the bars, as the title of the error and beside the schedule.
func TestOutcomeIsOneWordOnAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, id := labeled(t, "", "worse", "declined")
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: []ui.OutcomeTab{
			{Name: "fine", Verdicts: []durable.Verdict{durable.RunSucceeded}},
			{Name: "not fine", Verdicts: []durable.Verdict{durable.RunFailed, durable.RunLost}},
		}}}})
		const declined = "&lt;i&gt;declined&lt;/i&gt;"
		pills := []string{`<i class="pill good">fine</i>`, `<i class="pill bad">broken</i>`, `<i class="pill other">` + declined + `</i>`}
		for path, wants := range map[string][]string{
			"/runs": append(pills, `<a href="runs?state=fine">fine</a>`, `<a href="runs?state=not&#43;fine">not fine</a>`),
			"/job?id=" + id.String(): append(pills, `title="run 1: fine"`, `title="run 3: `+declined+`"`,
				"<h2>Last run: "+declined+"</h2>"),
			"/schedules": {pills[2], `class="ok" d=`, `class="failed" d=`, `class="other" d=`},
		} {
			page := get(t, u, path)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					t.Errorf("%s has no %s: %s", path, want, page)
				}
			}
			for _, word := range store.Verdicts()[:2] { // one of each was recorded
				if strings.Contains(page, ">"+word.String()+"<") {
					t.Errorf("%s has the word %s of the store: %s", path, word, page)
				}
			}
		}
		for path, want := range map[string]int{"/runs?state=fine": 1, "/runs?state=not+fine": 2} {
			if page := get(t, u, path); strings.Count(page, `<i class="pill`) != want {
				t.Errorf("%s does not have %d runs: %s", path, want, page)
			}
		}
		for _, path := range []string{"/runs?state=failed", "/events?view=runs&state=failed"} {
			if w := ask(u, http.MethodGet, path, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "one of running, fine, not fine") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}

// How long a run took is what the program says, wherever pages have it: in the lists of runs, above the bars, and beside
// the schedule. Of a run that never began it is not asked.
func TestTookIsOneDurationOnAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, id := labeled(t, "", "worse", "declined")
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Took: func(r durable.Run) time.Duration {
			if r.Started.IsZero() {
				t.Errorf("asked of %+v", r)
			}
			return 1234 * time.Second
		}}}})
		const took = "21\u00a0min"
		for path, want := range map[string]int{"/runs": 3, "/job?id=" + id.String(): 3 + 3 + 1, "/schedules": 1} {
			if page := get(t, u, path); strings.Count(page, took) != want {
				t.Errorf("%s has %s %d times, want %d: %s", path, took, strings.Count(page, took), want, page)
			}
		}
	})
}

// A run with the outcome "" is on no page, is no last run, and leaves no time missed.
func TestOutcomeHidesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, id := labeled(t, "", "off", "off")
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Outcome: ownOutcome, Outcomes: tabs("a")}}})
		for path, want := range map[string]int{"/runs": 1, "/job?id=" + id.String(): 1} {
			if page := get(t, u, path); strings.Count(page, `<i class="pill`) != want {
				t.Errorf("%s has not %d runs: %s", path, want, page)
			}
		}
		page := get(t, u, "/schedules")
		for _, class := range []string{"failed", "other", "miss"} {
			if strings.Contains(page, `class="`+class+`" d=`) {
				t.Errorf("a mark of the timeline is %s: %s", class, page)
			}
		}
		if page := get(t, u, "/"); !strings.Contains(page, "Nothing needs attention") {
			t.Errorf("the overview is %s", page)
		}
	})
}

// Dead jobs are grouped by their errors, and a group is revived after a confirmation that has all of its jobs.
func TestDeadGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		broken := true
		kind := durable.Handle(jobs, "mail", func(_ context.Context, n int) (string, error) {
			if broken {
				return "", executor.Permanent(fmt.Errorf("<b>mailbox</b> %d is full", n))
			}
			return "", nil
		})
		for n := range 70 {
			if _, err := kind.Add(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		start()
		broken = false
		u, log := newActor(t, nil, jobs)
		if page := get(t, u, "/"); !strings.Contains(page, "dead jobs: 70") {
			t.Errorf("the overview does not have the dead jobs: %s", page)
		}
		page := get(t, u, "/dead")
		m := regexp.MustCompile(`href="(act\?do=revive[^"]*)"`).FindAllStringSubmatch(page, -1)
		if len(m) != 1 || !strings.Contains(page, "&lt;b&gt;mailbox&lt;/b&gt; # is full") {
			t.Fatalf("want one group: %s", page)
		}
		confirm := get(t, u, "/"+html.UnescapeString(m[0][1]))
		form := url.Values{"do": {"revive"}, "reason": {"fixed"}}
		for _, id := range regexp.MustCompile(`name="id" value="([^"]*)"`).FindAllStringSubmatch(confirm, -1) {
			form.Add("id", id[1])
		}
		if n := len(form["id"]); n != 70 || !strings.Contains(confirm, "Revive: 70 jobs") {
			t.Fatalf("the confirmation has %d jobs: %s", n, confirm)
		}
		if n := strings.Count(answered(t, u, form), "applied"); n != 70 || strings.Count(log.String(), "answer=applied") != 70 {
			t.Errorf("%d answers are applied, want 70", n)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if page := get(t, u, "/dead"); !strings.Contains(page, "No job is dead") {
			t.Errorf("afterwards: %s", page)
		}
	})
}

// The page of a job that runs has its progress, with when it will have ended, and what it writes.
func TestJobShowsProgressAndOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "report", func(ctx context.Context, _ string) (string, error) {
			fmt.Fprint(durable.Output(ctx), "\x1b[31mred\x1b[0m <b>\u202e\r\nline 2\n")
			time.Sleep(10 * time.Second)
			durable.Progress(ctx, 25, 100, "<i>pages</i>")
			time.Sleep(time.Hour)
			fmt.Fprint(durable.Output(ctx), strings.Repeat("0123456789", 2000)+"the end")
			return "", nil
		})
		id, err := kind.Add(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		start()
		time.Sleep(10 * time.Second)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		page := get(t, u, "/job?id="+id.String())
		for _, want := range []string{`max="100" value="25"`, "25 of 100, 25 %, about 30\u00a0s left: &lt;i&gt;pages", `<span class="c1">red</span> &lt;b&gt;`,
			"line 2", `<span aria-current="step">running`, "Output of run 1, still running"} {
			if !strings.Contains(page, want) {
				t.Errorf("there is no %q: %s", want, page)
			}
		}
		if strings.ContainsAny(page, "\x1b\u202e\r") {
			t.Errorf("output is not shown as text: %q", page)
		}
		if page := get(t, u, "/job?q=LINE&id="+id.String()); strings.Contains(page, ">red<") || !strings.Contains(page, "line 2") ||
			!strings.Contains(page, "Lines without “LINE”") {
			t.Errorf("the lines with a text: %s", page)
		}
		if page := get(t, u, "/nodes"); !strings.Contains(page, "this program") || !strings.Contains(page, `value="25"`) {
			t.Errorf("the page of the nodes: %s", page)
		}
		time.Sleep(2 * time.Hour)
		page = get(t, u, "/job?id="+id.String()+"&run=1")
		if strings.Contains(page, "goes on") || !strings.Contains(page, "the end") || len(page) > 20<<10 {
			t.Errorf("the output of a run that has ended: %s", page)
		}
		w := ask(u, http.MethodGet, "/output?id="+id.String()+"&run=1", nil)
		if w.Code != http.StatusOK || w.Body.Len() < 20_000 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("the whole output: %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
		}
		for query, want := range map[string]int{"id=" + id.String() + "&run=2": 404, "id=x": 400, "id=" + id.String() + "&run=-1": 400} {
			if w := ask(u, http.MethodGet, "/output?"+query, nil); w.Code != want {
				t.Errorf("output?%s: %d, want %d", query, w.Code, want)
			}
		}
	})
}

// Of a last line that is too long for the page, its end is shown.
func TestJobShowsEndOfLongLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "report", func(ctx context.Context, _ string) (string, error) {
			fmt.Fprint(durable.Output(ctx), "first\n"+strings.Repeat("0123456789", 2000)+"the end\n")
			return "", nil
		})
		id, err := kind.Add(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		start()
		time.Sleep(time.Minute)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		if page := get(t, u, "/job?id="+id.String()); !strings.Contains(page, "0123456789the end\n</pre>") || len(page) > 20<<10 {
			t.Errorf("the page does not have the end of the line: %s", page)
		}
	})
}

// A time at which a job did not run is marked as missed.
func TestSchedulesShowMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "report", func(context.Context, string) (string, error) { return "", nil })
		if _, err := kind.AtFixedRate(t.Context(), "hourly", 0, time.Hour, ""); err != nil {
			t.Fatal(err)
		}
		start()
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		time.Sleep(3*time.Hour + 30*time.Minute)
		page := get(t, u, "/schedules")
		if strings.Contains(page, `class="miss" d=`) || !strings.Contains(page, `class="ok" d=`) {
			t.Errorf("before the pause: %s", page)
		}
		if err := jobs.PauseKind(t.Context(), "report"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Hour)
		if page := get(t, u, "/"); !strings.Contains(page, "the kind is paused") {
			t.Errorf("the overview does not have the pause: %s", page)
		}
		if err := jobs.ResumeKind(t.Context(), "report"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		page = get(t, u, "/schedules")
		if !strings.Contains(page, `class="miss" d=`) {
			t.Errorf("after the pause no time is missed: %s", page)
		}
	})
}

// A periodic job whose last run failed needs attention until one succeeds; one that runs once is dead or tried again.
func TestAttentionOfFailingJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		var works atomic.Bool
		kind := durable.Handle(jobs, "backup", func(context.Context, int) (int, error) {
			if !works.Load() {
				return 0, executor.Permanent(errors.New("no <space>\nand more"))
			}
			return 0, nil
		})
		if _, err := kind.AtFixedRate(t.Context(), "nightly", 0, time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		start()
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		if text := get(t, u, "/"); !strings.Contains(text, "<bdi>nightly</bdi></a>: its last run failed: no &lt;space&gt;</li>") {
			t.Errorf("the overview is %s", text)
		}
		works.Store(true)
		time.Sleep(time.Hour)
		if text := get(t, u, "/"); !strings.Contains(text, "Nothing needs attention") {
			t.Errorf("after a run that succeeded: %s", text)
		}
	})
}

// The list has the jobs with all tags, with a text in the error, and those that were changed lately; its tabs count
// these, and its pages keep what was asked for.
func TestJobsFilterByTagsAndErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, nil)
		durable.Handle(jobs, "mail", func(context.Context, string) (string, error) {
			return "", executor.Permanent(errors.New("connection refused"))
		})
		dead := addJob(t, jobs, "mail", 0, durable.WithTags("customer=17", "night & day"))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- jobs.Run(ctx) }()
		if _, err := jobs.Await(t.Context(), dead); !errors.Is(err, durable.ErrDead) {
			t.Fatal(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for range 60 {
			addJob(t, jobs, "mail", time.Hour, durable.WithTags("customer=17"))
		}
		addJob(t, jobs, "mail", time.Hour, durable.WithTags("customer=18"))
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		for query, want := range map[string]struct {
			jobs int
			tab  string
		}{
			"tag=customer%3D17":                            {50, "all 61"},
			"tag=customer%3D17&tag=+":                      {50, "all 61"},
			"tag=customer%3D17&tag=night+%26+day":          {1, "dead 1"},
			"tag=customer%3D18":                            {1, "all 1"},
			"tag=customer%3D1":                             {0, "all 0"},
			"error=refused":                                {1, "all 1"},
			"error=refused&tag=customer%3D18":              {0, "all 0"},
			"within=59m&state=dead":                        {0, "waiting 61"},
			"within=2h&tag=customer%3D17&error=connection": {1, "dead 1"},
		} {
			body := get(t, u, "/jobs?"+query)
			if n := len(jobLink.FindAllString(body, -1)); n != want.jobs || !strings.Contains(body, ">"+want.tab+"<") {
				t.Errorf("%s: %d jobs, want %d, and a tab with %s: %s", query, n, want.jobs, want.tab, body)
			}
			if m := nextLink.FindStringSubmatch(body); want.jobs == 50 {
				next := get(t, u, "/"+strings.ReplaceAll(m[1], "&amp;", "&"))
				if n := len(jobLink.FindAllString(next, -1)); n != 11 {
					t.Errorf("%s: the second page has %d jobs, want 11", query, n)
				}
			}
		}
		if body := get(t, u, "/job?id="+dead.String()); !strings.Contains(body, `<bdi>night &amp; day</bdi>`) || !strings.Contains(body, "jobs?tag=night") {
			t.Errorf("the page of the job does not link to its tag: %s", body)
		}
		for query, want := range map[string]string{
			"tag=" + strings.Repeat("x", 129):   "tag has 129 bytes",
			"tag=a&tag=b&tag=c&tag=d&tag=e":     "there are 5 tags",
			"within=soon":                       "within is",
			"within=-1h":                        "within is",
			"error=" + strings.Repeat("x", 201): "error has 201 bytes",
		} {
			if w := ask(u, http.MethodGet, "/jobs?"+query, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d, want what is wrong: %s: %s", query, w.Code, want, w.Body)
			}
		}
	})
}

// The page of a job shows what runs before and after it, and how many of its parents have ended. What is blocked can be
// found and counted.
func TestJobShowsParentsAndChildren(t *testing.T) {
	jobs := newJobs(t, nil)
	var parents []durable.ID
	for i := range 3 {
		parents = append(parents, addJob(t, jobs, "mail", time.Hour, durable.Key(fmt.Sprint("parent/", i))))
	}
	middle := addJob(t, jobs, "mail", 0, durable.After(parents...), durable.AtLeast(2), durable.Key("middle"))
	last := addJob(t, jobs, "mail", 0, durable.After(middle), durable.Key("last"))
	for _, change := range []func() (durable.Answer, error){
		func() (durable.Answer, error) { return jobs.Cancel(t.Context(), parents[0]) },
		func() (durable.Answer, error) { return jobs.Delete(t.Context(), parents[0]) },
	} {
		if _, err := change(); err != nil {
			t.Fatal(err)
		}
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	page := html.UnescapeString(get(t, u, "/job?id="+middle.String()))
	for _, want := range []string{"1 of 3 parents have ended, 1 of them failed", ">parent/1</bdi></a>", ">last</bdi></a>", `aria-current="step">blocked<`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, `href="job?id=`+parents[0].String()) {
		t.Error("the page has a link to a job that was deleted")
	}
	list := get(t, u, "/jobs?state=blocked")
	for _, id := range []durable.ID{middle, last} {
		if !strings.Contains(list, id.String()) {
			t.Errorf("the list of what is blocked lacks %v", id)
		}
	}
	if !strings.Contains(list, "blocked 2") {
		t.Error("the tab does not say how many are blocked")
	}
	if overview := get(t, u, "/"); !strings.Contains(overview, ">blocked</th>") {
		t.Error("the overview does not count what is blocked")
	}
}

// graphNodes returns what the graph on the page of a job says of its nodes, and the links in it.
func graphNodes(t *testing.T, text string) (says, links []string) {
	t.Helper()
	_, rest, found := strings.Cut(text, `<div class="graph"`)
	graph, _, _ := strings.Cut(rest, "</div>")
	if !found {
		t.Fatalf("the page has no graph: %s", text)
	}
	for _, m := range graphTitle.FindAllStringSubmatch(graph, -1) {
		says = append(says, html.UnescapeString(m[1]))
	}
	for _, m := range jobLink.FindAllStringSubmatch(graph, -1) {
		links = append(links, m[1])
	}
	return says, links
}

var graphTitle = regexp.MustCompile(`<title>([^<]*)</title>`)

// The graph of a job has the first jobs before and after it, what is beyond these, and counts of the others by state.
func TestJobGraphIsBounded(t *testing.T) {
	jobs := newJobs(t, nil)
	first := addJob(t, jobs, "mail", time.Hour, durable.Key("first"))
	var middle []durable.ID
	for i := range 50 {
		middle = append(middle, addJob(t, jobs, "mail", 0, durable.After(first), durable.Key(fmt.Sprint("middle/", i))))
	}
	last := addJob(t, jobs, "mail", 0, durable.After(middle...), durable.EvenIfFailed(), durable.Key("last"))
	for _, id := range middle[40:] {
		if _, err := jobs.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	for _, c := range []struct {
		id    durable.ID
		end   durable.ID // on the other side of those in the middle
		has   []string
		links int
	}{
		{first, last, []string{"This job: first, waiting", "last, blocked, of kind mail"}, 9},
		{last, first, []string{"This job: last, blocked", "first, waiting, of kind mail",
			"42 parents that are not shown, 32 open, 10 failed"}, 9},
	} {
		says, links := graphNodes(t, get(t, u, "/job?id="+c.id.String()))
		for _, want := range c.has {
			if !slices.Contains(says, want) {
				t.Errorf("%q is not in the graph: %q", want, says)
			}
		}
		if len(links) != c.links || !slices.Contains(links, c.end.String()) || slices.Contains(links, c.id.String()) {
			t.Errorf("the graph has the links %q", links)
		}
	}
	// The eight of the children that are shown are those with the lowest IDs, of whatever state.
	says, _ := graphNodes(t, get(t, u, "/job?id="+first.String()))
	shown := map[string]int{}
	for _, text := range says {
		if strings.HasPrefix(text, "middle/") {
			shown[strings.Split(text, ", ")[1]]++
		}
	}
	want := fmt.Sprintf("42 jobs that are not shown, %d canceled, %d blocked", 10-shown["canceled"], 40-shown["blocked"])
	if shown["canceled"] == 10 || shown["canceled"]+shown["blocked"] != 8 || !slices.Contains(says, want) {
		t.Errorf("%q is not in the graph: %q", want, says)
	}
}

// The graph of a job goes on to the parents of its parents, and to the children of its children, and says where it
// ends.
func TestJobGraphGoesOn(t *testing.T) {
	jobs := newJobs(t, nil)
	var chain []durable.ID
	for i := range 10 {
		chain = append(chain, addJob(t, jobs, "mail", time.Hour, durable.After(chain[max(0, i-1):i]...), durable.Key(fmt.Sprint("job/", i))))
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	says, links := graphNodes(t, get(t, u, "/job?id="+chain[5].String()))
	var want []string
	for _, i := range []int{4, 3, 2, 6, 7, 8} {
		want = append(want, chain[i].String())
	}
	if !slices.Equal(links, want) {
		t.Errorf("the graph leads to %q; want %q", links, want)
	}
	for _, text := range []string{
		"job/2, blocked, of kind mail; there are more jobs before it", "job/8, blocked, of kind mail; there are more jobs after it",
	} {
		if !slices.Contains(says, text) {
			t.Errorf("%q is not in the graph: %q", text, says)
		}
	}
}

// The graph of a job is part of its live updates.
func TestJobGraphIsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, nil)
		before := addJob(t, jobs, "mail", time.Hour, durable.Key("before"))
		id := addJob(t, jobs, "mail", 0, durable.After(before), durable.EvenIfFailed(), durable.Key("after"))
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, u, "job&id="+id.String())
		time.Sleep(5 * time.Second)
		if _, err := jobs.Cancel(ctx, before); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		events := l.Events(t)
		cancel()
		<-l.Ended()
		if len(events) < 2 {
			t.Fatalf("%d events", len(events))
		}
		for i, want := range map[int]string{0: "before, waiting, of kind mail", len(events) - 1: "before, canceled, of kind mail"} {
			if says, _ := graphNodes(t, events[i][1]); !slices.Contains(says, want) {
				t.Errorf("update %d lacks %q: %q", i, want, says)
			}
		}
	})
}

// newOrder returns a job of three steps that waits for a signal, and fails once after its first step.
func newOrder(t *testing.T, jobs *durable.Jobs) durable.ID {
	t.Helper()
	failed := false
	kind := durable.Handle(jobs, "order", func(ctx context.Context, _ string) (string, error) {
		step := func(name string, took time.Duration) error {
			_, err := durable.Step(ctx, name, func(context.Context) (string, error) { time.Sleep(took); return "<b>secret</b>", nil })
			return err
		}
		if err := step("reserve <i>it</i>", 2*time.Second); err != nil {
			return "", err
		}
		if !failed {
			failed = true
			return "", errors.New("no answer")
		}
		if err := step("charge", 3*time.Second); err != nil {
			return "", err
		}
		by, err := durable.Wait[string](ctx, "decision")
		if _, waits := durable.Snoozed(err); waits {
			err = durable.SnoozeOnce(ctx, "a day", 24*time.Hour)
		}
		if err != nil {
			return "", err
		}
		return by, nil
	})
	id, err := kind.Add(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var rowOf = regexp.MustCompile(`(?s)<tr><th scope="row"><bdi>([^<]*)</bdi><td class=l><i class="pill (\w+)">(\w+)</i><td>[^<]*<td class=v>([^<]*)<td class=w>([^<]*)`)

// The page of a job has its steps, with what is kept since when and by which run, what it waits for and until when.
// Their results are shown with Payloads only, as text.
func TestJobShowsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		id := newOrder(t, jobs)
		start()
		time.Sleep(time.Minute)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		text := get(t, u, "/job?id="+id.String())
		var rows []string
		for _, m := range rowOf.FindAllStringSubmatch(text, -1) {
			rows = append(rows, fmt.Sprintf("%s: %s %s after %s, run %s", html.UnescapeString(m[1]), m[2], m[3], m[4], m[5]))
		}
		want := []string{
			"reserve <i>it</i>: good kept after 2\u00a0s, run 1", "charge: good kept after 3\u00a0s, run 2",
			"a day: held sleeps after 0\u00a0s, run 2",
		}
		if !slices.Equal(rows, want) {
			t.Errorf("the steps are %q; want %q", rows, want)
		}
		for _, part := range []string{"for the signal <b><bdi>decision</bdi></b>, since 00:00:", ", until 2000-01-02 00:00:", "in\u00a024\u00a0h", "<h2>Last run: snoozed</h2>"} {
			if !strings.Contains(text, part) {
				t.Errorf("there is no %q: %s", part, text)
			}
		}
		for _, part := range []string{"secret", "act?"} {
			if strings.Contains(text, part) {
				t.Errorf("there is %q: %s", part, text)
			}
		}
		u = newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: true})
		if text := get(t, u, "/job?id="+id.String()); !strings.Contains(text, "&lt;b&gt;secret") && !strings.Contains(text, `\u003cb`) {
			t.Errorf("there is no result: %s", text)
		}
	})
}

// A job that waits for a signal without a limit is due at that, and not in a hundred years.
func TestJobIsDueAtSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "order", func(ctx context.Context, _ string) (bool, error) {
			return durable.Wait[bool](ctx, "decision")
		})
		id, err := kind.Add(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		start()
		time.Sleep(time.Minute)
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		for path, want := range map[string]string{"/jobs": "<td>at its signal", "/job?id=" + id.String(): "at its signal"} {
			if text := get(t, u, path); !strings.Contains(text, want) || strings.Contains(text, "36500") {
				t.Errorf("%s: %s", path, text)
			}
		}
	})
}

// Where nothing is blocked, no page has a place for it.
func TestJobsWithoutParentsShowNothingOfThem(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour)
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	for _, path := range []string{"/", "/jobs", "/job?id=" + id.String()} {
		if page := get(t, u, path); strings.Contains(page, "blocked") || strings.Contains(page, "relatives") {
			t.Errorf("%s has a place for what is blocked", path)
		}
	}
}

// The page of a periodic job has its next times: not those that have passed, none of a paused job, and after a failure
// when it is tried again.
func TestJobShowsNextTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, nil)
		kind := durable.KindOf[string, string](jobs, "report")
		id, err := kind.On(t.Context(), "nightly", cron.MustParse("CRON_TZ=Asia/Tokyo 30 11 * * *"), "")
		if err != nil {
			t.Fatal(err)
		}
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		times := func() (all []string) {
			for _, m := range regexp.MustCompile(`<li><time datetime="([^"]*)"`).FindAllStringSubmatch(get(t, u, "/job?id="+id.String()), -1) {
				at, err := time.Parse(time.RFC3339, m[1])
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, at.UTC().Format("2 15:04"))
			}
			return all
		}
		for zone, want := range map[string]string{"": "UTC", "job": "Asia/Tokyo", "America/New_York": "America/New_York"} {
			text := ask(u, http.MethodGet, "/job?id="+id.String(), inZone(zone)).Body.String()
			if !strings.Contains(text, "<h2>Next times, "+want+"</h2>") {
				t.Errorf("in zone %q they are not in that of %s: %s", zone, want, text)
			}
		}
		if got, want := times(), []string{"1 02:30", "2 02:30", "3 02:30", "4 02:30", "5 02:30"}; !slices.Equal(got, want) {
			t.Errorf("at first %q; want %q", got, want)
		}
		time.Sleep(50 * time.Hour) // nobody runs it
		if got, want := times(), []string{"1 02:30", "3 02:30", "4 02:30", "5 02:30", "6 02:30"}; !slices.Equal(got, want) {
			t.Errorf("two days later %q; want %q", got, want)
		}
		if _, err := jobs.Pause(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if got := times(); got != nil {
			t.Errorf("of a paused job %q", got)
		}
	})
}

// Where there are too many jobs to search all of them for periodic ones, the page of schedules says so.
func TestSchedulesSayWhatWasSearched(t *testing.T) {
	jobs := newJobs(t, nil)
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	const text = "the oldest 2\u202f000 were searched"
	kind := durable.KindOf[string, string](jobs, "report")
	if _, err := kind.AddAll(t.Context(), time.Hour, make([]string, 1999)); err != nil {
		t.Fatal(err)
	}
	if page := get(t, u, "/schedules"); strings.Contains(page, text) {
		t.Errorf("of 1999 jobs not all were searched: %s", page)
	}
	if _, err := kind.AddAll(t.Context(), time.Hour, make([]string, 2)); err != nil {
		t.Fatal(err)
	}
	u = newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	if page := get(t, u, "/schedules"); !strings.Contains(page, text) {
		t.Errorf("of 2001 jobs it is not said that some were not searched: %s", page)
	}
}

// The page of a job that was paused or canceled says by whom, when and why, and offers to resume it once.
func TestJobSaysWhoHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newJobs(t, nil)
		id := addJob(t, jobs, "mail", 100*time.Hour)
		u, _ := newActor(t, nil, jobs)
		text := func() string { t.Helper(); return get(t, u, "/job?id="+id.String()) }
		if page := text(); strings.Contains(page, `id="hold"`) {
			t.Errorf("before: %s", page)
		}
		answered(t, u, form("do", "pause", "id", id.String(), "reason", "<disk> is full"))
		time.Sleep(2 * time.Hour)
		page := text()
		if !strings.Contains(page, `<i class="pill held">paused</i> <span>by <b><bdi>ann</bdi></b> `+"2\u00a0h\u00a0ago, ") ||
			!strings.Contains(page, ": <bdi>&lt;disk&gt; is full</bdi></span>") || strings.Count(page, "Resume…</a>") != 1 {
			t.Errorf("it was paused: %s", page)
		}
		answered(t, u, form("do", "resume", "id", id.String()))
		if _, err := jobs.Pause(t.Context(), id); err != nil { // by the program
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if page := text(); !strings.Contains(page, `<i class="pill held">paused</i> <span></span>`) {
			t.Errorf("the program has paused it: %s", page)
		}
		answered(t, u, form("do", "cancel", "id", id.String(), "reason", "for good"))
		time.Sleep(time.Minute)
		if page := text(); !strings.Contains(page, `<i class="pill held">canceled</i> <span>by <b><bdi>ann</bdi></b>`) || !strings.Contains(page, "for good") {
			t.Errorf("it was canceled: %s", page)
		}
	})
}

// The timeline has the span that is right for most schedules until a reader chooses another.
func TestTimelineSpanFollowsDensity(t *testing.T) {
	for period, want := range map[time.Duration]string{time.Minute: "hour", 2 * time.Hour: "24 hours", 24 * time.Hour: "7 days"} {
		jobs := newJobs(t, nil)
		if _, err := durable.KindOf[string, string](jobs, "report").AtFixedRate(t.Context(), "r", time.Hour, period, ""); err != nil {
			t.Fatal(err)
		}
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		for query, want := range map[string]string{"": want, "?span=24h": "24 hours", "?span=1h": "hour", "?span=168h": "7 days"} {
			page := get(t, u, "/schedules"+query)
			if current := regexp.MustCompile(`<a href="schedules[^"]*" aria-current="true">([^<]*)</a>`).FindAllStringSubmatch(page, -1); len(current) != 1 || current[0][1] != want {
				t.Errorf("every %v, %q: the span is %q, want %s", period, query, current, want)
			}
		}
	}
}

// down is a store that does not answer while it has an error.
type down struct {
	*memory.Store
	err error
}

func (s *down) Counts(ctx context.Context, f durable.Filter) ([]durable.Count, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.Counts(ctx, f)
}

// The first line of the overview says that there is nothing yet, that all is well and nothing ran, or that the store does
// not answer, of which no page says that it is well.
func TestOverviewFirstLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &down{Store: memory.New()}
		jobs, err := durable.New(durable.Config{Store: s, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		check := func(wants ...string) {
			t.Helper()
			page := get(t, u, "/")
			for _, want := range wants {
				if !strings.Contains(page, want) {
					t.Errorf("no %s in %s", want, page)
				}
			}
			time.Sleep(time.Minute)
		}
		check("<h1>No pools or jobs yet</h1>", "<title>Overview")
		addJob(t, jobs, "mail", 3*time.Hour)
		check("<h1>All well</h1>", "No job has ended in 24 h; next: <a ", "in\u00a03\u00a0h")
		s.err = errors.New("<no> answer")
		check("<title>(1 problem) Overview", `<h1 class="bad">1 problem</h1>`, "the store could not be read: ", "&lt;no&gt; answer")
		s.err = nil
		check("<h1>All well</h1>", "<title>Overview")
	})
}

// What never began took no time, and says so nowhere.
func TestRunThatNeverBeganTookNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, id := labeled(t, "", "worse")
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Took: func(durable.Run) time.Duration { return 0 }}}})
		for _, path := range []string{"/runs", "/job?id=" + id.String(), "/schedules"} {
			if page := get(t, u, path); strings.Contains(page, "took 0") || strings.Contains(page, "after 0") || strings.Contains(page, "0\u00a0ns") {
				t.Errorf("%s says how long: %s", path, page)
			}
		}
	})
}
