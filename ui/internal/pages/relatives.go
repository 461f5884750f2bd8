package pages

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// What the page of a job has of those before and after it.
const (
	relativeLimit = 20 // parents and as many children of the table
	graphNear     = 8  // and of the graph
	graphFar      = 4  // parents or children of each other job of the graph
	graphJobs     = 26 // in all
	graphDepth    = 3  // jobs in a row before or after it

	countedLimit = 10_000 // children that are counted by their states
	countedTime  = time.Second
)

// relatives are the jobs that run before and after a job, as far as its page shows them.
type relatives struct {
	parents, children []durable.Job // up to relativeLimit
	counts            durable.ParentCounts
	kids              tally // of all children

	near []near // the graph; the first is the job
	ties [][2]int
}

// near is a job in the graph.
type near struct {
	job           durable.Job
	before, after bool // there are more such jobs than are shown
}

// tally is how many jobs there are in each state.
type tally struct {
	states map[durable.State]int
	jobs   int
	more   bool // than were counted
}

// readRelatives reads what runs before and after a job.
func readRelatives(ctx context.Context, s *source.Source, j *durable.Job) (r *relatives, err error) {
	if !j.HasParents && !j.HasChildren {
		return nil, nil
	}
	r = &relatives{near: []near{{job: *j}}}
	if j.HasParents {
		r.counts, err = s.Jobs.CountParents(ctx, j.ID)
		if err != nil && !errors.Is(err, durable.ErrNotFound) { // it was removed meanwhile
			return nil, err
		}
		if r.parents, _, err = firstOf(s.Jobs.Parents(ctx, j.ID), relativeLimit); err != nil {
			return nil, err
		}
	}
	if j.HasChildren {
		if r.children, r.kids, err = countOf(s.Jobs.Children(ctx, j.ID)); err != nil {
			return nil, err
		}
	}
	at := map[durable.ID]int{j.ID: 0}
	if err := r.spread(ctx, at, true, r.parents, s.Jobs.Parents); err != nil {
		return nil, err
	}
	return r, r.spread(ctx, at, false, r.children, s.Jobs.Children)
}

// spread adds the jobs before, or after, the first of the graph, of which direct are known.
func (r *relatives) spread(ctx context.Context, at map[durable.ID]int, before bool, direct []durable.Job,
	next func(context.Context, durable.ID) iter.Seq2[durable.Job, error]) error {
	most := len(r.near) + graphJobs/2
	has := func(j *durable.Job) bool { return before && j.HasParents || !before && j.HasChildren }
	more := func(n int) {
		if before {
			r.near[n].before = true
		} else {
			r.near[n].after = true
		}
	}
	todo := []int{0}
	for range graphDepth {
		var found []int
		for _, n := range todo {
			id, limit, jobs, all := r.near[n].job.ID, graphFar, direct, true
			if n == 0 {
				limit = graphNear
			} else if !has(&r.near[n].job) {
				continue
			} else if len(r.near) >= most {
				more(n)
				continue
			} else {
				var err error
				if jobs, all, err = firstOf(next(ctx, id), limit); err != nil {
					return err
				}
			}
			if len(jobs) > limit {
				jobs, all = jobs[:limit], false
			}
			for _, j := range jobs {
				m, known := at[j.ID]
				if !known {
					if len(r.near) >= most {
						all = false
						continue
					}
					m = len(r.near)
					at[j.ID] = m
					r.near, found = append(r.near, near{job: j}), append(found, m)
				}
				if before {
					r.ties = append(r.ties, [2]int{m, n})
				} else {
					r.ties = append(r.ties, [2]int{n, m})
				}
			}
			if !all && n > 0 {
				more(n)
			}
		}
		todo = found
	}
	for _, n := range todo {
		if has(&r.near[n].job) {
			more(n)
		}
	}
	return nil
}

// firstOf returns the first jobs of a sequence, and whether these are all.
func firstOf(seq iter.Seq2[durable.Job, error], limit int) (jobs []durable.Job, all bool, err error) {
	for j, err := range seq {
		switch {
		case err != nil:
			return nil, false, err
		case len(jobs) == limit:
			return jobs, false, nil
		}
		j.Payload, j.Result = nil, nil
		jobs = append(jobs, j)
	}
	return jobs, true, nil
}

// countOf returns the first jobs of a sequence, and counts as many as can be in some time.
func countOf(seq iter.Seq2[durable.Job, error]) (jobs []durable.Job, t tally, err error) {
	t.states = make(map[durable.State]int)
	end := time.Now().Add(countedTime)
	for j, err := range seq {
		switch {
		case err != nil:
			return nil, t, err
		case t.jobs == countedLimit, t.jobs >= relativeLimit && time.Now().After(end):
			t.more = true
			return jobs, t, nil
		}
		t.states[j.State]++
		if t.jobs++; t.jobs <= relativeLimit {
			j.Payload, j.Result = nil, nil
			jobs = append(jobs, j)
		}
	}
	return jobs, t, nil
}

// relative is a job that runs before or after another.
type relative struct {
	Name, Path, Kind string
	Before           bool
	State, Class     string
}

// relativesPart is what the page of a job shows of them.
type relativesPart struct {
	Says  string // how many there are, and what has become of them
	Graph *figures.Graph
	Rows  []relative
	More  string // how many are not in the table
}

func (r *relatives) part(s *source.Source) *relativesPart {
	if r == nil {
		return nil
	}
	p := new(relativesPart)
	var says []string
	if c := r.counts; c.Total > 0 {
		text := fmt.Sprintf("%s of %s parents have ended", page.Count(c.Succeeded+c.Failed), page.Count(c.Total))
		if c.Failed > 0 {
			text += ", " + page.Count(c.Failed) + " of them failed"
		}
		says = append(says, text)
	}
	if r.kids.jobs > 0 {
		says = append(says, r.kids.String()+" after it")
	}
	p.Says = strings.Join(says, "; ")
	add := func(jobs []durable.Job, before bool) {
		for i := range jobs {
			row := newJobRow(s, &jobs[i], jobs[i].Updated)
			if jobs[i].Kind == "" { // it was deleted
				row.Path = ""
			}
			p.Rows = append(p.Rows, relative{row.Name, row.Path, row.Kind, before, row.State, row.Class})
		}
	}
	add(r.parents, true)
	add(r.children, false)
	if n := r.counts.Total + r.kids.jobs - len(p.Rows); n > 0 {
		if p.More = page.Count(n); r.kids.more {
			p.More += " or more"
		}
	}
	p.Graph = r.graph(s)
	return p
}

// String returns how many jobs there are.
func (t *tally) String() string {
	switch {
	case t.more:
		return page.Count(t.jobs) + " or more jobs"
	case t.jobs == 1:
		return "1 job"
	}
	return page.Count(t.jobs) + " jobs"
}

// rest returns the jobs that are not shown.
func (t *tally) rest(shown []durable.Job) *tally {
	rest := &tally{states: maps.Clone(t.states), jobs: t.jobs - len(shown), more: t.more}
	for _, j := range shown {
		rest.states[j.State]--
	}
	return rest
}

// graph draws them.
func (r *relatives) graph(s *source.Source) *figures.Graph {
	nodes := make([]figures.Node, len(r.near))
	for i := range r.near {
		n := &r.near[i]
		row := newJobRow(s, &n.job, n.job.Updated)
		node := figures.Node{Name: row.Name, Path: row.Path, Here: i == 0}
		node.Rows = []figures.Row{{Class: row.Class, Text: page.Sign(row.Class) + " " + row.State}}
		node.Says = row.Name + ", " + row.State
		switch {
		case node.Here:
			node.Says, node.Path = "This job: "+node.Says, ""
		case n.job.Kind == "":
			node.Says, node.Path = node.Says+", deleted", ""
		default:
			node.Says += ", of kind " + row.Kind
		}
		if n.before || n.after {
			text := map[bool]string{true: "← and more", false: "and more →"}[n.before]
			node.Rows = append(node.Rows, figures.Row{Text: text})
			node.Says += map[bool]string{true: "; there are more jobs before it", false: "; there are more jobs after it"}[n.before]
		}
		nodes[i] = node
	}
	var arrows []figures.Arrow
	for _, tie := range r.ties {
		arrows = append(arrows, figures.Arrow{From: tie[0], To: tie[1], Open: !r.near[tie[0]].job.State.Done()})
	}
	if n := min(len(r.parents), graphNear); r.counts.Total > n {
		arrows = append(arrows, figures.Arrow{From: len(nodes), Open: true})
		nodes = append(nodes, restOfParents(r.counts, r.parents[:n]))
	}
	if n := min(len(r.children), graphNear); r.kids.jobs > n {
		arrows = append(arrows, figures.Arrow{To: len(nodes), Open: !r.near[0].job.State.Done()})
		nodes = append(nodes, restNode(r.kids.rest(r.children[:n])))
	}
	return figures.NewGraph(nodes, arrows, 0)
}

// restNode returns a node for jobs that are not shown.
func restNode(t *tally) figures.Node {
	n := figures.Node{Name: "+ " + page.Count(t.jobs)}
	if t.more {
		n.Name += " or more"
	}
	says := []string{t.String() + " that are not shown"}
	byName := make(map[string]int)
	for _, state := range slices.Sorted(maps.Keys(t.states)) {
		if t.states[state] <= 0 {
			continue
		}
		name := admin.StateName(state)
		if _, seen := byName[name]; !seen {
			byName[name] = len(n.Rows)
			n.Rows = append(n.Rows, figures.Row{Class: address.StateClass(state)})
			says = append(says, "")
		}
		jobs := 0
		for other, c := range t.states {
			if admin.StateName(other) == name {
				jobs += c
			}
		}
		i := byName[name]
		n.Rows[i].Text = page.Sign(n.Rows[i].Class) + " " + page.Count(jobs) + " " + name
		says[i+1] = page.Count(jobs) + " " + name
	}
	n.Says = strings.Join(says, ", ")
	return n
}

// restOfParents returns a node for the parents that are not shown, of which the store counts those that have ended.
func restOfParents(c durable.ParentCounts, shown []durable.Job) figures.Node {
	for _, j := range shown {
		if c.Total--; j.State == durable.Succeeded {
			c.Succeeded--
		} else if j.State.Done() {
			c.Failed--
		}
	}
	c.Succeeded, c.Failed = max(c.Succeeded, 0), max(c.Failed, 0) // they were read one after the other
	n := figures.Node{Name: "+ " + page.Count(c.Total), Says: page.Count(c.Total) + " parents that are not shown"}
	for _, row := range []struct {
		jobs        int
		class, text string
	}{
		{c.Total - c.Succeeded - c.Failed, "", "open"}, {c.Succeeded, "good", "succeeded"}, {c.Failed, "bad", "failed"},
	} {
		if row.jobs > 0 {
			n.Rows = append(n.Rows, figures.Row{Class: row.class, Text: page.Sign(row.class) + " " + page.Count(row.jobs) + " " + row.text})
			n.Says += ", " + page.Count(row.jobs) + " " + row.text
		}
	}
	return n
}
