package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

func newRuns() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs [JOB...]",
		Short: "Show the history of the jobs in a store",
		Long: strings.TrimSpace(`
runs shows the runs that have ended of the jobs named, or of all, the latest
first. Times are in the job's own time zone.

An outcome is ok, failed, timeout, canceled, or lost, if the daemon was lost
during the run. With --verbose, the end of what a failed run wrote to its
standard error stands below it.`),
		Example: strings.Trim(`
  executord runs --store jobs.db
  executord runs --store jobs.db backup -n 100 --verbose`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, or postgres://...")
	namespace := newNamespaceFlag(cmd, "look at the jobs of this namespace only")
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each run")
	number := cmd.Flags().IntP("number", "n", 20, "how many runs to show, at most")
	verbose := cmd.Flags().BoolP("verbose", "v", false, "show what failed runs wrote to standard error")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		if *number < 1 {
			return fmt.Errorf("-n %d: it must be 1 or more", *number)
		}
		return store.visit(func(ctx context.Context, v client) error {
			entries, _, err := v.find(ctx, *namespace, names)
			if err != nil {
				return err
			}
			runs, err := v.histories(ctx, entries, *number)
			if err != nil {
				return err
			}
			var found []ran
			for i, e := range entries {
				for _, r := range runs[i] {
					found = append(found, ran{r, e})
				}
			}
			slices.SortStableFunc(found, func(a, b ran) int { return b.Started.Compare(a.Started) })
			found = found[:min(len(found), *number)]
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			printRuns(cmd.OutOrStdout(), found, *verbose)
			return nil
		})
	}
	return cmd
}

// atOnce is how many questions a command has to a store at a time: one after the other,
// those about thousands of jobs take minutes where the store is far away.
const atOnce = 8

// histories returns the latest runs of each job, as many of each as asked for, the latest
// first.
func (v client) histories(ctx context.Context, jobs []catalog.Entry, n int) ([][]durable.Run, error) {
	pool := executor.Fixed(atOnce)
	defer pool.Close()
	ctx, cancel := context.WithCancel(ctx) // the rest, after an error
	defer cancel()
	answers := make([]*executor.Future[[]durable.Run], len(jobs))
	for i, e := range jobs {
		answers[i] = executor.Submit(ctx, pool, func(ctx context.Context) ([]durable.Run, error) {
			return v.history(ctx, e, n)
		})
	}
	all := make([][]durable.Run, len(jobs))
	for i, answer := range answers {
		var err error
		if all[i], err = answer.Get(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// history returns the latest runs of a job, as many as asked for, the latest
// first.
func (v client) history(ctx context.Context, e catalog.Entry, n int) ([]durable.Run, error) {
	var runs []durable.Run
	for before := int64(0); len(runs) < n; {
		page, err := v.jobs.History(ctx, e.ID, before, min(n, 995)+5) // some are idle
		if err != nil || len(page) == 0 {
			return runs, err
		}
		before = page[len(page)-1].Seq
		runs = append(runs, slices.DeleteFunc(page, catalog.IsIdle)...)
	}
	return runs[:min(len(runs), n)], nil
}

// ran is one run of a job.
type ran struct {
	durable.Run
	of catalog.Entry
}

// printRuns writes the table, and between its lines what runs wrote.
func printRuns(w io.Writer, list []ran, verbose bool) {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "there are no runs")
		return
	}
	full := severalNamespaces(list, func(r ran) catalog.Entry { return r.of })
	var t table
	t.add("JOB", "RUN", "STARTED", "TOOK", "OUTCOME", "NODE", "ERROR")
	for _, r := range list {
		t.add(called(r.of, full), strconv.FormatInt(r.Seq, 10), showInstant(r.Started, r.of.Spec.Location()),
			took(r.Run).String(), outcome(r.Run), job.Printable(r.Node), summary(r.Error))
	}
	rows := t.lines()
	io.WriteString(w, rows[0])
	for i, r := range list {
		io.WriteString(w, rows[i+1])
		if verbose {
			for _, line := range written(r.Error) {
				fmt.Fprintln(w, "    "+job.Printable(line))
			}
		}
	}
}

// took is how long a run took, to three or four digits.
func took(r durable.Run) time.Duration {
	d := r.Finished.Sub(r.Started)
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// summary returns an error's first line, and the last line that the run wrote, which
// mostly has the reason.
func summary(text string) string {
	first := reason(text)
	if lines := written(text); len(lines) > 0 {
		first += ": " + lines[len(lines)-1]
	}
	const most = 100
	if short := []rune(job.Printable(first)); len(short) > most {
		return string(short[:most]) + "..."
	}
	return job.Printable(first)
}

// reason returns an error's first line: what ended the run.
func reason(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(first, "durable: ")
}

// written returns the end of what a run wrote to standard error, by lines.
func written(text string) []string {
	_, rest, found := strings.Cut(text, "\n")
	if !found || rest == "" {
		return nil
	}
	return strings.Split(rest, "\n")
}

// runJSON is a run as --json has it.
type runJSON struct {
	Namespace string    `json:"namespace"`
	Job       string    `json:"job"`
	Run       int64     `json:"run"`
	Due       time.Time `json:"due"`
	Attempt   int       `json:"attempt"`
	Started   time.Time `json:"started"`
	Finished  time.Time `json:"finished"`
	Took      float64   `json:"took"` // seconds, as in the log
	Outcome   string    `json:"outcome"`
	Node      string    `json:"node"`
	Error     string    `json:"error,omitempty"`
	Stderr    []string  `json:"stderr,omitempty"` // its end, line by line
}

func newRunJSON(e catalog.Entry, r durable.Run) *runJSON {
	loc := e.Spec.Location()
	return &runJSON{
		Namespace: e.Namespace, Job: e.Name, Run: r.Seq, Due: r.Occurrence.In(loc), Attempt: r.Attempt,
		Started: r.Started.In(loc), Finished: r.Finished.In(loc), Took: r.Finished.Sub(r.Started).Seconds(),
		Outcome: outcome(r), Node: r.Node, Error: reason(r.Error), Stderr: written(r.Error),
	}
}

func (r ran) MarshalJSON() ([]byte, error) { return json.Marshal(newRunJSON(r.of, r.Run)) }
