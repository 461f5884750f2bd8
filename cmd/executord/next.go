package main

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

func newNext() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "next {FILE|--dir DIR} [JOB...]",
		Short: "Print when the jobs of a file are due, in order",
		Long: strings.TrimSpace(`
next reads FILE (- for standard input) as run would, runs nothing, and prints
the next times at which its jobs, or those that are named, are due: all jobs in
one list, each time in the zone of its job. A note beside a time says what a
change of the clock does to it.

--from begins at another time, in executord's own zone: --from 2027-03-27 shows
what the next change of the clock will do.`),
		Example: strings.Trim(`
  executord next jobs.crontab
  executord next -n 20 --from 2027-03-27 jobs.crontab backup`, "\n"),
		Args: fileAndJobs,
	}
	files := newSources(cmd)
	times := newTimesFlags(cmd, 10, ", of all jobs together")
	asJSON := cmd.Flags().Bool("json", false, "print an object a line")
	cmd.ValidArgsFunction = namesInFiles(&files)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		from, err := times.begin(time.Local)
		if err != nil {
			return err
		}
		files.names = files.first(args)
		file, _, err := files.load(false)
		if err != nil {
			return err
		}
		jobs, err := chosen(file.Jobs, args[len(files.names):])
		if err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		return printDue(cmd.OutOrStdout(), jobs, from, times.number, *asJSON)
	}
	return cmd
}

// fileAndJobs are the arguments of next.
func fileAndJobs(cmd *cobra.Command, args []string) error {
	return someFiles(cmd, args[:min(1, len(args))])
}

// chosen returns the jobs with these names, all if there are none.
func chosen(jobs []job.Job, names []string) (found []job.Job, err error) {
	if len(names) == 0 {
		return jobs, nil
	}
	all := make(map[string]job.Job)
	var known []string
	for _, j := range jobs {
		all[j.Name] = j
		known = append(known, j.Name)
	}
	for _, name := range names {
		j, ok := all[job.CanonicalName(name)]
		if !ok {
			if near := job.Closest(name, known); near != "" {
				return nil, fmt.Errorf("job %s is not in the file; did you mean %s?", name, near)
			}
			return nil, fmt.Errorf("job %s is not in the file", name)
		}
		found = append(found, j)
	}
	return found, nil
}

// due is one time of one job. The JSON is documented.
type due struct {
	Due  time.Time `json:"due"`
	Job  string    `json:"job"`
	Note string    `json:"note,omitempty"`

	job  job.Job
	more func() (time.Time, bool)
	rank int // of the job in the file
}

// dueHeap has the next time of each job, the first on top.
type dueHeap []due

func (h dueHeap) Len() int      { return len(h) }
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any     { panic("a heap that shrinks by its last element alone") }
func (h dueHeap) Less(i, j int) bool {
	if !h[i].Due.Equal(h[j].Due) {
		return h[i].Due.Before(h[j].Due)
	}
	return h[i].rank < h[j].rank
}

// dueTimes returns the times of all jobs, in order.
func dueTimes(jobs []job.Job, from time.Time) iter.Seq[due] {
	return func(yield func(due) bool) {
		var h dueHeap
		for i, j := range jobs {
			more, stop := iter.Pull(forecast.Of(j, from))
			defer stop()
			if at, ok := more(); ok {
				h = append(h, due{Due: at, Job: j.Name, job: j, more: more, rank: i})
			}
		}
		heap.Init(&h)
		for len(h) > 0 {
			if !yield(h[0]) {
				return
			}
			if at, ok := h[0].more(); ok {
				h[0].Due = at
			} else {
				last := len(h) - 1
				h[0], h = h[last], h[:last]
				if last == 0 {
					return
				}
			}
			heap.Fix(&h, 0)
		}
	}
}

// printDue prints times of jobs, and the jobs that have none.
func printDue(w io.Writer, jobs []job.Job, from time.Time, n int, asJSON bool) error {
	var list []due
	if n > 0 {
		for d := range dueTimes(jobs, from) {
			d.Note = noteOf(d.job.Schedule, d.Due)
			if list = append(list, d); len(list) == n {
				break
			}
		}
	}
	if asJSON {
		out := json.NewEncoder(w)
		for _, d := range list {
			if err := out.Encode(d); err != nil {
				return err
			}
		}
		return nil
	}
	wide := terminal.Width(w)
	t := dueTable(list, showTime)
	if wide > 0 && t.Width() > wide {
		t = dueTable(list, showBrief)
	}
	t.Fit(wide).Write(w)
	for _, j := range jobs {
		if j.Schedule.AtStart {
			fmt.Fprintf(w, "%s: once, when executord starts\n", j.Name)
		}
		if j.Schedule.After {
			fmt.Fprintf(w, "%s: after %s\n", j.Name, strings.Join(j.After, ", "))
		}
	}
	return nil
}

func dueTable(list []due, show func(time.Time, job.Job) string) *terminal.Table {
	t := new(terminal.Table)
	t.Add("DUE", "ZONE", "JOB", "NOTE")
	for _, d := range list {
		t.Add(show(d.Due, d.job), d.job.Schedule.ZoneName(), d.Job, d.Note)
	}
	return t
}
