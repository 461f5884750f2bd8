package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

//go:embed *.html
var files embed.FS

// templates are what the pages have in their frame. Texts of others are shown as the log shows them.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"text":     job.Printable,
	"jobAt":    jobAt,
	"runAt":    runAt,
	"when":     func(t time.Time) string { return page.Since(t, time.Now()) },
	"age":      func(seconds float64) string { return page.Age(view.Span(seconds)) },
	"stamp":    func(t time.Time) string { return t.Format(client.Instant) },
	"clock":    func(t time.Time) string { return page.Clock(t, time.Now().In(t.Location())) },
	"coloured": coloured,
	"class":    class,
	"firstDue": firstDue,
	"dueIn":    dueIn,
	"bad":      bad,
	"sign":     func(o outcome.Outcome) string { return page.Sign(class(o)) },
	"ended":    ended,
	"took":     took,
	"why":      why,

	"stateClass": func(s catalog.Status) string { return stateClass(string(s.State)) },

	"told":      told,
	"further":   further,
	"toldClass": toldClass,
}).ParseFS(files, "*.html"))

// jobAt returns the address of the page of a job.
func jobAt(name string) string { return "job?" + url.Values{"name": {name}}.Encode() }

// runAt returns the address of the page of a run. What became of a due time without a run has none: the page of its job
// says why.
func runAt(r *view.Run) string {
	if r.Run == 0 {
		return jobAt(r.Job)
	}
	return "run?" + url.Values{"job": {r.Job}, "run": {fmt.Sprint(r.Run)}}.Encode()
}

// coloured returns a line as HTML, with the colours of a terminal.
func coloured(line string) template.HTML { return page.Coloured(line, job.Printable) }

// class returns how an outcome is coloured.
func class(o outcome.Outcome) string {
	switch {
	case o == outcome.OK:
		return "good"
	case o.IsBad():
		return "bad"
	case o == outcome.InProgress:
		return "busy"
	}
	return "other"
}

// ended returns when a run ended, or when it began if that is not known.
func ended(r *view.Run) time.Time {
	if r.Finished.IsZero() {
		return r.Started
	}
	return r.Finished
}

// took returns how long a run took, "" if nothing of it has begun.
func took(r view.Run) string {
	if r.Took <= 0 {
		return ""
	}
	return page.Short(r.Duration())
}

// why returns why a run ended as it did, without the outcome, on one line of at most so many characters.
func why(r view.Run, most int) string {
	return strings.TrimPrefix(r.Why(most), string(r.Outcome)+": ")
}

// outcomeTabs are the tabs of the list of all runs. Which verdict a run has in the store says little of its outcome.
var outcomeTabs = []ui.OutcomeTab{
	{Name: "failed", Verdicts: []durable.Verdict{durable.RunFailed, durable.RunLost, durable.RunCanceled, durable.RunSnoozed}, Like: []durable.Verdict{durable.RunFailed, durable.RunLost}},
	{Name: "succeeded", Verdicts: []durable.Verdict{durable.RunSucceeded}, Like: []durable.Verdict{durable.RunSucceeded}},
	{Name: "other", Verdicts: store.Verdicts(), Like: []durable.Verdict{durable.RunCanceled, durable.RunSkipped, durable.RunSnoozed}},
}

// firstDue returns in how long a job runs for the first time, "" if that is not known, or was due already.
func firstDue(next *time.Time) string {
	if next == nil || time.Until(*next) < time.Second {
		return ""
	}
	return page.Since(*next, time.Now())
}

// dueIn returns in how long a job is due, or for how long it has been.
func dueIn(next time.Time) string {
	if late := time.Since(next).Truncate(time.Second); late > 0 {
		return page.Short(late) + " overdue"
	}
	return page.Since(next, time.Now())
}

// has reports whether a line has what is searched for, whatever the case of its letters.
func has(line, text string) bool {
	return text == "" || strings.Contains(strings.ToLower(line), strings.ToLower(text))
}

// rendered returns what a template makes of a body.
func rendered(name string, body any) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, body)
	return template.HTML(b.String()), err
}

// page answers with a page that is made once.
func (s *Server) page(w http.ResponseWriter, r *http.Request, status int, title, name string, body any) {
	s.answer(w, status, name, body, func() (head, tail []byte, err error) { return s.ui.Frame(r, title, "") })
}

// alone answers with a page for somebody who may see no other.
func (s *Server) alone(w http.ResponseWriter, status int, title, name string, body any) {
	s.answer(w, status, name, body, func() (head, tail []byte, err error) { return s.ui.BareFrame(title) })
}

func (s *Server) answer(
	w http.ResponseWriter, status int, name string, body any, frame func() (head, tail []byte, err error),
) {
	main, err := rendered(name, body)
	var head, tail []byte
	if err == nil {
		head, tail, err = frame()
	}
	if err != nil {
		plain(w, http.StatusInternalServerError, "executord: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(slices.Concat(head, []byte(main), tail))
}

// sorry answers with a page that says why there is nothing else.
func (s *Server) sorry(w http.ResponseWriter, r *http.Request, status int, text string) {
	if page.AcceptsJSON(r) {
		page.Refuse(w, r, status, text)
		return
	}
	title := page.ErrorTitle(status)
	s.page(w, r, status, title, "sorry", struct{ Title, Text string }{title, text})
}

// noAnswer returns the error of a store as a page shows it.
func noAnswer(err error) error {
	if errors.Is(err, durable.ErrFull) {
		return fmt.Errorf("the store takes no changes: %w", err)
	}
	return fmt.Errorf("the store does not answer: %w", err)
}

// own are the pages that ui keeps live: they take the place of its own about jobs.
func (s *Server) own() []ui.Page {
	return []ui.Page{
		{Path: "", Tab: "Jobs", Body: s.jobsBody}, {Path: "job", Body: s.jobBody},
		{Path: "notices", Tab: "Alerts", Body: s.noticesBody}, {Path: "jobs"}, {Path: "dead"},
	}
}

// bad reports whether a job needs somebody.
func bad(j *view.Job) bool { return j.Trouble() != "" }

// banner says on each page what is wrong with the daemon, and not with a job.
func (s *Server) banner(ctx context.Context) template.HTML {
	var b struct {
		Wrong    bool // the files have a mistake, and those of Read are used
		Read     time.Time
		NotReady error
		Lost     int // events that nobody is told
	}
	if s.Reading != nil {
		ok, at := s.Reading()
		b.Wrong, b.Read = !ok, at
	}
	b.NotReady = s.Daemon.Ready(ctx)
	for _, c := range s.Daemon.Channels() {
		b.Lost += c.Dropped
	}
	text, err := rendered("banner", b)
	if err != nil {
		return ""
	}
	return text
}

// failing returns how many jobs need somebody.
func (s *Server) failing(ctx context.Context) (n int, err error) {
	jobs, err := s.Daemon.Jobs(ctx)
	for i := range jobs {
		if bad(&jobs[i]) {
			n++
		}
	}
	return n, err
}

// serveRun shows a run, and what it writes while it does. The page is complete when the run has ended: it needs no
// script for that.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) {
	n, err := number(r, "run", 0)
	name := r.URL.Query().Get("job")
	run, output, ok := s.Daemon.Output(name, n)
	if err != nil || !ok {
		s.serveOtherRun(w, r, name, n)
		return
	}
	if !hold(w, r, live) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Method == http.MethodHead {
		return
	}
	zone := page.ZoneOf(r)
	body := runBody{Facts: factsIn(zone, run), reading: s.readingOf(r, name, n)}
	if !run.Finished.IsZero() {
		body.firstErr(output)
	}
	if s.acts(r) && run.Outcome == outcome.InProgress {
		body.Actions = []link{endOf(&run.Run)}
	}
	head, tail, err := s.ui.Frame(r, job.Printable(name), "")
	if err != nil {
		return
	}
	part := func(name string, around ...[]byte) {
		send(w, func() error {
			main, err := rendered(name, body)
			if err != nil {
				return err
			}
			_, err = w.Write(slices.Concat(slices.Concat(around...), []byte(main)))
			return err
		})
	}
	line := printer{find: body.Find, zone: zone, clock: "15:04:05.000"}
	part("run", head)
	defer func() { send(w, func() error { _, err := w.Write(tail); return err }) }()
	err = s.follow(r, output, true, func(lines []record.Line) error {
		if line.printed > mostLines {
			return errLong
		}
		return send(w, func() error { return line.print(w, lines) })
	})
	switch {
	case errors.Is(err, errLong):
		part("run-long")
		return
	case errors.Is(err, errOver):
		part("run-over")
		return
	case err != nil:
		return
	}
	if end, _, ok := s.Daemon.Output(run.Job, int(run.Run.Run)); ok {
		body.Facts = factsIn(zone, end)
		body.firstErr(output)
		line.missing(w, end.Lines)
		part("run-end")
	}
}

// mostLines is how many lines a page has, about: a browser has its limits.
const mostLines = 20_000

var errLong = errors.New("the page has reached its limit")

// runBody is what the page of a run has.
type runBody struct {
	record.Facts
	Actions []link
	reading
}

// reading is how somebody reads the output of a run.
type reading struct {
	Find         string // what lines must have to be shown
	Cut          bool   // long lines are not wrapped
	Wrap         string // the address of the page with the other way
	FirstErr     string // the anchor of the first line of standard error that is shown, "" for none that is known
	Before, Next string // the addresses of the runs beside it
}

func (s *Server) readingOf(r *http.Request, name string, n int) reading {
	q := r.URL.Query()
	at := func(n int, wrap bool) string {
		to := url.Values{"job": {name}, "run": {fmt.Sprint(n)}}
		if find := q.Get("find"); find != "" {
			to.Set("find", find)
		}
		if !wrap {
			to.Set("wrap", "no")
		}
		return "run?" + to.Encode()
	}
	v := reading{Find: q.Get("find"), Cut: q.Get("wrap") == "no"}
	v.Wrap = at(n, v.Cut)
	if n > 1 {
		v.Before = at(n-1, !v.Cut)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second) // what a run has written does not need the store
	defer cancel()
	if j, found, err := s.job(ctx, name); err == nil && found && int64(n) < j.Runs {
		v.Next = at(n+1, !v.Cut)
	}
	return v
}

// firstErr fills in FirstErr of a run that has ended.
func (v *reading) firstErr(output *record.Output) {
	lines, _ := output.After(0)
	v.FirstErr = v.firstStderr(lines, false)
}

// firstStderr returns the anchor of the first line of standard error that is shown, "" if there is none. late is that of
// printer.
func (v *reading) firstStderr(lines []record.Line, late bool) string {
	i := slices.IndexFunc(lines, func(l record.Line) bool { return l.Stderr && has(l.Text, v.Find) })
	if i < 0 {
		return ""
	}
	return anchor(lines[i].N, late)
}

// anchor returns the name of a line on its page. late is that of printer.
func anchor(n int64, late bool) string {
	if late {
		return fmt.Sprint("t", n)
	}
	return fmt.Sprint("l", n)
}

// serveOtherRun shows what the history says of a run whose output is not here.
func (s *Server) serveOtherRun(w http.ResponseWriter, r *http.Request, name string, n int) {
	runs, found, err := s.Daemon.Runs(r.Context(), name, MostRuns)
	if err != nil {
		s.sorry(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
		return
	}
	i := slices.IndexFunc(runs, func(r view.Run) bool { return r.Run == int64(n) })
	switch {
	case !found:
		s.sorry(w, r, http.StatusNotFound, fmt.Sprintf("The job %.100q does not exist.", name))
		return
	case i < 0:
		s.sorry(w, r, http.StatusNotFound, fmt.Sprintf("The job %.100q has no run %.20q, or it is no longer kept.", name, r.URL.Query().Get("run")))
		return
	}
	stored, kept, err := s.Daemon.Stored(r.Context(), name, n)
	if err != nil {
		s.sorry(w, r, http.StatusServiceUnavailable, noAnswer(err).Error())
		return
	}
	zone := page.ZoneOf(r)
	body := struct {
		view.Run
		reading
		Lines template.HTML
		Found bool
	}{Run: runIn(zone, runs[i]), reading: s.readingOf(r, name, n), Found: kept}
	body.FirstErr = cmp.Or(body.firstStderr(stored.Head, false), body.firstStderr(stored.Tail, true))
	var b strings.Builder // takes all that is written
	line := printer{find: body.Find, zone: zone, clock: time.TimeOnly}
	line.print(&b, stored.Head)
	if stored.Omitted > 0 {
		fmt.Fprintf(&b, "<li class=\"gap\">%d bytes were left out</li>\n", stored.Omitted)
		line.late = true
		line.print(&b, stored.Tail)
	}
	body.Lines = template.HTML(b.String())
	s.page(w, r, http.StatusOK, job.Printable(name), "other-run", body)
}

// sections has the attempt of the latest line that is shown.
type sections struct{ attempt int }

// begins returns the number of the attempt whose section begins with a line, 0 if none does. That of the first has no
// heading.
func (s *sections) begins(l record.Line) int {
	if l.Attempt <= max(s.attempt, 1) {
		return 0
	}
	s.attempt = l.Attempt
	return l.Attempt
}

// printer writes lines of output as HTML.
type printer struct {
	sections
	zone    page.Zone
	clock   string // the layout of times
	late    bool   // the lines are the last of a run, and their numbers are not those in all of it
	find    string // what lines must have to be printed
	last    int64  // the number of the latest
	printed int    // how many
}

func (p *printer) print(w io.Writer, lines []record.Line) error {
	var b strings.Builder
	for _, l := range lines {
		id, value, class := anchor(l.N, p.late), fmt.Sprintf(` value="%d"`, l.N), ""
		if p.late {
			value, class = "", "late"
		} else {
			p.gap(&b, l.N)
			p.last = l.N
		}
		if !has(l.Text, p.find) {
			continue
		}
		if n := p.begins(l); n > 0 {
			fmt.Fprintf(&b, "<li class=\"gap\" id=\"attempt%d\"><b>Attempt %[1]d</b></li>\n", n)
		}
		if l.Stderr {
			class = strings.TrimSpace(class + " err")
		}
		if class != "" {
			class = ` class="` + class + `"`
		}
		at := ""
		if !l.At.IsZero() {
			at = fmt.Sprintf(`<a href="#%s" tabindex="-1">%s</a>`, id, p.zone.In(l.At).Format(p.clock))
		}
		fmt.Fprintf(&b, "<li%s id=\"%s\"%s>%s%s</li>\n", value, id, class, at, coloured(l.Text))
		p.printed++
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gap writes how many lines were left out before number n.
func (p *printer) gap(b *strings.Builder, n int64) {
	if left := n - p.last - 1; left > 0 {
		fmt.Fprintf(b, "<li class=\"gap\">%d lines were left out</li>\n", left)
	}
}

// missing writes how many lines of all were left out at the end.
func (p *printer) missing(w io.Writer, all int64) {
	var b strings.Builder
	p.gap(&b, all+1)
	io.WriteString(w, b.String())
}

// serveText answers with what a run has written, as it is.
func (s *Server) serveText(w http.ResponseWriter, r *http.Request) {
	run, output, ok := s.find(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"run-%d.txt\"", run.Run.Run))
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
