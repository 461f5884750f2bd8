package web

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/internal/page"
)

// pages are the pages. Texts of others are shown as the log shows them.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"text":     job.Printable,
	"jobAt":    jobAt,
	"runAt":    runAt,
	"when":     when,
	"span":     func(seconds float64) string { return view.Span(seconds).String() },
	"age":      func(seconds float64) string { return view.Span(seconds).Truncate(time.Second).String() },
	"stamp":    func(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") },
	"acts":     acts,
	"actAt":    actAt,
	"coloured": coloured,
	"word":     func(outcome string) string { return strings.ReplaceAll(outcome, " ", "-") },
}).ParseFS(assets, "assets/*.html"))

// jobAt and runAt return the addresses of pages.
func jobAt(name string) string { return "/job?" + url.Values{"name": {name}}.Encode() }

func runAt(r *view.Run) string {
	return "/run?" + url.Values{"job": {r.Job}, "run": {fmt.Sprint(r.Run)}}.Encode()
}

// when returns how far a time is away, in words.
func when(t time.Time) string {
	d := time.Until(t)
	text := ""
	switch size := d.Abs(); {
	case size < time.Second:
		return "now"
	case size < time.Minute:
		text = fmt.Sprintf("%d s", int(size.Seconds()))
	case size < time.Hour:
		text = fmt.Sprintf("%d min", int(size.Minutes()))
	case size < 48*time.Hour:
		text = fmt.Sprintf("%d h", int(size.Hours()))
	default:
		text = fmt.Sprintf("%d days", int(size.Hours()/24))
	}
	if d < 0 {
		return text + " ago"
	}
	return "in " + text
}

// base is what all pages have.
type base struct {
	Title   string // of the page; "" for the first
	File    string
	Version string
	Session bool
	Actions bool
	Store   bool
	Body    any
}

// page answers with a page.
func (s *Server) page(w http.ResponseWriter, status int, name string, body any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, s.base("", body)); err != nil {
		plain(w, http.StatusInternalServerError, "executord: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (s *Server) base(title string, body any) base {
	return base{
		Title: title, File: s.Title, Version: s.Version, Session: s.Token != "",
		Actions: s.Act != nil, Store: s.Store != nil,
		Body: body,
	}
}

// sorry answers with a page that says why there is nothing else.
func (s *Server) sorry(w http.ResponseWriter, status int, text string) {
	s.page(w, status, "sorry", text)
}

// mostJobs is how many jobs a page has.
const mostJobs = 2000

// serveJobs shows the jobs: those that need attention first.
func (s *Server) serveJobs(w http.ResponseWriter, r *http.Request) {
	jobs, err := s.Daemon.Jobs(r.Context())
	if err != nil {
		s.sorry(w, http.StatusServiceUnavailable, "The store does not answer: "+err.Error())
		return
	}
	find := r.URL.Query().Get("find")
	found := slices.DeleteFunc(slices.Clone(jobs), func(j view.Job) bool {
		return find != "" && !strings.Contains(strings.ToLower(j.Job), strings.ToLower(find))
	})
	slices.SortStableFunc(found, func(a, b view.Job) int { return cmp.Compare(rank(a), rank(b)) })
	body := struct {
		Find           string
		Jobs           []view.Job
		All, Left      int
		Failed, Active int
	}{Find: find, All: len(jobs)}
	for _, j := range jobs {
		if bad(j) {
			body.Failed++
		}
		if j.Running != nil {
			body.Active++
		}
	}
	body.Left = max(len(found)-mostJobs, 0)
	body.Jobs = found[:min(len(found), mostJobs)]
	s.page(w, http.StatusOK, "jobs", body)
}

// bad reports whether a job needs attention.
func bad(j view.Job) bool {
	return j.State == "dead" || j.Last != nil && !slices.Contains([]string{"ok", "canceled", "stopped", "delayed"}, j.Last.Outcome)
}

func rank(j view.Job) int {
	switch {
	case bad(j):
		return 0
	case j.Running != nil:
		return 1
	}
	return 2
}

// runsOfPage is how many runs the page of a job has.
const runsOfPage = 100

func (s *Server) serveJob(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	jobs, err := s.Daemon.Jobs(r.Context())
	var runs []view.Run
	if err == nil {
		runs, _, err = s.Daemon.Runs(r.Context(), name, runsOfPage)
	}
	if err != nil {
		s.sorry(w, http.StatusServiceUnavailable, "The store does not answer: "+err.Error())
		return
	}
	i := slices.IndexFunc(jobs, func(j view.Job) bool { return j.Job == name })
	if i < 0 {
		s.sorry(w, http.StatusNotFound, fmt.Sprintf("There is no job %.100q.", name))
		return
	}
	s.page(w, http.StatusOK, "job", struct {
		view.Job
		Runs []view.Run
	}{jobs[i], runs})
}

// serveRun shows a run, and what it writes while it does. The page is complete when the run has ended: it needs no
// script for that.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) {
	n, err := number(r, "run", 0)
	name := r.URL.Query().Get("job")
	run, facts, output, ok := s.Daemon.Output(name, n)
	if err != nil || !ok {
		s.serveOtherRun(w, r, name, n)
		return
	}
	leave, ok := s.enter(w)
	if !ok {
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Method == http.MethodHead {
		return
	}
	var line printer
	send(w, func() error { return pages.ExecuteTemplate(w, "run", s.base(run.Job, runBody{run, facts})) })
	err = follow(r.Context(), output, true, func(lines []record.Line) error {
		if line.printed > mostLines {
			return errLong
		}
		return send(w, func() error { return line.print(w, lines) })
	})
	switch {
	case errors.Is(err, errLong):
		send(w, func() error { return pages.ExecuteTemplate(w, "run-long", runBody{run, facts}) })
		return
	case err != nil:
		return
	}
	if end, facts, _, ok := s.Daemon.Output(run.Job, int(run.Run)); ok {
		run = end
		line.missing(w, facts.Lines)
		send(w, func() error { return pages.ExecuteTemplate(w, "run-end", runBody{run, facts}) })
	}
}

// mostLines is how many lines a page has, about: a browser has its limits.
const mostLines = 20_000

var errLong = errors.New("the page is long enough")

// runBody is what the page of a run has.
type runBody struct {
	view.Run
	Facts record.Facts
}

// serveOtherRun shows what the history says of a run whose output is not here.
func (s *Server) serveOtherRun(w http.ResponseWriter, r *http.Request, name string, n int) {
	runs, _, err := s.Daemon.Runs(r.Context(), name, MostRuns)
	if err != nil {
		s.sorry(w, http.StatusServiceUnavailable, "The store does not answer: "+err.Error())
		return
	}
	i := slices.IndexFunc(runs, func(r view.Run) bool { return r.Run == int64(n) })
	if i < 0 {
		s.sorry(w, http.StatusNotFound, "There is no such run, or it is kept no more.")
		return
	}
	stored, found, err := s.Daemon.Stored(r.Context(), name, n)
	if err != nil {
		s.sorry(w, http.StatusServiceUnavailable, "The store does not answer: "+err.Error())
		return
	}
	s.page(w, http.StatusOK, "other-run", struct {
		view.Run
		record.Stored
		Found bool
	}{runs[i], stored, found})
}

// printer writes lines of output as HTML.
type printer struct {
	last    int64 // the number of the latest
	printed int   // how many
}

func (p *printer) print(w io.Writer, lines []record.Line) error {
	var b strings.Builder
	for _, l := range lines {
		p.gap(&b, l.N)
		class := ""
		if l.Stderr {
			class = ` class="err"`
		}
		fmt.Fprintf(&b, "<li value=\"%d\"%s>%s</li>\n", l.N, class, coloured(l.Text))
		p.last = l.N
		p.printed++
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gap says how many lines were left out before number n.
func (p *printer) gap(b *strings.Builder, n int64) {
	if left := n - p.last - 1; left > 0 {
		fmt.Fprintf(b, "<li class=\"gap\">%d lines were left out</li>\n", left)
	}
}

// missing says how many lines of all were left out at the end.
func (p *printer) missing(w io.Writer, all int64) {
	var b strings.Builder
	p.gap(&b, all+1)
	io.WriteString(w, b.String())
}

// serveText answers with what a run has written, as it is.
func (s *Server) serveText(w http.ResponseWriter, r *http.Request) {
	run, _, output, ok := s.find(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"run-%d.txt\"", run.Run))
	lines, _ := output.After(0)
	last := int64(0)
	for _, l := range lines {
		if left := l.N - last - 1; left > 0 {
			fmt.Fprintf(w, "[%d lines were left out]\n", left)
		}
		last = l.N
		io.WriteString(w, l.Text)
		if !l.More {
			io.WriteString(w, "\n")
		}
	}
}

// coloured returns a line as HTML, with the colours of a terminal.
func coloured(line string) template.HTML { return page.Coloured(line, job.Printable) }
