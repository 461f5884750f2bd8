package web

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/ui"
	"github.com/executor-go/executor/ui/page"
)

// rowsOfPage is how many jobs a page of the list has. It is documented.
const rowsOfPage = 100

// jobsPage is the first page: whether all is well, and the jobs.
type jobsPage struct {
	File     string
	Problem  bool
	Headline string
	Sum      string
	Needing  []needing // jobs that need somebody
	Others   int       // that need somebody, besides
	AllNeed  string    // the address of all that do
	Next     *view.Job
	Chart    template.HTML
	Drains   bool // this daemon

	Find       string
	Fields     map[string]string // of the search, besides what is searched for
	States     []choice
	Groups     []choice
	MoreGroups int                // that have no link
	groups     map[string]*choice // all of them
	Columns    []column
	Rows       []jobRow
	Width      int // how many columns there are
	Acts       bool

	All, Found      int
	From, To        int // of those that are found, counted from 1
	Before, Further string
	Still           string // names the order of the rows
	Again           string // the address of the page in a new order; "" if the order would be the same
}

// needing is a job that needs somebody, in the line above the list.
type needing struct{ Name, Path, Why string }

// choice is a link that selects some of the jobs.
type choice struct {
	Name, Path, Class string
	Jobs              int
	Current           bool
	Bad               int // of a group
}

// column is the head of a column, by which the rows are sorted.
type column struct {
	Name, Path, Class string
	Sorted            string // ascending, descending or ""
}

// jobRow is a job in the list, or the head of a group.
type jobRow struct {
	Group *choice
	*view.Job
	ID     string // of the row, which is the same in each update
	Bars   template.HTML
	Why    string // how often a flaky job failed
	Sign   string // the class of the state
	RunNow *link
}

// wanted is what the list is asked for.
type wanted struct {
	find, state, group, sort string
	page                     int
	still                    string
}

func wantedOf(q url.Values) wanted {
	w := wanted{find: q.Get("find"), state: q.Get("state"), group: q.Get("group"), sort: q.Get("sort"), still: q.Get("still")}
	w.page, _ = strconv.Atoi(q.Get("page"))
	w.page = max(w.page, 1)
	return w
}

// link returns the address of the list with one thing changed. Other pages of it begin anew.
func (w wanted) link(name, value string) string {
	q := url.Values{}
	for n, v := range map[string]string{"find": w.find, "state": w.state, "group": w.group, "sort": w.sort} {
		if n == name {
			v = value
		}
		if v != "" {
			q.Set(n, v)
		}
	}
	if name == "page" && value != "1" {
		q.Set("page", value)
	}
	if len(q) == 0 {
		return "./"
	}
	return "./?" + q.Encode()
}

// states returns the words by which a job is selected. One that is due is so for a moment: it waits.
func states(j *view.Job) []string {
	words := []string{string(j.State.State)}
	if j.State.State == catalog.StateDue {
		words[0] = string(catalog.StateWaiting)
	}
	if j.State.Then != "" {
		words = append(words, string(j.State.Then))
	}
	if t := string(j.Trouble()); t != "" && !slices.Contains(words, t) {
		words = append(words, t)
	}
	return words
}

// stateOrder is in which order the states are, that need somebody first.
var stateOrder = []string{
	string(view.TroubleFailing), string(view.TroubleFlaky), string(view.TroubleMissed), string(view.TroubleDead),
	string(view.TroubleNoMachine), string(catalog.StateRunning), string(catalog.StatePaused), string(catalog.StateCanceled),
	string(catalog.StateWaiting), string(catalog.StateEnded), string(catalog.StateElsewhere),
}

// stateNeeds selects all jobs that need somebody.
const stateNeeds = "needs you"

// groupOf returns the part of a name before the slash, "" if it has none.
func groupOf(name string) string {
	group, _, found := strings.Cut(name, "/")
	if !found {
		return ""
	}
	return group
}

// matches reports whether a job is among those that are asked for.
func (w wanted) matches(j *view.Job) bool {
	switch {
	case w.group != "" && groupOf(j.Job) != w.group:
		return false
	case w.state == stateNeeds && j.Trouble() == "", w.state != "" && w.state != stateNeeds && !slices.Contains(states(j), w.state):
		return false
	}
	for word := range strings.FieldsSeq(w.find) {
		if !has(j.Job, word) && !has(j.Command, word) &&
			!slices.ContainsFunc(j.Tags, func(tag string) bool { return has(tag, word) }) &&
			!slices.ContainsFunc(states(j), func(state string) bool { return has(state, word) }) {
			return false
		}
	}
	return true
}

// since returns since when a job has its trouble, the zero Time if that is not known.
func since(j *view.Job) time.Time {
	switch j.Trouble() {
	case view.TroubleFailing:
		return j.Health.Since
	case view.TroubleMissed:
		return j.Last.Started
	}
	return time.Time{}
}

// byTrouble sorts those first that need somebody: what fails since the latest time, then what has no such time.
func byTrouble(a, b *view.Job) int {
	well, wellToo := a.Trouble() == "", b.Trouble() == ""
	if well || wellToo {
		return cmp.Compare(boolInt(well), boolInt(wellToo))
	}
	return since(b).Compare(since(a))
}

// sortings are the orders besides that of trouble, by their names in an address.
var sortings = map[string]func(a, b *view.Job) int{
	"name":     func(a, b *view.Job) int { return 0 },
	"schedule": func(a, b *view.Job) int { return cmp.Compare(a.Schedule, b.Schedule) },
	"next": func(a, b *view.Job) int {
		if a.Next == nil || b.Next == nil { // those without a next time are the last
			return cmp.Compare(boolInt(a.Next == nil), boolInt(b.Next == nil))
		}
		return a.Next.Compare(*b.Next)
	},
	"failed": func(a, b *view.Job) int { return cmp.Compare(a.Health.Bad, b.Health.Bad) },
	"last": func(a, b *view.Job) int {
		ended := func(j *view.Job) (t time.Time) {
			if j.Last != nil {
				t = j.Last.Finished
			}
			return t
		}
		return ended(a).Compare(ended(b))
	},
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byNeed sorts those first that need somebody, see byTrouble, and the others by their groups; those without one first.
func byNeed(a, b *view.Job) int {
	if c := byTrouble(a, b); c != 0 || a.Trouble() != "" {
		return c
	}
	return strings.Compare(groupOf(a.Job), groupOf(b.Job))
}

// sorted sorts jobs as they are asked for, and by their names.
func (w wanted) sorted(jobs []*view.Job) {
	name, down := strings.CutPrefix(w.sort, "-")
	by := sortings[name]
	if by == nil {
		by, down = byNeed, false
	}
	slices.SortFunc(jobs, func(a, b *view.Job) int {
		c := by(a, b)
		if name == "name" {
			c = strings.Compare(a.Job, b.Job)
		}
		if down {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.Job, b.Job))
	})
}

// jobsBody shows the jobs.
func (s *Server) jobsBody(ctx context.Context, q url.Values) (string, template.HTML, error) {
	jobs, err := s.Daemon.Jobs(ctx)
	var day view.Day
	if err == nil {
		day, err = s.Daemon.Day(ctx)
	}
	if err != nil {
		return "", "", noAnswer(err)
	}
	zone := page.ZoneFrom(ctx)
	p := &jobsPage{File: s.Title, Acts: ui.MayAct(ctx), All: len(jobs), AllNeed: wanted{}.link("state", stateNeeds)}
	p.head(jobs, day, zone)
	if s.Durable != nil {
		own, _ := s.Durable.Node()
		p.Drains = own.Draining
	}
	w := wantedOf(q)
	p.choices(jobs, w)
	p.list(jobs, w, &s.orders, zone)
	main, err := rendered("jobs", p)
	return "Jobs", main, err
}

// mostNeeding is how many jobs that need somebody are named above the list.
const mostNeeding = 8

// head says whether all is well, what comes next, and what ran in the last day.
func (p *jobsPage) head(jobs []view.Job, day view.Day, zone page.Zone) {
	now := zone.Now()
	var need []*view.Job
	for i := range jobs {
		j := &jobs[i]
		if j.Trouble() != "" {
			need = append(need, j)
		}
		if j.Next != nil && j.Next.After(now) && (p.Next == nil || j.Next.Before(*p.Next.Next)) {
			p.Next = j
		}
	}
	p.Problem = len(need) > 0
	switch {
	case len(need) == 1:
		p.Headline = fmt.Sprintf("1 of %s needs you", jobCount(len(jobs)))
	case len(need) > 1:
		p.Headline = fmt.Sprintf("%s of %s need you", page.Count(len(need)), jobCount(len(jobs)))
	case len(jobs) == 0:
		p.Headline = "No jobs yet"
	default:
		p.Headline = "All well"
	}
	wanted{}.sorted(need)
	p.Others = max(len(need)-mostNeeding, 0)
	for _, j := range need[:len(need)-p.Others] {
		shown := jobIn(zone, *j)
		p.Needing = append(p.Needing, needing{j.Job, troubleAt(j), troubleOf(&shown, now)})
	}
	sum := day.Sum()
	p.Sum, p.Chart = page.RunsText(sum.OK, sum.Failed), page.Hours(hoursOf(day, now.Location()))
	ran := func(j view.Job) bool { return j.Last != nil }
	switch {
	case p.Sum != "" || len(jobs) == 0:
	case !slices.ContainsFunc(jobs, ran):
		p.Sum = "No run has ended yet"
	case day.Whole():
		p.Sum = "No run has ended in 24 h"
	}
}

// troubleAt returns where the trouble of a job is seen: the output of its last run, if that has failed.
func troubleAt(j *view.Job) string {
	if j.Trouble() == view.TroubleFailing && j.Last != nil && j.Last.Run > 0 {
		return runAt(j.Last)
	}
	return jobAt(j.Job)
}

// troubleOf returns in a few words since when a job needs somebody.
func troubleOf(j *view.Job, now time.Time) string {
	h := j.Health
	switch t := j.Trouble(); t {
	case "":
		return ""
	case view.TroubleFailing:
		switch {
		case h.InARow == 1:
			return "failed " + page.Since(h.Since, now)
		case h.Always:
			return fmt.Sprintf("all of the last %d", h.InARow)
		}
		return fmt.Sprintf("%d runs, since %s", h.InARow, page.Clock(h.Since, now.In(h.Since.Location())))
	case view.TroubleFlaky:
		return fmt.Sprintf("%d of the last %d", h.Bad, h.Of)
	default:
		return string(t)
	}
}

// hoursOf returns the hours of a day as they are drawn, each of which leads to its runs.
func hoursOf(day view.Day, in *time.Location) []page.Hour {
	var hours []page.Hour
	for _, h := range day.Hours {
		from := h.From.In(in)
		until := from.Add(time.Hour)
		path := "runs?" + url.Values{"from": {from.Format(time.RFC3339)}, "until": {until.Format(time.RFC3339)}}.Encode()
		hours = append(hours, page.Hour{From: from, Until: until, Good: h.OK, Bad: h.Failed, Path: path})
	}
	return hours
}

func jobCount(n int) string {
	if n == 1 {
		return "1 job"
	}
	return page.Count(n) + " jobs"
}

// headOf begins what stands for the head of a group among the names of rows.
const headOf = "\x00"

// rows returns the names of some jobs, which are sorted, with the heads of the groups of those that need nobody.
func (w wanted) rows(jobs []*view.Job) (names []string) {
	_, sorted := sortings[strings.TrimPrefix(w.sort, "-")]
	group := ""
	for _, j := range jobs {
		if of := groupOf(j.Job); !sorted && w.group == "" && j.Trouble() == "" && of != group {
			group = of
			names = append(names, headOf+group)
		}
		names = append(names, j.Job)
	}
	return names
}

// mostGroups is how many groups have a link.
const mostGroups = 40

// choices makes the links to the jobs of a state or a group.
func (p *jobsPage) choices(jobs []view.Job, w wanted) {
	byState, byGroup := make(map[string]int), make(map[string]*choice)
	for i := range jobs {
		j := &jobs[i]
		for _, state := range states(j) {
			byState[state]++
		}
		if name := groupOf(j.Job); name != "" {
			g := byGroup[name]
			if g == nil {
				g = &choice{Name: name, Path: w.link("group", name), Current: w.group == name}
				byGroup[name] = g
				p.Groups = append(p.Groups, choice{Name: name})
			}
			g.Jobs++
			if j.Trouble() != "" {
				g.Bad++
			}
		}
	}
	for i := range p.Groups {
		p.Groups[i] = *byGroup[p.Groups[i].Name]
	}
	p.groups = byGroup
	slices.SortFunc(p.Groups, func(a, b choice) int { return strings.Compare(a.Name, b.Name) })
	if p.MoreGroups = len(p.Groups) - mostGroups; p.MoreGroups > 0 {
		p.Groups = p.Groups[:mostGroups]
	}
	if len(p.Groups) > 0 {
		p.Groups = append([]choice{{Name: "all groups", Path: w.link("group", ""), Jobs: len(jobs), Current: w.group == ""}}, p.Groups...)
	}
	p.States = append(p.States, choice{Name: "jobs", Path: w.link("state", ""), Jobs: len(jobs), Current: w.state == ""})
	for _, state := range stateOrder {
		if n := byState[state]; n > 0 || w.state == state {
			p.States = append(p.States, choice{Name: state, Path: w.link("state", state), Class: stateClass(state), Jobs: n, Current: w.state == state})
		}
	}
}

// stateClass returns how a state of a job, or its trouble, is coloured.
func stateClass(word string) string {
	switch word {
	case string(view.TroubleFailing), string(view.TroubleMissed), string(view.TroubleDead), string(view.TroubleNoMachine):
		return "bad"
	case string(view.TroubleFlaky):
		return "other"
	case string(catalog.StateRunning):
		return "busy"
	case string(catalog.StatePaused), string(catalog.StateCanceled):
		return "held"
	}
	return ""
}

// list makes the rows of a page of the list.
func (p *jobsPage) list(jobs []view.Job, w wanted, orders *orders, zone page.Zone) {
	var found []*view.Job
	for i := range jobs {
		if w.matches(&jobs[i]) {
			found = append(found, &jobs[i])
		}
	}
	w.sorted(found)
	p.Find, p.Found = w.find, len(found)
	p.Fields = map[string]string{}
	for name, value := range map[string]string{"state": w.state, "group": w.group, "sort": w.sort} {
		if value != "" {
			p.Fields[name] = value
		}
	}
	number := min(w.page, max(len(found)-1, 0)/rowsOfPage+1)
	first := (number - 1) * rowsOfPage
	shown := found[first:min(first+rowsOfPage, len(found))]
	p.From, p.To = first+1, first+len(shown)
	if number > 1 {
		p.Before = w.link("page", strconv.Itoa(number-1))
	}
	if p.To < p.Found {
		p.Further = w.link("page", strconv.Itoa(number+1))
	}
	names := w.rows(shown)
	order, still := orders.keep(w.still, names)
	if p.Still = still; !slices.Equal(order, names) {
		p.Again = w.link("page", strconv.Itoa(number))
	}
	byName := make(map[string]*view.Job, len(jobs))
	for i := range jobs {
		byName[jobs[i].Job] = &jobs[i]
	}
	now := zone.Now()
	for _, name := range order {
		if group, is := strings.CutPrefix(name, headOf); is && p.groups[group] != nil {
			p.Rows = append(p.Rows, jobRow{Group: p.groups[group], ID: "g" + rowID(group)})
		} else if j := byName[name]; j != nil {
			shown := jobIn(zone, *j)
			p.Rows = append(p.Rows, newJobRow(&shown, p.Acts, now))
		}
	}
	for _, c := range []column{
		{"Job", "name", "", ""}, {"Schedule", "schedule", "l w", ""}, {"Now, next", "next", "l", ""},
		{"Last 30 runs", "-failed", "l", ""}, {"Last run", "-last", "l", ""},
	} {
		sort := c.Path
		switch c.Path = w.link("sort", sort); w.sort {
		case sort:
			c.Sorted, c.Path = direction(sort), w.link("sort", opposite(sort))
		case opposite(sort):
			c.Sorted, c.Path = direction(opposite(sort)), w.link("sort", "")
		}
		p.Columns = append(p.Columns, c)
	}
	if p.Width = len(p.Columns); p.Acts {
		p.Width++
	}
}

// opposite returns the name of the other direction of an order.
func opposite(sort string) string {
	if name, down := strings.CutPrefix(sort, "-"); down {
		return name
	}
	return "-" + sort
}

func direction(sort string) string {
	if strings.HasPrefix(sort, "-") {
		return "descending"
	}
	return "ascending"
}

func newJobRow(j *view.Job, acts bool, now time.Time) jobRow {
	r := jobRow{Job: j, ID: rowID(j.Job), Bars: page.Strip(barsOf(j.Job, j.Past)), Sign: stateClass(string(j.State.State))}
	if j.Trouble() == view.TroubleFlaky {
		r.Why = troubleOf(j, now)
	}
	if acts {
		for _, a := range actionsOf(j) {
			if a.Name == "Run now" {
				r.RunNow = &a
			}
		}
	}
	return r
}

// rowID returns an ID of HTML for a job, whatever is in its name.
func rowID(name string) string {
	h := fnv.New64a()
	h.Write([]byte(name))
	return "j" + strconv.FormatUint(h.Sum64(), 36)
}

// barsOf returns the ended runs of a job as bars, the latest first.
func barsOf(name string, runs []view.Past) []page.Bar {
	path := "run?" + url.Values{"job": {name}}.Encode() + "&run="
	bars := make([]page.Bar, 0, len(runs))
	for _, r := range slices.Backward(runs) {
		number := strconv.FormatInt(r.Run, 10)
		says := "run " + number + ": " + string(r.Outcome)
		if r.Took > 0 {
			says += " after " + page.Short(r.Took)
		}
		bars = append(bars, page.Bar{Took: r.Took, Class: class(r.Outcome), Says: says, Path: path + number, At: r.Finished})
	}
	return bars
}
