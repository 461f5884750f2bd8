package ui_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// The title of each page begins with how many things are wrong, and its icon is another one.
func TestTitleCountsProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "mail", func(context.Context, int) (int, error) {
			return 0, executor.Permanent(errors.New("no such mailbox"))
		})
		id, err := kind.AddAfter(t.Context(), time.Minute, 0)
		if err == nil {
			_, err = kind.AtFixedRate(t.Context(), "digest", time.Minute, time.Hour, 0)
		}
		if err == nil {
			err = jobs.PauseKind(t.Context(), "report") // is no problem
		}
		if err != nil {
			t.Fatal(err)
		}
		start()
		u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
		check := func(prefix, icon string) {
			t.Helper()
			for path, name := range map[string]string{"/": "Overview", "/runs": "Runs", "/job?id=" + id.String(): "mail …" + id.String()[24:]} {
				text := get(t, u, path)
				if !strings.Contains(text, "<title>"+prefix+name+" · executor</title>") ||
					!strings.Contains(text, `<link rel="icon" href="static/`+icon) {
					t.Errorf("%s has %.400s", path, text)
				}
			}
			if text := ask(u, "GET", "/nothing", nil).Body.String(); !strings.Contains(text, "<title>"+prefix+"Not found") {
				t.Errorf("a page that is not there has %.400s", text)
			}
		}
		check("", "icon-")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		check("(2 problems) ", "problem-")
	})
}

// A program counts its problems itself with Config.Problems; an error is one.
func TestTitleCountsOwnProblems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, calls := 1, 0
		var err error
		u := newUI(t, ui.Config{Observer: newObserver(t), Problems: func(context.Context) (int, error) { calls++; return n, err }})
		for _, c := range []struct {
			n     int
			err   error
			title string
		}{{1, nil, "(1 problem) Pools"}, {0, nil, "Pools"}, {0, errors.New("no answer"), "(1 problem) Pools"}, {2000, nil, "(2\u202f000 problems) Pools"}} {
			n, err, calls = c.n, c.err, 0
			for range 5 {
				if text := get(t, u, "/pools"); !strings.Contains(text, "<title>"+c.title) {
					t.Errorf("of %d, %v the page has %.400s", c.n, c.err, text)
				}
				time.Sleep(time.Second)
				synctest.Wait()
			}
			if calls != 1 {
				t.Errorf("in five seconds it was called %d times", calls)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
	})
}

// The overview of a store without jobs says so, and has no empty table.
func TestOverviewWithoutJobs(t *testing.T) {
	text := get(t, newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: newJobs(t, nil)}}}), "/")
	if !strings.Contains(text, `<p class="empty">There are no jobs yet.`) || strings.Contains(text, "<table") {
		t.Errorf("the page is %s", text)
	}
}
