package poolview

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/histogram"
	"github.com/executor-go/executor/ui/page"
)

// RowLimit is how many rows a table has at the most.
const RowLimit = 50

// Title returns the name of a pool, or its number if it has none.
func Title(name string, number int) string {
	if name == "" {
		return "pool " + strconv.Itoa(number)
	}
	return page.Printable(name, 60)
}

// Path returns the address of the page of a pool.
func Path(number int) string { return "pool?id=" + strconv.Itoa(number) }

// Task returns the name of a task.
func Task(name string) string {
	if name == "" {
		return "–"
	}
	return page.Printable(name, 60)
}

// Row is a pool in a list.
type Row struct {
	Number           int
	Title, Stage     string
	Active, Workers  int
	Queued           string
	Full             bool
	Rate, Begun, Run string
	Rejected         string
	Queue            Spark
}

// Rows returns those of the pools whose names have the text, at most most: of more pools those that have run most, which
// seldom changes.
func (l *Look) Rows(text string, most int) (rows []Row, more int) {
	shown := make([]*Pool, 0, len(l.Pools))
	for i := range l.Pools {
		if p := &l.Pools[i]; text == "" || strings.Contains(strings.ToLower(p.Name), strings.ToLower(text)) {
			shown = append(shown, p)
		}
	}
	if more = max(len(shown)-most, 0); more > 0 {
		slices.SortStableFunc(shown, func(a, b *Pool) int { return cmp.Compare(b.Runs, a.Runs) })
		shown = shown[:most]
		slices.SortFunc(shown, func(a, b *Pool) int { return cmp.Compare(a.Number, b.Number) }) // as they were added
	}
	for _, p := range shown {
		rows = append(rows, p.row())
	}
	return rows, more
}

func (p *Pool) row() Row {
	begun, run := p.recentBegun(), p.Recent.Run
	if begun.Count == 0 {
		begun = p.begun()
	}
	if run.Count == 0 {
		run = p.Run
	}
	return Row{
		Number: p.Number, Title: Title(p.Name, p.Number), Stage: Stage(p.Stats),
		Active: p.Active, Workers: p.Workers,
		Queued: page.Count(p.Queued), Full: p.Blocked > 0 || p.Capacity > 0 && p.Queued >= p.Capacity,
		Rate: page.PerSecond(p.Recent.Rate), Begun: quantile(begun, 0.99), Run: quantile(run, 0.99),
		Rejected: page.Count(p.Rejected), Queue: p.Spark,
	}
}

// quantile returns a quantile of s, a dash if s is empty.
func quantile(s histogram.Snapshot, q float64) string {
	if s.Count == 0 {
		return "–"
	}
	return page.Short(s.Quantile(q))
}

// Happened is something that has happened to a pool.
type Happened struct{ Time, Title, Text, Path string }

const eventLimit = 12

// Happened returns the latest events of a pool, of all for 0.
func (l *Look) Happened(pool int) (rows []Happened) {
	for _, e := range l.Events {
		if pool != 0 && e.Pool != pool {
			continue
		}
		if len(rows) == eventLimit {
			break
		}
		text := e.Kind
		if e.Count > 1 {
			text += " ×" + page.Count(e.Count)
		}
		rows = append(rows, Happened{e.Time.Format("15:04:05"), Title(e.Name, e.Pool), text, Path(e.Pool)})
	}
	return rows
}

// Page is what the page of a pool shows.
type Page struct {
	Row
	Kind     string
	Facts    []Fact
	Begun    string // "Wait" or "Late"
	Measures []Measure
	Charts   []Chart
	Crew     []Worker
	MoreCrew int // workers that are not shown
	Names    []Name
	MoreName int
	Events   []Happened
}

// Fact is a figure with what it means.
type Fact struct{ Name, Value, Hint string }

// Measure is a row of quantiles.
type Measure struct{ Name, N, P50, P90, P99, Most string }

// Worker is a worker of a pool.
type Worker struct {
	Number    int
	Task, For string
	Long      bool
	Tasks     string
}

// Name has the figures of the tasks with one name.
type Name struct{ Name, N, Begun50, Begun99, Run50, Run99 string }

// Page returns what the page of a pool shows, nil if there is none with that number.
func (l *Look) Page(number int) *Page {
	p := l.Pool(number)
	if p == nil {
		return nil
	}
	v := &Page{Row: p.row(), Kind: "pool", Begun: "Wait", Facts: p.facts(), Events: l.Happened(number)}
	if p.Scheduled {
		v.Kind, v.Begun = "scheduled pool", "Late"
	}
	recently := "in the last minute"
	if d := l.At.Sub(p.Recent.Since); d > 90*time.Second {
		recently = "in the last " + page.Short(d)
	}
	v.Measures = []Measure{
		measured(v.Begun+" "+recently, p.recentBegun()), measured("Run "+recently, p.Recent.Run),
		measured(v.Begun+" since the start", p.begun()), measured("Run since the start", p.Run),
	}
	v.Charts = []Chart{charted(v.Begun, p.begun()), charted("Run", p.Run)}
	v.Crew, v.MoreCrew = p.crew(l.At)
	v.Names, v.MoreName = p.names()
	return v
}

// Reason is how many tasks were rejected for one reason.
type Reason struct {
	Name string
	N    int64
}

// Reasons returns the rejections by reason.
func Reasons(s executor.Stats) []Reason {
	r := s.Rejections
	return []Reason{
		{"saturated", r.Saturated}, {"shutdown", r.Shutdown}, {"expired", r.Expired}, {"evicted", r.Evicted},
		{"panicked", r.Panicked},
	}
}

func (p *Pool) facts() []Fact {
	limit := func(n int) string {
		if n < 0 {
			return "no limit"
		}
		return "limit " + page.Count(n)
	}
	var why []string
	for _, r := range Reasons(p.Stats) {
		if r.N > 0 {
			why = append(why, r.Name+" "+page.Count(r.N))
		}
	}
	return []Fact{
		{"Active workers", fmt.Sprintf("%s of %s", page.Count(p.Active), page.Count(p.Workers)),
			fmt.Sprintf("%d kept, %s, largest %d", p.Kept, limit(p.Max), p.Largest)},
		{"Waiting", page.Count(p.Queued), limit(p.Capacity)},
		{"Blocked submitters", page.Count(p.Blocked), ""},
		{"Succeeded", page.Count(p.Succeeded), ""},
		{"Failed", page.Count(p.Failed), "panics " + page.Count(p.Panics)},
		{"Canceled", page.Count(p.Canceled), ""},
		{"Rejected", page.Count(p.Rejected), strings.Join(why, ", ")},
		{"Runs", page.Count(p.Runs), page.PerSecond(p.Recent.Rate) + " per second, failures " + page.Count(p.Failures)},
		{"Up", page.Age(p.Uptime), ""},
	}
}

func measured(name string, s histogram.Snapshot) Measure {
	return Measure{name, page.Count(s.Count), quantile(s, 0.5), quantile(s, 0.9), quantile(s, 0.99), quantile(s, 1)}
}

// crew returns the rows of the workers: those that have had their task for long are the first.
func (p *Pool) crew(now time.Time) (rows []Worker, more int) {
	order := func(long, active bool) int {
		switch {
		case long:
			return 0
		case active || len(p.Crew) <= RowLimit:
			return 1
		}
		return 2
	}
	ws := slices.Clone(p.Crew)
	slices.SortStableFunc(ws, func(a, b executor.WorkerInfo) int {
		longA, longB := p.isLong(a, now), p.isLong(b, now)
		if longA && longB {
			return a.Since.Compare(b.Since)
		}
		return cmp.Or(cmp.Compare(order(longA, a.Active), order(longB, b.Active)), cmp.Compare(a.Number, b.Number))
	})
	if len(ws) > RowLimit {
		more = len(ws) - RowLimit
		ws = ws[:RowLimit]
	}
	for _, w := range ws {
		row := Worker{Number: w.Number, Task: "idle", Tasks: page.Count(w.Tasks)}
		if !w.Since.IsZero() {
			row.For = page.Age(now.Sub(w.Since))
		}
		if w.Active {
			row.Task, row.Long = Task(w.Task), p.isLong(w, now)
		}
		rows = append(rows, row)
	}
	return rows, more
}

func (p *Pool) names() (rows []Name, more int) {
	type named struct {
		name string
		f    executor.NameFigures
	}
	var all []named
	for name, f := range p.Names {
		all = append(all, named{Task(name), f})
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.f.Run.Sum, a.f.Run.Sum), cmp.Compare(a.name, b.name))
	})
	if p.OtherNames.Run.Count > 0 {
		all = append(all, named{"(others)", p.OtherNames})
	}
	if len(all) > RowLimit {
		more = len(all) - RowLimit
		all = all[:RowLimit]
	}
	for _, n := range all {
		begun := n.f.Wait
		if p.Scheduled {
			begun = n.f.Late
		}
		rows = append(rows, Name{n.name, page.Count(n.f.Run.Count), quantile(begun, 0.5), quantile(begun, 0.99),
			quantile(n.f.Run, 0.5), quantile(n.f.Run, 0.99)})
	}
	return rows, more
}

// Stage returns in which stage of its life a pool is, or that it is paused.
func Stage(s executor.Stats) string {
	if s.Paused && s.Stage == executor.StageRunning {
		return "paused"
	}
	return s.Stage.String()
}

// StageClass returns how the name of a stage is coloured.
func StageClass(stage string) string {
	if stage == executor.StageRunning.String() {
		return "busy"
	}
	return "held"
}
