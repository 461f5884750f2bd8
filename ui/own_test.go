package ui_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/internal/pagetest"
)

// echo is the Body of a page that shows its query.
func echo(_ context.Context, q url.Values) (string, template.HTML, error) {
	switch q.Get("q") {
	case "none":
		return "", "", ui.NotFound("there is no backup <none>")
	case "error":
		return "", "", errors.New("no answer")
	}
	return "Backups", template.HTML("<h1>q is " + template.HTMLEscapeString(q.Get("q")) + "</h1>"), nil
}

// A page of the program's own has a tab, the frame of the others, and takes the place of the one with its path.
// The header has what one looks at each day first: the page that replaces another has its place, others come behind the
// timeline.
func TestTabsOfOwnPages(t *testing.T) {
	u := newUI(t, ui.Config{
		Observer: newObserver(t), Jobs: []ui.Source{{Jobs: newJobs(t, nil)}},
		Pages: []ui.Page{{Path: "alerts", Tab: "Alerts", Body: echo}, {Path: "nodes", Tab: "Machines", Body: echo}, {Path: "", Tab: "Home", Body: echo}},
	})
	header, _, _ := strings.Cut(get(t, u, "/"), "</nav>")
	var names []string
	for _, m := range regexp.MustCompile(`<a href="[^"]*"(?: aria-current="page")?>([^<]*)</a>`).FindAllStringSubmatch(header, -1) {
		names = append(names, m[1])
	}
	if got := strings.Join(names, " "); got != "Home Jobs Runs Timeline Alerts Machines Pools Audit" {
		t.Errorf("the tabs are %s", got)
	}
}

func TestOwnPages(t *testing.T) {
	u := newUI(t, ui.Config{
		Jobs:  []ui.Source{{Jobs: newJobs(t, nil)}},
		Menu:  `<a href="elsewhere">Elsewhere</a>`,
		Pages: []ui.Page{{Path: "", Tab: "Backups", Body: echo}, {Path: "backup", Body: echo}, {Path: "dead"}},
	})
	for path, want := range map[string][]string{
		"/":               {"<h1>q is </h1>", `<a href="./" aria-current="page">Backups</a>`, "Elsewhere", `data-events="events?view="`},
		"/?q=1":           {"<h1>q is 1</h1>", `data-events="events?q=1&amp;view="`},
		"/backup?q=a%26b": {"<h1>q is a&amp;b</h1>", `data-events="events?q=a%26b&amp;view=backup"`, `<a href="./" aria-current="page">Backups</a>`},
		"/jobs":           {"<h1>Jobs</h1>", "Backups"},
	} {
		text := get(t, u, path)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %s:\n%s", path, w, text)
			}
		}
		if strings.Contains(text, ">Dead<") || strings.Contains(text, ">Overview<") {
			t.Errorf("%s has the tab of a page that was replaced or removed:\n%s", path, text)
		}
	}
	for path, want := range map[string]int{
		"/backup?q=none": 404, "/backup?q=error": 503, "/dead": 404, "/backup?q=" + strings.Repeat("x", 70_000): 400,
	} {
		if w := ask(u, http.MethodGet, path, nil); w.Code != want || strings.Contains(w.Body.String(), "<none>") {
			t.Errorf("%.30s: %d %.300s", path, w.Code, w.Body)
		}
	}
}

// A page of the program's own is rendered once in a second for each query, however many look, and is live.
func TestOwnPageIsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(map[string]int)
		u := newUI(t, ui.Config{Pages: []ui.Page{{
			Path: "x",
			Body: func(_ context.Context, q url.Values) (string, template.HTML, error) {
				calls[q.Encode()]++
				return "", template.HTML(time.Now().Format("15:04:05")), nil
			},
		}}})
		for range 10 {
			get(t, u, "/x?a=1")
			get(t, u, "/x?a=2")
		}
		if calls["a=1"] != 1 || calls["a=2"] != 1 || len(calls) != 2 {
			t.Errorf("calls are %v", calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, u, "x&a=1")
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		cancel()
		<-l.Ended()
		if es := l.Events(t); len(es) != 3 || es[2][1] != "00:00:02" {
			t.Errorf("events are %q", es)
		}
	})
}

// The live updates of a page of the program's own are of all that its address asks for.
func TestOwnPageIsLiveWithItsQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := func(_ context.Context, q url.Values) (string, template.HTML, error) {
			return "", template.HTML("q is " + template.HTMLEscapeString(fmt.Sprint(q)) + "."), nil
		}
		u := newUI(t, ui.Config{Pages: []ui.Page{{Path: "x", Body: body}}})
		for query, want := range map[string]string{
			"":                 "q is map[].",
			"?tag=a&tag=b":     "q is map[tag:[a b]].",
			"?all=&key=%26%3D": "q is map[all:[] key:[&amp;=]].",
			"?view=y&view=":    "q is map[view:[y ]].",
		} {
			text := get(t, u, "/x"+query)
			_, events, _ := strings.Cut(text, `data-events="events?`)
			events, _, _ = strings.Cut(events, `"`)
			ctx, cancel := context.WithCancel(t.Context())
			l := pagetest.Listen(ctx, u, "x&"+strings.Replace(html.UnescapeString(events), "view=x", "", 1))
			synctest.Wait()
			cancel()
			<-l.Ended()
			if es := l.Events(t); !strings.Contains(text, want) || len(es) != 1 || es[0] != [2]string{"main", want} {
				t.Errorf("%s: want %s, the updates are %q, and the page is %s", query, want, es, text)
			}
		}
	})
}

// Pages with paths that can't be are refused.
func TestOwnPagesRefused(t *testing.T) {
	for _, pages := range [][]ui.Page{
		{{Path: "a/b", Body: echo}}, {{Path: "/", Body: echo}}, {{Path: "..", Body: echo}}, {{Path: "events", Body: echo}},
		{{Path: "a", Body: echo}, {Path: "a", Body: echo}},
	} {
		if _, err := ui.New(ui.Config{Pages: pages}); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%q: %v", pages[0].Path, err)
		}
	}
}

// A frame is what a page has around its content, and needs no Body.
func TestFrame(t *testing.T) {
	u := newUI(t, ui.Config{Title: "shop", Pages: []ui.Page{{Path: "", Tab: "Backups", Body: echo}}})
	head, tail, err := u.Frame(httptest.NewRequest("GET", "/x", nil), "<Log>", "")
	if err != nil || !strings.Contains(string(head), "<title>&lt;Log&gt; · shop</title>") ||
		!strings.HasSuffix(string(head), `<main id="main">`) || !strings.HasPrefix(string(tail), "</main>") ||
		strings.Contains(string(head), "data-events") {
		t.Errorf("%v\n%s\n%s", err, head, tail)
	}
}

// A bare frame has no link to a page, and nothing of the menu.
func TestBareFrame(t *testing.T) {
	u := newUI(t, ui.Config{Title: "shop", Menu: "<a href=out>Log out</a>", Pages: []ui.Page{{Path: "", Tab: "Backups", Body: echo}}})
	head, tail, err := u.BareFrame("Log in")
	if err != nil || !strings.Contains(string(head), "<title>Log in · shop</title>") ||
		!strings.HasSuffix(string(head), `<main id="main">`) || !strings.HasPrefix(string(tail), "</main>") {
		t.Errorf("%v\n%s\n%s", err, head, tail)
	}
	for _, other := range []string{"Backups", "Log out", "<nav", "<footer"} {
		if strings.Contains(string(head)+string(tail), other) {
			t.Errorf("there is %s in %s%s", other, head, tail)
		}
	}
}

// Assets has the files of pages, and nothing else.
func TestAssets(t *testing.T) {
	u := newUI(t, ui.Config{Observer: newObserver(t)})
	text := get(t, u, "/")
	_, rest, _ := strings.Cut(text, `href="static/`)
	name, _, _ := strings.Cut(rest, `"`)
	if w := ask(ui.Assets(), http.MethodGet, "/static/"+name, nil); w.Code != http.StatusOK ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
		t.Errorf("%s: %d", name, w.Code)
	}
	for _, path := range []string{"/static/", "/static/pools", "/", "/static/app.css"} {
		if w := ask(ui.Assets(), http.MethodGet, path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// A source whose jobs have names of the program's own shows no kinds beside them.
func TestSourceLinkHidesKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, start := newNode(t)
		kind := durable.Handle(jobs, "the-kind", func(ctx context.Context, long bool) (string, error) {
			if long {
				<-ctx.Done()
			}
			return "", nil
		})
		for _, long := range []bool{false, true} {
			if _, err := kind.Add(t.Context(), long, durable.Key(fmt.Sprint("long-", long))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := kind.AtFixedRate(t.Context(), "often", time.Hour, time.Hour, false); err != nil {
			t.Fatal(err)
		}
		start()
		own := func(key string) (string, string) { return "own-" + key, "mine" }
		for path, want := range map[string]string{"/runs": "long-false", "/nodes": "long-true", "/schedules": "often"} {
			u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs}}})
			if text := get(t, u, path); !strings.Contains(text, want) || strings.Count(text, "the-kind") == 0 {
				t.Errorf("%s without names of its own: %s", path, text)
			}
			with := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Link: own}}})
			text := get(t, with, path)
			if path == "/nodes" { // which kinds a node has stays
				_, text, _ = strings.Cut(text, `id="held"`)
			}
			if !strings.Contains(text, "own-"+want) || strings.Contains(text, "the-kind") || strings.Contains(text, ">Kind") {
				t.Errorf("%s with names of its own: %s", path, text)
			}
		}
	})
}

// Times that stand alone have their zone, on all pages.
func TestPagesShowZone(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour)
	u := newUI(t, ui.Config{Observer: new(executor.Observer), Jobs: []ui.Source{{Jobs: jobs}}})
	zone := time.Now().Format("MST")
	for _, path := range []string{
		"/", "/pools", "/schedules", "/jobs", "/job?id=" + id.String(), "/runs", "/nodes", "/dead", "/acts",
	} {
		_, text, found := strings.Cut(get(t, u, path), `<p class="at">As of `)
		if at, _, _ := strings.Cut(text, "<"); !found || !strings.HasSuffix(at, " "+zone) {
			t.Errorf("%s is as of %q", path, at)
		}
	}
}

// Links to jobs lead to the page that the program has of them.
func TestSourceLink(t *testing.T) {
	jobs := newJobs(t, nil)
	addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/1"))
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Link: func(key string) (string, string) {
		return strings.ToUpper(key), "mine?key=" + key
	}}}})
	if text := get(t, u, "/jobs"); !strings.Contains(text, `<a href="mine?key=welcome/1"><bdi>WELCOME/1<`) {
		t.Errorf("the page is %s", text)
	}
}

// Where the program has no page of a job, links lead to that of the UI.
func TestSourceLinkWithoutPage(t *testing.T) {
	jobs := newJobs(t, nil)
	id := addJob(t, jobs, "mail", time.Hour, durable.Key("welcome/1"))
	u := newUI(t, ui.Config{Jobs: []ui.Source{{Jobs: jobs, Link: func(key string) (string, string) {
		return strings.ToUpper(key), ""
	}}}})
	if text := get(t, u, "/jobs"); !strings.Contains(text, `<a href="job?id=`+id.String()+`"><bdi>WELCOME/1<`) {
		t.Errorf("the page is %s", text)
	}
}

// The banner of a program is on each page, also on those with an error and those of the program's own, and is asked for once
// in ten seconds.
func TestBannerIsOnEachPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		u := newUI(t, ui.Config{Observer: newObserver(t), Banner: func(context.Context) template.HTML {
			asked++
			return "<p>the disk is <b>full</b></p>"
		}})
		for range 20 {
			for _, path := range []string{"/", "/pools", "/none"} {
				if text := ask(u, http.MethodGet, path, nil).Body.String(); !strings.Contains(text, "<div id=\"banner\"><p>the disk is <b>full</b></p></div>") {
					t.Errorf("%s has no banner: %s", path, text)
				}
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		head, _, err := u.Frame(httptest.NewRequest("GET", "/x", nil), "mine", "")
		if err != nil || !strings.Contains(string(head), "the disk is") {
			t.Errorf("a frame has no banner: %s %v", head, err)
		}
		if asked != 2 && asked != 3 {
			t.Errorf("it was asked for %d times in 20 s", asked)
		}
	})
}
