package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// A Record is what handlers and users have written down, and the limits that were set.
type Record struct {
	Starts []Start
	Ends   []End
	Steps  []Step
	Edges  []Edge
	Drains []Drain

	Accepted  []durable.ID // what the store has said to have; the same job may be there more than once
	TakenBack []durable.ID // what was added in a transaction that was rolled back
	Touched   []durable.ID // what somebody has canceled or deleted, or may have
	Dies      []durable.ID // what fails for good
	Wishes    []Wish

	PerPartition map[string]int           // how many of each partition of a kind may run at the same time
	Global       map[string]int           // how many of a kind may run at the same time
	Rates        map[string]executor.Rate // how often jobs of a kind may begin
	Results      bool                     // the result of a job without steps is one more than the greatest of its parents'
	Tagged       bool                     // each job has the tag of its kind, see Tag
}

// Tag returns the tag of jobs of a kind.
func Tag(kind string) string { return "of-" + kind }

// End is what a handler writes down just before it returns.
type End struct {
	Job        durable.ID
	Epoch      int64
	Occurrence time.Time
	Ended      time.Time
	Failed     bool `json:",omitempty"` // it returns an error
}

// A Wish is a call for a job of kind Again, which was accepted: a run of it that begins later must follow.
type Wish struct {
	Key string
	At  time.Time // just before the call
}

// Step is what the function of a step writes down just before it returns its value, which is the name of the step that
// comes so many after the first: see StepName.
type Step struct {
	Job   durable.ID
	Epoch int64
	Step  int
	Value int
}

// StepName returns the name of a step. A job with steps has them in their order, from 0 on, and its result is the sum
// of their values.
func StepName(i int) string { return fmt.Sprint("step ", i) }

// Edge is what those who add a job with parents write down before they do.
type Edge struct {
	Child   durable.ID
	Parents []durable.ID
	Need    int  `json:",omitempty"` // see durable.AtLeast; 0 for all
	Anyway  bool `json:",omitempty"` // see durable.EvenIfFailed
}

// Drain is what those who drain a node write down: from when on it was seen to drain, and to have no job, and when it
// was let take jobs again.
type Drain struct {
	Node     string
	From, To time.Time
}

// A right is one to run an occurrence of a job.
type right struct {
	job        durable.ID
	epoch      int64
	occurrence int64 // in nanoseconds
}

// A span is when a handler ran by a right that its node had all the time.
type span struct{ from, to time.Time }

// judgement is what a check knows of all jobs.
type judgement struct {
	*Verdict
	record  *Record
	jobs    map[durable.ID]*job
	order   []durable.ID // of jobs
	begun   map[durable.ID][]Start
	ended   map[right]End
	steps   map[durable.ID][]Step
	spans   map[partition][]span
	rated   map[string][]begin
	touched map[durable.ID]bool
	dies    map[durable.ID]bool
	spared  map[durable.ID]bool // too many of its parents have failed
}

type partition struct{ kind, name string }

// A begin is one of a job that was added at some time.
type begin struct{ added, at time.Time }

func set(ids []durable.ID) map[durable.ID]bool {
	all := make(map[durable.ID]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all
}

func newJudgement(r *Record) *judgement {
	g := &judgement{Verdict: new(Verdict), record: r, jobs: make(map[durable.ID]*job), begun: make(map[durable.ID][]Start),
		ended: make(map[right]End), steps: make(map[durable.ID][]Step), spans: make(map[partition][]span),
		rated: make(map[string][]begin), touched: set(r.Touched), dies: set(r.Dies), spared: make(map[durable.ID]bool)}
	drains := make(map[string][]Drain)
	for _, d := range r.Drains {
		drains[d.Node] = append(drains[d.Node], d)
	}
	g.Drained = len(r.Drains)
	for _, s := range r.Starts {
		g.begun[s.Job] = append(g.begun[s.Job], s)
		g.place(s, drains[s.Node])
	}
	for _, e := range r.Ends {
		g.ended[right{e.Job, e.Epoch, e.Occurrence.UnixNano()}] = e
	}
	for _, s := range r.Steps {
		g.steps[s.Job] = append(g.steps[s.Job], s)
	}
	return g
}

// place finds what is wrong with the node of a begin, which had drained at these times.
func (g *judgement) place(s Start, drains []Drain) {
	if s.Queue != "" {
		g.Queued++
	}
	if s.Serves != nil && !slices.Contains(s.Serves, s.Queue) {
		g.fault("job %s of queue %q was begun by node %s, which serves %q", s.Job, s.Queue, s.Node, s.Serves)
	}
	for _, d := range drains {
		if s.At.After(d.From) && s.At.Before(d.To) {
			g.fault("job %s was begun by node %s %v after that had drained", s.Job, s.Node, s.At.Sub(d.From))
		}
	}
}

// look notes what the rules beyond one job need of it.
func (g *judgement) look(j *job, runs []durable.Run) {
	starts := make(map[right]time.Time)
	_, rated := g.record.Rates[j.kind]
	for _, s := range g.begun[j.id] {
		starts[right{j.id, s.Epoch, s.Occurrence.UnixNano()}] = s.At
		if rated {
			g.rated[j.kind] = append(g.rated[j.kind], begin{j.created, s.At})
		}
	}
	_, limited := g.record.PerPartition[j.kind]
	_, global := g.record.Global[j.kind]
	limited = limited && j.partition != "" || global
	for _, run := range runs {
		of := right{j.id, run.Epoch, run.Occurrence.UnixNano()}
		from, began := starts[of]
		end, ended := g.ended[of]
		to := end.Ended
		if !ended {
			to = from
		}
		if run.Verdict == durable.RunLost && (!ended || to.After(run.Finished)) {
			to = run.Finished // the node had the right until then, and a stopped process may have ended it later
		}
		if began && limited && run.Verdict != durable.RunSkipped {
			of := partition{j.kind, j.partition}
			if global {
				of.name = "" // all of them are one
			}
			g.spans[of] = append(g.spans[of], span{from, to})
		}
		if run.Verdict == durable.RunSucceeded || run.Verdict == durable.RunFailed && to.After(j.over) {
			j.over = to
		}
	}
}

// judgeSteps finds steps that were done again after a result of them was kept. A run reads what those before it have
// kept, and a step returns when its value is kept. So nothing is done by a run that comes after one, by their epochs,
// which has done a later step; and nothing twice by one run.
func (g *judgement) judgeSteps(j *job, kept []durable.KeptStep) {
	j.stepped = true
	lines := g.steps[j.id]
	if len(lines) == 0 {
		return
	}
	values := make(map[string][]int)
	for i, a := range lines {
		values[StepName(a.Step)] = append(values[StepName(a.Step)], a.Value)
		for k, b := range lines {
			switch {
			case i < k && a.Step == b.Step && a.Epoch == b.Epoch:
				g.fault("job %s: step %d was done twice by epoch %d", j.id, a.Step, a.Epoch)
			case a.Step < b.Step && a.Epoch > b.Epoch:
				g.fault("job %s: step %d was done again by epoch %d, and was kept by epoch %d, which has done step %d", j.id,
					a.Step, a.Epoch, b.Epoch, b.Step)
			}
		}
	}
	sum := 0
	for _, s := range kept {
		if s.Signal || values[s.Name] == nil && !strings.HasPrefix(s.Name, "step ") {
			continue // nobody writes it down
		}
		var v int
		if err := json.Unmarshal(s.Result, &v); err != nil || !slices.Contains(values[s.Name], v) {
			g.fault("job %s: %s has kept %s, of %d", j.id, s.Name, s.Result, values[s.Name])
		}
		delete(values, s.Name)
		sum += v
		g.Kept++
	}
	if j.state == durable.Succeeded && (j.result != sum || len(values) > 0) {
		g.fault("job %s has the result %d, want %d; steps that were not kept: %v", j.id, j.result, sum, values)
	}
}

// judgeAll finds what is wrong with those of which the store has no run or step, and with jobs together.
func (g *judgement) judgeAll() {
	g.judgeLedger()
	for _, id := range g.order {
		if j := g.jobs[id]; !j.ran {
			g.ran(j, nil)
		}
		if j := g.jobs[id]; !j.stepped {
			g.judgeSteps(j, nil)
		}
	}
	for _, e := range g.record.Edges {
		g.judgeParents(e)
	}
	for _, id := range g.order {
		g.judgeEnd(g.jobs[id])
	}
	for of, spans := range g.spans {
		g.most(of, spans)
	}
	for kind, begins := range g.rated {
		g.rate(kind, begins)
	}
}

// most finds the most spans at the same time. Of two at one moment, the end comes first.
func (g *judgement) most(of partition, spans []span) {
	type edge struct {
		at   time.Time
		more int
	}
	var edges []edge
	for _, s := range spans {
		if s.to.After(s.from) {
			edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.more, b.more)) })
	n, limit := 0, g.record.PerPartition[of.kind]
	if of.name == "" {
		limit = g.record.Global[of.kind]
	}
	for _, e := range edges {
		n += e.more
		g.Most = max(g.Most, n)
		if n > limit && e.more > 0 {
			g.fault("%d of partition %q of kind %q ran at %v, of at most %d", n, of.name, of.kind, e.at, limit)
		}
	}
}

// rate finds windows in which too many have begun. What was added after a moment has taken its tokens after that: so
// until any time it has begun no more often than a full bucket then, and what runs into it until that time, allow;
// however late a handler is called.
func (g *judgement) rate(kind string, begins []begin) {
	rate := g.record.Rates[kind]
	g.Rated += len(begins)
	slices.SortFunc(begins, func(a, b begin) int { return a.at.Compare(b.at) })
	var windows []time.Time
	for _, b := range begins {
		windows = append(windows, b.added)
	}
	slices.SortFunc(windows, time.Time.Compare)
	for i := 0; i < len(windows); i += 1 + len(windows)/1000 {
		n := 0
		for _, b := range begins {
			if b.added.Before(windows[i]) {
				continue
			}
			n++
			d := b.at.Sub(windows[i])
			if most := float64(rate.Burst) + rate.PerSecond*d.Seconds(); float64(n) > most {
				g.fault("%d of kind %q have begun within %v of %v, of at most %.1f", n, kind, d, windows[i], most)
				break
			}
		}
	}
}
