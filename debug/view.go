package debug

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// view is what a page shows. The zero view is the overview.
type view struct {
	name string // "", "pool" or "schedules"
	pool int    // the number
}

// viewOf returns the view of a path and a query, or of an "events" query.
func viewOf(name string, q url.Values) (view, error) {
	v := view{name: name}
	switch name {
	case "", "schedules":
		return v, nil
	case "pool":
		n, err := strconv.Atoi(q.Get("id"))
		if err != nil || n < 1 {
			return v, fmt.Errorf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))
		}
		v.pool = n
		return v, nil
	}
	return v, fmt.Errorf(`view is %.20q; it must be "", "pool" or "schedules"`, name)
}

// events returns the address of the live updates of v.
func (v view) events() string {
	q := url.Values{"view": {v.name}}
	if v.name == "pool" {
		q.Set("id", strconv.Itoa(v.pool))
	}
	return "events?" + q.Encode()
}

// page is what the templates show of a view.
type page struct {
	View   string
	Title  string
	Events string
	At     string
	Stamp  string // At for programs

	Attention []notice
	Pools     []poolRow
	More      int // pools that are not shown

	Pool      *poolPage
	Schedules *schedulesPage
	Happened  []eventRow
	Lost      int64
}

// poolRow is a pool in the overview.
type poolRow struct {
	Number           int
	Title, Stage     string
	Active, Workers  int
	Queued           string
	Full             bool
	Rate, Begun, Run string
	Rejected         string
	Queue            spark
}

// poolPage is a pool on its page.
type poolPage struct {
	poolRow
	Kind     string
	Facts    []fact
	Begun    string // "wait" or "late"
	Measures []measure
	Charts   []chart
	Workers  []workerRow
	MoreWork int // workers that are not shown
	Names    []nameRow
	MoreName int
}

type fact struct{ Name, Value, Hint string }

// measure is a row of quantiles.
type measure struct{ Name, N, P50, P90, P99, Most string }

type workerRow struct {
	Number    int
	Task, For string
	Long      bool
	Tasks     string
}

type nameRow struct{ Name, N, Begun50, Begun99, Run50, Run99 string }

type eventRow struct {
	Time, Title, Text string
	Number            int
}

// servePage answers with a page.
func (h *handler) servePage(w http.ResponseWriter, r *http.Request, v view) {
	p, err := h.looked().page(v)
	if err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusNotFound)
		return
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p); err != nil {
		http.Error(w, "debug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Write(b.Bytes()) // net/http leaves it out for HEAD
}

// fragment returns the part of a page that changes, rendered once for each look.
func (l *look) fragment(v view) ([]byte, error) {
	l.mu.Lock()
	known := l.rendered[v]
	l.mu.Unlock()
	if known != nil {
		return known, nil
	}
	p, err := l.page(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "main", p); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rendered == nil {
		l.rendered = make(map[view][]byte)
	}
	l.rendered[v] = b.Bytes()
	return b.Bytes(), nil
}

// page returns what a view shows.
func (l *look) page(v view) (*page, error) {
	p := &page{
		View: v.name, Events: v.events(), Lost: l.lost,
		At: l.at.Format("15:04:05 MST"), Stamp: l.at.UTC().Format(time.RFC3339),
	}
	switch v.name {
	case "":
		p.Title = "Overview"
		p.overview(l)
	case "schedules":
		p.Title = "Schedules"
		p.Schedules = newSchedulesPage(l)
	case "pool":
		look := l.pool(v.pool)
		if look == nil {
			return nil, fmt.Errorf("there is no pool %d; it may have ended", v.pool)
		}
		p.Title = title(look.Name, look.number)
		p.Pool = look.page(l.at)
		p.happened(l, v.pool)
	}
	return p, nil
}

// overview fills in all pools, those with most tasks that wait first.
func (p *page) overview(l *look) {
	for i := range l.pools {
		p.Attention = append(p.Attention, l.pools[i].attention(l.at)...)
	}
	slices.SortStableFunc(p.Attention, func(a, b notice) int { return cmp.Compare(b.weight, a.weight) })
	if n := len(p.Attention); n > noticeLimit {
		p.Attention = append(p.Attention[:noticeLimit], notice{Text: fmt.Sprintf("and %d more", n-noticeLimit)})
	}
	shown := make([]*poolLook, 0, len(l.pools))
	for i := range l.pools {
		shown = append(shown, &l.pools[i])
	}
	if len(shown) > rowLimit { // else in the order in which they were added, which does not change
		slices.SortStableFunc(shown, func(a, b *poolLook) int {
			return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(b.Active, a.Active))
		})
		p.More = len(shown) - rowLimit
		shown = shown[:rowLimit]
	}
	for _, s := range shown {
		p.Pools = append(p.Pools, s.row())
	}
	p.happened(l, 0)
}

// happened fills in the events of a pool, of all for 0.
func (p *page) happened(l *look, pool int) {
	for _, e := range l.events {
		if pool != 0 && e.Pool != pool {
			continue
		}
		if len(p.Happened) == eventLimit {
			break
		}
		text := e.Kind.String()
		if e.Count > 1 {
			text += " ×" + count(e.Count)
		}
		p.Happened = append(p.Happened, eventRow{e.Time.Format("15:04:05"), title(e.Name, e.Pool), text, e.Pool})
	}
}

const (
	noticeLimit = 8
	eventLimit  = 12
)

func (p *poolLook) row() poolRow {
	r := &p.recent
	begun, run := r.begun(p.Scheduled), r.run
	if begun.Count == 0 {
		begun = p.begun()
	}
	if run.Count == 0 {
		run = p.Run
	}
	return poolRow{
		Number: p.number, Title: title(p.Name, p.number), Stage: p.Stage.String(),
		Active: p.Active, Workers: p.Workers,
		Queued: count(p.Queued), Full: p.Blocked > 0 || p.Capacity > 0 && p.Queued >= p.Capacity,
		Rate: perSecond(r.rate), Begun: quantile(begun, 0.99), Run: quantile(run, 0.99),
		Rejected: count(p.Rejected), Queue: p.spark,
	}
}

func (p *poolLook) page(now time.Time) *poolPage {
	v := &poolPage{poolRow: p.row(), Kind: "pool", Begun: "Wait"}
	if p.Scheduled {
		v.Kind, v.Begun = "scheduled pool", "Late"
	}
	v.Facts = p.facts()
	r := &p.recent
	recently := "in the last minute"
	if d := now.Sub(r.since); d > 90*time.Second {
		recently = "in the last " + short(d)
	}
	v.Measures = []measure{
		measured(v.Begun+" "+recently, r.begun(p.Scheduled), p.Every), measured("Run "+recently, r.run, p.Every),
		measured(v.Begun+" since the start", p.begun(), p.Every), measured("Run since the start", p.Run, p.Every),
	}
	v.Charts = []chart{charted(v.Begun, p.begun()), charted("Run", p.Run)}
	v.Workers, v.MoreWork = p.crew(now)
	v.Names, v.MoreName = p.names()
	return v
}

func (p *poolLook) facts() []fact {
	limit := func(n int) string {
		if n < 0 {
			return "none"
		}
		return count(n)
	}
	var why []string
	for _, r := range reasons(p.Rejections) {
		if r.n > 0 {
			why = append(why, r.name+" "+count(r.n))
		}
	}
	return []fact{
		{"Active workers", fmt.Sprintf("%s of %s", count(p.Active), count(p.Workers)),
			fmt.Sprintf("core %d, limit %s, largest %d", p.Core, limit(p.Max), p.Largest)},
		{"Waiting", count(p.Queued), "limit " + limit(p.Capacity)},
		{"Blocked submitters", count(p.Blocked), ""},
		{"Succeeded", count(p.Succeeded), ""},
		{"Failed", count(p.Failed), fmt.Sprintf("panics %s", count(p.Panics))},
		{"Canceled", count(p.Canceled), ""},
		{"Rejected", count(p.Rejected), strings.Join(why, ", ")},
		{"Runs", count(p.Runs), perSecond(p.recent.rate) + " in a second"},
		{"Up", age(p.Uptime), ""},
	}
}

func measured(name string, s histogram.Snapshot, every int) measure {
	return measure{name, count(s.Count), quantile(s, 0.5), quantile(s, 0.9), quantile(s, 0.99), quantile(s, 1)}
}

// crew returns the rows of the workers: those that have had their task for long are the first.
func (p *poolLook) crew(now time.Time) (rows []workerRow, more int) {
	ws := slices.Clone(p.workers)
	slices.SortStableFunc(ws, func(a, b executor.WorkerInfo) int {
		long := p.isLong(a, now)
		switch {
		case long != p.isLong(b, now):
			return 1 - 2*b2i(long)
		case long:
			return a.Since.Compare(b.Since)
		case a.Active != b.Active && len(ws) > rowLimit:
			return 1 - 2*b2i(a.Active)
		}
		return cmp.Compare(a.Number, b.Number)
	})
	if len(ws) > rowLimit {
		more = len(ws) - rowLimit
		ws = ws[:rowLimit]
	}
	for _, w := range ws {
		row := workerRow{Number: w.Number, Task: "idle", Tasks: count(w.Tasks)}
		if !w.Since.IsZero() {
			row.For = age(now.Sub(w.Since))
		}
		if w.Active {
			row.Task, row.Long = task(w.Task), p.isLong(w, now)
		}
		rows = append(rows, row)
	}
	return rows, more
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *poolLook) names() (rows []nameRow, more int) {
	type named struct {
		name string
		f    executor.NameFigures
	}
	var all []named
	for name, f := range p.Names {
		all = append(all, named{task(name), f})
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.f.Run.Sum, a.f.Run.Sum), cmp.Compare(a.name, b.name))
	})
	if p.OtherNames.Run.Count > 0 {
		all = append(all, named{"(others)", p.OtherNames})
	}
	if len(all) > rowLimit {
		more = len(all) - rowLimit
		all = all[:rowLimit]
	}
	for _, n := range all {
		begun := n.f.Wait
		if p.Scheduled {
			begun = n.f.Late
		}
		rows = append(rows, nameRow{n.name, count(n.f.Run.Count), quantile(begun, 0.5), quantile(begun, 0.99),
			quantile(n.f.Run, 0.5), quantile(n.f.Run, 0.99)})
	}
	return rows, more
}

// notice is something that needs attention.
type notice struct {
	Number int // of the pool
	Title  string
	Text   string
	weight int
}

// longest is how long a worker may be on one task without being noticed.
const longest = 5 * time.Second

// isLong reports whether a worker has had its task for much longer than others take.
func (p *poolLook) isLong(w executor.WorkerInfo, now time.Time) bool {
	d := now.Sub(w.Since)
	return w.Active && !w.Since.IsZero() && d >= longest && (p.Run.Count < 20 || d > 4*p.Run.Quantile(0.99))
}

// attention returns what needs attention in a pool, by what can be seen now and what was
// seen in the last minute.
func (p *poolLook) attention(now time.Time) (ns []notice) {
	add := func(weight int, format string, args ...any) {
		ns = append(ns, notice{p.number, title(p.Name, p.number), fmt.Sprintf(format, args...), weight})
	}
	stuck := 0
	var first executor.WorkerInfo
	for _, w := range p.workers {
		if p.isLong(w, now) {
			if stuck++; stuck == 1 || w.Since.Before(first.Since) {
				first = w
			}
		}
	}
	if stuck > 0 {
		text := fmt.Sprintf("worker %d is on one task", first.Number)
		if first.Task != "" {
			text = fmt.Sprintf("worker %d is on %s", first.Number, printable(first.Task, 40))
		}
		if stuck > 1 {
			text += fmt.Sprintf(", and %d others are on theirs,", stuck-1)
		}
		add(60, "%s for %s at least", text, age(now.Sub(first.Since)))
	}
	r := &p.recent
	switch {
	case p.Blocked > 0:
		add(50, "submitters that wait for room: %s", count(p.Blocked))
	case p.Capacity > 0 && p.Queued >= p.Capacity:
		add(45, "the queue is full: %s wait", count(p.Queued))
	case p.Workers > 0 && p.Active == p.Workers && p.Queued > 100*p.Workers && !p.Scheduled:
		add(20, "all workers are busy, %s tasks wait", count(p.Queued))
	}
	if r.rejected > 0 {
		add(40, "rejected in the last minute: %s", count(r.rejected))
	}
	if r.panics > 0 {
		add(30, "panics in the last minute: %s", count(r.panics))
	}
	if late := r.late.Quantile(0.99); late >= time.Second {
		add(25, "runs are up to %s late", short(late))
	}
	if p.Stage != executor.StageRunning {
		add(10, "%s, %s tasks left", p.Stage, count(p.Queued+p.Active))
	}
	return ns
}
