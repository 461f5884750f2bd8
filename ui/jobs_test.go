package ui_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

var (
	jobLink  = regexp.MustCompile(`href="job\?id=([0-9a-f-]{36})"`)
	nextLink = regexp.MustCompile(`href="(jobs\?[^"]*)">Next 50`)
)

// The pages of a list have each job once.
func TestJobsPages(t *testing.T) {
	jobs := newJobs(t, nil)
	want := make(map[string]bool)
	for range 120 {
		want[addJob(t, jobs, "mail", time.Hour).String()] = true
	}
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
	var sizes []int
	for target := "jobs"; target != ""; {
		page := get(t, u, "/"+target)
		found := jobLink.FindAllStringSubmatch(page, -1)
		sizes = append(sizes, len(found))
		for _, m := range found {
			if !want[m[1]] {
				t.Errorf("%s has job %s, which is not there or was on a page before", target, m[1])
			}
			delete(want, m[1])
		}
		target = ""
		if m := nextLink.FindStringSubmatch(page); m != nil {
			target = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(want) > 0 || !slices.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("pages have %d jobs, and %d are missing", sizes, len(want))
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

func TestJobPayloads(t *testing.T) {
	jobs := newJobs(t, nil)
	path := "/job?id=" + addJob(t, jobs, "mail", time.Hour).String()
	page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), path)
	if strings.Contains(page, "secret payload") || !strings.Contains(page, "not shown") {
		t.Errorf("by default: %s", page)
	}
	page = get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: true}), path)
	if !strings.Contains(page, "secret payload") {
		t.Errorf("with Payloads: %s", page)
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
		if n := calls.Load() - before; n < 10 || n > 20 { // the counts, and the list
			t.Errorf("the store was called %d times in 20 s for 200 pages; want twice in each 2 s", n)
		}
	})
}

func TestSchedulesHaveJobs(t *testing.T) {
	jobs := newJobs(t, nil)
	kind := durable.Client[string, string](jobs, "report")
	for i := range 3 {
		if _, err := kind.AtFixedRate(t.Context(), fmt.Sprint("report ", i), time.Hour, 2*time.Hour, ""); err != nil {
			t.Fatal(err)
		}
	}
	addJob(t, jobs, "mail", time.Hour)
	page := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}}), "/schedules")
	if n := strings.Count(page, "every 2h0m0s"); n != 3 {
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
