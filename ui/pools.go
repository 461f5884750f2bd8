package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
)

// poolsPage is what the list of pools shows.
type poolsPage struct {
	Search string
	Pools  []poolRow
	More   int // pools that are not shown
	Events []eventRow
	At     string
}

// poolRow is a pool in a list.
type poolRow struct {
	Number           int
	Title, Stage     string
	Active, Workers  int
	Queued           string
	Full             bool
	Rate, Begun, Run string
	Rejected         string
}

func parsePools(v *view, q url.Values) (err error) {
	v.search, err = limited(q, "q", 200)
	return err
}

func poolsBody(_ context.Context, u *UI, v view) (string, any, error) {
	l := u.looked()
	p := &poolsPage{Search: v.search, At: l.at.Format("15:04:05 MST"), Events: eventRows(l.events, 0)}
	p.Pools, p.More = poolRows(l.pools, v.search, rowLimit)
	return "Pools", p, nil
}

// poolRows returns at most most rows: of more pools those with most tasks that wait.
func poolRows(pools []poolLook, search string, most int) (rows []poolRow, more int) {
	shown := make([]*poolLook, 0, len(pools))
	for i := range pools {
		if search == "" || strings.Contains(strings.ToLower(pools[i].Name), strings.ToLower(search)) {
			shown = append(shown, &pools[i])
		}
	}
	if len(shown) > most { // else in the order in which they were added, which does not change
		slices.SortStableFunc(shown, func(a, b *poolLook) int {
			return cmp.Or(cmp.Compare(b.Queued, a.Queued), cmp.Compare(b.Active, a.Active))
		})
		more = len(shown) - most
		shown = shown[:most]
	}
	for _, s := range shown {
		rows = append(rows, s.row())
	}
	return rows, more
}

func (p *poolLook) row() poolRow {
	begun, run := p.recentBegun(), p.recent.run
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
		Rate: perSecond(p.recent.rate), Begun: quantile(begun, 0.99), Run: quantile(run, 0.99),
		Rejected: count(p.Rejected),
	}
}

// eventRow is something that has happened to a pool.
type eventRow struct {
	Time, Title, Text, Path string
}

const eventLimit = 12

// eventRows returns the latest events of a pool, of all for 0.
func eventRows(events []executor.Event, pool int) (rows []eventRow) {
	for _, e := range events {
		if pool != 0 && e.Pool != pool {
			continue
		}
		if len(rows) == eventLimit {
			break
		}
		text := e.Kind.String()
		if e.Count > 1 {
			text += " ×" + count(e.Count)
		}
		rows = append(rows, eventRow{e.Time.Format("15:04:05"), title(e.Name, e.Pool), text, poolPath(e.Pool)})
	}
	return rows
}

// poolPage is what the page of a pool shows.
type poolPage struct {
	poolRow
	Kind     string
	Facts    []fact
	Begun    string // "Wait" or "Late"
	Measures []measure
	Charts   []chart
	Crew     []workerRow
	MoreCrew int // workers that are not shown
	Names    []nameRow
	MoreName int
	Events   []eventRow
	At       string
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

func parsePool(v *view, q url.Values) error {
	n, err := strconv.Atoi(q.Get("id"))
	if err != nil || n < 1 {
		return &badRequest{fmt.Sprintf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))}
	}
	v.number = n
	return nil
}

func poolBody(_ context.Context, u *UI, v view) (string, any, error) {
	l := u.looked()
	p := l.pool(v.number)
	if p == nil {
		return "", nil, &gone{fmt.Sprintf("there is no pool %d; it may have ended", v.number)}
	}
	page := p.page(l.at)
	page.Events = eventRows(l.events, v.number)
	page.At = l.at.Format("15:04:05 MST")
	return page.Title, page, nil
}

func (p *poolLook) page(now time.Time) *poolPage {
	v := &poolPage{poolRow: p.row(), Kind: "pool", Begun: "Wait"}
	if p.Scheduled {
		v.Kind, v.Begun = "scheduled pool", "Late"
	}
	v.Facts = p.facts()
	recently := "in the last minute"
	if d := now.Sub(p.recent.since); d > 90*time.Second {
		recently = "in the last " + short(d)
	}
	v.Measures = []measure{
		measured(v.Begun+" "+recently, p.recentBegun()), measured("Run "+recently, p.recent.run),
		measured(v.Begun+" since the start", p.begun()), measured("Run since the start", p.Run),
	}
	v.Charts = []chart{charted(v.Begun, p.begun()), charted("Run", p.Run)}
	v.Crew, v.MoreCrew = p.crew(now)
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
	r := p.Rejections
	var why []string
	for _, reason := range []struct {
		name string
		n    int64
	}{
		{"saturated", r.Saturated}, {"shutdown", r.Shutdown}, {"expired", r.Expired}, {"evicted", r.Evicted},
		{"panicked", r.Panicked},
	} {
		if reason.n > 0 {
			why = append(why, reason.name+" "+count(reason.n))
		}
	}
	return []fact{
		{"Active workers", fmt.Sprintf("%s of %s", count(p.Active), count(p.Workers)),
			fmt.Sprintf("core %d, limit %s, largest %d", p.Core, limit(p.Max), p.Largest)},
		{"Waiting", count(p.Queued), "limit " + limit(p.Capacity)},
		{"Blocked submitters", count(p.Blocked), ""},
		{"Succeeded", count(p.Succeeded), ""},
		{"Failed", count(p.Failed), "panics " + count(p.Panics)},
		{"Canceled", count(p.Canceled), ""},
		{"Rejected", count(p.Rejected), strings.Join(why, ", ")},
		{"Runs", count(p.Runs), perSecond(p.recent.rate) + " in a second"},
		{"Up", age(p.Uptime), ""},
	}
}

func measured(name string, s histogram.Snapshot) measure {
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
