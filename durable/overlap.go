package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/internal/node"
	"github.com/executor-go/executor/durable/store"
)

// An Overlap is a policy for occurrences of a schedule that fall due while an earlier run of it has not ended. See
// OnOverlap.
type Overlap struct{ text string }

// The words of an Overlap's text.
const (
	skipRun    = "skip"
	queueRuns  = "queue"
	allowRuns  = "allow"
	replaceRun = "replace"
)

// maxOverlap is the most runs that may wait or be in progress: each time of the schedule looks at all of them.
const maxOverlap = 100

// OverlapSkip leaves out the occurrence.
func OverlapSkip() Overlap { return Overlap{skipRun} }

// OverlapQueue runs the occurrences one after the other. Up to n of them wait, 1 to 100; beyond that an occurrence is
// left out.
func OverlapQueue(n int) Overlap { return Overlap{queueRuns + " " + strconv.Itoa(n)} }

// OverlapAllow lets up to n runs be in progress at the same time, 1 to 100; beyond that an occurrence is left out.
func OverlapAllow(n int) Overlap { return Overlap{allowRuns + " " + strconv.Itoa(n)} }

// OverlapReplace cancels the earlier run. The new run begins when that has ended.
func OverlapReplace() Overlap { return Overlap{replaceRun} }

// OnOverlap makes each run of a periodic job a job of its own, so that runs have states, attempts, results and outputs
// of their own, can be canceled and awaited one by one, and may overlap as o says. Without OnOverlap a periodic job is
// one job that is due again after each run, and its runs never overlap.
//
// The nth run has the key of the schedule, "#" and n; it has the kind, payload and options of the schedule, and its
// Anchor is the occurrence for which it runs. It is kept as any job that runs once is. Limits and rates of the kind bound
// the runs, not the schedule. What is done to the schedule, as by Pause or Cancel, changes no run that exists. The
// history of the schedule says in the Label of each entry what became of the occurrence: "run 7", "run 7, which replaces
// 1 run" or "left out, not ended: 1 run".
//
// The schedule is of the kind ScheduleKind, which each node with a handler handles, whatever the kinds: registering it with another Kind changes which
// jobs it adds. OnMissed has its usual meaning, except that SkipOverlap is an error; CatchUp adds a run for each
// occurrence. A fixed delay is an error, since it counts from the end of a run. The key may have up to MaxKey - 20
// bytes. The store must have the methods of store.Graph.
func OnOverlap(o Overlap) Option {
	return func(j *addition) error {
		if _, err := parseOverlap(o.text); err != nil {
			return err
		}
		j.overlap = o.text
		return nil
	}
}

// ScheduleKind is the kind of schedules with OnOverlap.
const ScheduleKind = "durable/schedule"

// mostNumber is how many bytes "#" and the number of a run may have.
const mostNumber = 20

// overlap is the meaning of the text of an Overlap.
type overlap struct {
	word string
	n    int // of queue and allow
}

func parseOverlap(text string) (overlap, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch o := (overlap{word: word}); word {
	case skipRun, replaceRun:
		return o, nil
	case queueRuns, allowRuns:
		var err error
		if o.n, err = strconv.Atoi(rest); err != nil || o.n < 1 || o.n > maxOverlap {
			return o, invalid("overlap %q: the number must be 1 to %d", text, maxOverlap)
		}
		return o, nil
	}
	return overlap{}, invalid("overlap %q: it must be made by OverlapSkip, OverlapQueue, OverlapAllow or OverlapReplace", text)
}

// A firing is the payload of a schedule with OnOverlap: what it adds.
type firing struct {
	Kind    string `json:"kind"`
	Overlap string `json:"overlap"`
	Payload []byte `json:"payload"` // as it is stored for the kind
}

// A progress is the result of a schedule with OnOverlap: how far it has come. It is stored with the next time of the
// schedule, in one step. So a node that fires again what another had fired before it was lost gives the run the same
// number, and with it the same key: the store has it already.
type progress struct {
	Number int64 `json:"number"` // of the latest run
	Open   []ID  `json:"open"`   // the runs that had not ended when the latest was added, and that itself
}

// spawns makes an addition with OnOverlap the schedule that adds its runs, or returns what is wrong with it.
func (j *addition) spawns(jobs *Jobs) error {
	switch {
	case j.overlap == "":
		return nil
	case j.Schedule == store.Once:
		return invalid("OnOverlap does not apply to a job that runs once; leave it out")
	case strings.HasPrefix(j.Schedule, "delay "):
		return invalid("OnOverlap does not apply to a fixed delay, which counts from the end of a run; use AtFixedRate or On")
	case j.Missed == SkipOverlap().text:
		return invalid("OnOverlap: OnMissed(SkipOverlap()) is for a periodic job without it; use OnOverlap(OverlapSkip())")
	case len(j.Key) > MaxKey-mostNumber:
		return invalid("key %.20q...: it has %d bytes; with OnOverlap at most %d are allowed", j.Key, len(j.Key), MaxKey-mostNumber)
	case jobs.parts.Graph == nil:
		return jobs.lacks("OnOverlap", "Graph")
	}
	return nil
}

// wrap makes the encoded payload of a job that of the schedule which adds it.
func (j *addition) wrap() (err error) {
	if j.overlap == "" || j.Kind == ScheduleKind {
		return nil
	}
	j.Payload, err = json.Marshal(firing{j.Kind, j.overlap, j.Payload})
	j.Kind = ScheduleKind
	return err
}

// firingKind is the kind of schedules with OnOverlap, whose handler adds their runs.
func (j *Jobs) firingKind() *node.Kind {
	return &node.Kind{Name: ScheduleKind, Internal: true, First: 100 * time.Millisecond, Max: 10 * time.Second, Handle: j.fire}
}

// fire adds the run of a schedule's occurrence, unless the policy leaves it out. It may be called again for the same
// occurrence: since runs only end, what was added before is not left out then.
func (j *Jobs) fire(ctx context.Context, payload []byte) ([]byte, error) {
	var f firing
	var p progress
	s, _ := Current(ctx)
	if err := json.Unmarshal(payload, &f); err != nil {
		return nil, fmt.Errorf("payload of schedule %q: %w", s.Key, err)
	}
	if len(s.Result) > 0 {
		if err := json.Unmarshal(s.Result, &p); err != nil {
			return nil, fmt.Errorf("result of schedule %q: %w", s.Key, err)
		}
	}
	policy, err := parseOverlap(f.Overlap)
	if err != nil {
		return nil, err
	}
	if p.Open, err = j.unended(ctx, p.Open); err != nil {
		return nil, err
	}
	before := ""
	for {
		if why := policy.leavesOut(len(p.Open)); why != "" {
			SetLabel(ctx, before+"left out, "+why)
			return json.Marshal(p)
		}
		run, label, err := j.spawn(ctx, s, f, policy, p)
		if err != nil {
			return nil, err
		}
		p.Number++
		p.Open = append(p.Open, run.ID)
		if run.Anchor.Equal(s.Occurrence) {
			SetLabel(ctx, before+label)
			return json.Marshal(p)
		}
		// A node has added that run, and was lost, or gave the schedule back, before it had noted it.
		before += fmt.Sprintf("run %d for %s; ", p.Number, run.Anchor.Format(time.RFC3339))
	}
}

// spawn adds the next run of a schedule, or finds it, and returns it and what the history of the schedule is to say.
func (j *Jobs) spawn(ctx context.Context, s Job, f firing, policy overlap, p progress) (run Job, label string, err error) {
	number := p.Number + 1
	add := NewJob{
		ID: NewID(), Key: s.Key + "#" + strconv.FormatInt(number, 10), Kind: f.Kind, Payload: f.Payload,
		Schedule: store.Once, Due: s.Occurrence, Attempts: s.Attempts, Timeout: s.Timeout, Priority: s.Priority,
		Partition: s.Partition, Queue: s.Queue, Meta: s.Meta, Tags: s.Tags,
	}
	label = fmt.Sprintf("run %d", number)
	if n := len(p.Open); n > 0 && policy.word == replaceRun {
		for _, id := range p.Open {
			if _, err := j.Cancel(ctx, id); err != nil {
				return run, "", err
			}
		}
		label += ", which replaces " + counted(n)
	}
	if n := len(p.Open); n > 0 && policy.word != allowRuns {
		add.After = store.After{Parents: p.Open, Need: n, Anyway: true}
	}
	placed, err := j.place(ctx, []NewJob{add})
	if err != nil {
		return run, "", err
	}
	if placed[0].KindTaken {
		return run, "", fmt.Errorf("%w: %q, which is to be a run of schedule %q, belongs to a job of kind %q", ErrKeyTaken,
			add.Key, s.Key, placed[0].Kind)
	}
	return placed[0].Job, label, nil
}

// unended returns those of some jobs that have not ended.
func (j *Jobs) unended(ctx context.Context, ids []ID) (open []ID, err error) {
	for _, id := range ids {
		switch job, err := j.store.Get(ctx, id); {
		case errors.Is(err, ErrNotFound): // it had ended, and is pruned
		case err != nil:
			return nil, failed("get", err)
		case !job.State.Done():
			open = append(open, id)
		}
	}
	return open, nil
}

// leavesOut returns why there is no run for an occurrence, if so many runs have not ended; "" if there is one.
func (o overlap) leavesOut(open int) string {
	switch {
	case o.word == skipRun && open > 0, o.word == allowRuns && open >= o.n, o.word == queueRuns && open > o.n:
		return "not ended: " + counted(open)
	}
	return ""
}

// counted returns how many runs there are, in words.
func counted(n int) string {
	if n == 1 {
		return "1 run"
	}
	return strconv.Itoa(n) + " runs"
}
