package durable

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

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
// Anchor is the occurrence for which it runs, unless OnFire says otherwise. It is kept as any job that runs once is; see
// KeepRuns. Limits and rates of the kind bound the runs, not the schedule. What is done to the schedule, as by Pause or
// Cancel, changes no run that exists. The history of the schedule says in the Label of each entry what became of the
// occurrence: "run 7", "run 7, which replaces 1 run" or "left out, not ended: 1 run".
//
// The schedule is of the kind that ScheduleKind returns, which each node with a handler of the runs handles. OnMissed has
// its usual meaning, except that SkipOverlap is an error; CatchUp adds a run for each occurrence, which waits as long as
// OverlapQueue or OverlapAllow would leave it out. A fixed delay is an error, since it counts from the end of a run. The
// key may have up to MaxKey - 20 bytes, and the name of the kind up to MaxKind - 17. The store must have the methods of
// store.Graph.
func OnOverlap(o Overlap) Option {
	return func(j *addition) error {
		if _, err := parseOverlap(o.text); err != nil {
			return err
		}
		j.spawns.Overlap = o.text
		return nil
	}
}

// KeepRuns keeps only the latest n runs of a schedule with OnOverlap, and those that have not ended: when a run is added,
// older ones are deleted, a few at a time, so that up to n/8 + 1 more may be there. n must be positive. By default only
// Config.Keep bounds them.
func KeepRuns(n int) Option {
	return func(j *addition) error {
		if n < 1 {
			return invalid("KeepRuns %d: it must be positive", n)
		}
		j.spawns.Keep = n
		return nil
	}
}

const scheduleKind = "durable/schedule/"

// ScheduleKind returns the kind of the schedules with OnOverlap whose runs are of the kind with that name.
func ScheduleKind(kind string) string { return scheduleKind + kind }

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

// roomPause is how long an occurrence waits that CatchUp does not leave out, until there is a look for room again.
const roomPause = time.Second

// decide returns what the policy says of an occurrence, if these runs have not ended.
func (o overlap) decide(open []Job, catchesUp bool) Decision {
	n := len(open)
	switch full := o.word == allowRuns && n >= o.n || o.word == queueRuns && n > o.n; {
	case full && catchesUp:
		return Decision{Later: roomPause}
	case full || o.word == skipRun && n > 0:
		return Decision{LeftOut: "not ended: " + counted(n)}
	}
	var d Decision
	if o.word != allowRuns {
		d.After = ids(open)
	}
	if o.word == replaceRun {
		d.Cancel = ids(open)
	}
	return d
}

func ids(jobs []Job) (all []ID) {
	for _, j := range jobs {
		all = append(all, j.ID)
	}
	return all
}

// counted returns how many runs there are, in words.
func counted(n int) string {
	if n == 1 {
		return "1 run"
	}
	return strconv.Itoa(n) + " runs"
}

// spawns are what a schedule with OnOverlap says of its runs. As the payload of the schedule it is a line of JSON, which
// the payload of the runs follows as it is stored.
type spawns struct {
	Overlap string `json:"overlap"`
	Keep    int    `json:"keep,omitempty"`
}

// check returns what is wrong with an addition with OnOverlap or KeepRuns.
func (s *spawns) check(j *addition, jobs *Jobs) error {
	switch {
	case s.Overlap == "" && s.Keep > 0:
		return invalid("KeepRuns: the runs are no jobs of their own; give the schedule OnOverlap")
	case s.Overlap == "":
		return nil
	case j.Schedule == store.Once:
		return invalid("OnOverlap does not apply to a job that runs once; leave it out")
	case strings.HasPrefix(j.Schedule, "delay "):
		return invalid("OnOverlap does not apply to a fixed delay, which counts from the end of a run; use AtFixedRate or On")
	case j.Missed == SkipOverlap().text:
		return invalid("OnOverlap: OnMissed(SkipOverlap()) is for a periodic job without it; use OnOverlap(OverlapSkip())")
	case len(j.Key) > MaxKey-mostNumber:
		return invalid("key %.20q...: it has %d bytes; with OnOverlap at most %d are allowed", j.Key, len(j.Key), MaxKey-mostNumber)
	case len(ScheduleKind(j.Kind)) > MaxKind:
		return invalid("kind %.20q...: it has %d bytes; with OnOverlap at most %d are allowed", j.Kind, len(j.Kind), MaxKind-len(scheduleKind))
	case jobs.parts.Graph == nil:
		return jobs.lacks("OnOverlap", "Graph")
	}
	return nil
}

// wrap makes the encoded payload of a job that of the schedule which adds it.
func (j *addition) wrap() {
	if j.spawns.Overlap == "" || strings.HasPrefix(j.Kind, scheduleKind) {
		return
	}
	line, _ := json.Marshal(j.spawns) // never fails
	j.Payload = append(append(line, '\n'), j.Payload...)
	j.Kind = ScheduleKind(j.Kind)
}

// unwrap returns a schedule with OnOverlap with the kind and the payload of its runs; false for any other job.
func unwrap(j Job) (Job, spawns, bool) {
	var s spawns
	kind, is := strings.CutPrefix(j.Kind, scheduleKind)
	line, payload, _ := bytes.Cut(j.Payload, []byte("\n"))
	if !is || json.Unmarshal(line, &s) != nil {
		return j, s, false
	}
	j.Kind, j.Payload = kind, payload
	return j, s, true
}

// progress is the result of a schedule with OnOverlap: how far it has come. It is stored with the next time of the
// schedule, in one step. So a node that fires again what another had fired before it was lost finds the run of that.
type progress struct {
	Number int64   `json:"number"`           // of the latest run
	Open   []int64 `json:"open,omitempty"`   // the runs that had not ended then
	Pruned int64   `json:"pruned,omitempty"` // KeepRuns has deleted the runs up to this number, but for those in Open
	State  string  `json:"state,omitempty"`  // see Decision.State
}

// A Schedule is what there is to know of a schedule with OnOverlap, besides its job.
type Schedule struct {
	Job            // Kind and Payload are those of its runs
	Number int64   // of the latest run
	Open   []int64 // the runs that had not ended when that was added, in the order of their numbers, and that itself
	State  string  // see Decision.State
}

// ScheduleOf returns what a job is as a schedule with OnOverlap; false if it is none.
func ScheduleOf(j Job) (Schedule, bool) {
	j, _, ok := unwrap(j)
	if !ok {
		return Schedule{}, false
	}
	var p progress
	if len(j.Result) > 0 && json.Unmarshal(j.Result, &p) != nil {
		return Schedule{}, false
	}
	return Schedule{j, p.Number, p.Open, p.State}, true
}

// RunKey returns the key of the nth run of a schedule with OnOverlap.
func RunKey(schedule string, n int64) string { return schedule + "#" + strconv.FormatInt(n, 10) }

// RunNumber returns the number of the run of a schedule with OnOverlap that has this key, and the key of the schedule;
// 0 if it is the key of none.
func RunNumber(key string) (schedule string, n int64) {
	i := strings.LastIndexByte(key, '#')
	if i < 0 {
		return "", 0
	}
	n, err := strconv.ParseInt(key[i+1:], 10, 64)
	if err != nil || n < 1 || RunKey(key[:i], n) != key {
		return "", 0
	}
	return key[:i], n
}
