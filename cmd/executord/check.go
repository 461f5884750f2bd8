package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// nextTimes is how many times check and explain print for each job, unless --number says otherwise.
const nextTimes = 5

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Validate job files; print when each job is due next",
		Long: strings.TrimSpace(`
check reads each FILE (- for standard input) as run would, and runs nothing.

If all is well, it prints the next five times at which each job is due, in the
job's time zone, and exits with 0. Otherwise it prints every mistake, with its
line and a hint, and exits with 1. Notes point out what is valid but probably a
mistake, and what this machine lacks; with --strict they, too, exit with 1.

If a job names the machines that run it, the column ON shows them, after
"not here:" if this machine is not among them. --name and --label check the file
for another machine.

With --json it prints one object with all of this, also if there are mistakes.`),
		Args: someFiles,
	}
	files := newSources(cmd)
	times := newTimesFlags(cmd, nextTimes, " for each job")
	asJSON := cmd.Flags().Bool("json", false, "print one object with the mistakes, notes and jobs")
	strict := cmd.Flags().Bool("strict", false, "exit with 1 if there are notes")
	machine := newMachineFlags(cmd)
	store := newStoreFlag(cmd, "also find what run --store would call a mistake; the store is not opened")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := store.checkNamed(); err != nil {
			return err
		}
		files.names = args
		here, err := machine.machine()
		if err != nil {
			return err
		}
		from, err := times.begin(time.Local)
		if err != nil {
			return err
		}
		if *asJSON {
			return checkJSON(cmd.OutOrStdout(), files, here, store.name(), from, times.number, *strict)
		}
		file, read, err := files.load(store.name() != "")
		if err != nil {
			return err
		}
		noteAll(&file, here, exposure.Of(read, store.name()))
		printNotes(os.Stderr, file.Notes)
		printTimes(cmd.OutOrStdout(), file.Jobs, here, from, times.number)
		if slices.ContainsFunc(file.Jobs, func(j job.Job) bool { return !here.In(j.On) }) {
			fmt.Fprintf(cmd.OutOrStdout(), "this machine is %s\n", here)
		}
		if n := len(file.Notes); *strict && n > 0 {
			return &exitError{exitMistake, fmt.Sprintf("%s on %s, and --strict takes notes for mistakes", terminal.Count(strconv.Itoa(n), "note"), file.Name)}
		}
		return nil
	}
	return cmd
}

// noteAll adds to the notes on a file those that the machine, now, and the rights to the files call for.
func noteAll(file *job.File, here job.Machine, exposed []exposure.Exposed) {
	noteHereAndNow(file, here)
	if zone := job.Misnamed(); zone != "" {
		file.Notes = append(file.Notes, job.Mistake{File: file.Name, Text: "TZ=" + zone, What: misnamedZone, Hint: job.ZoneHint})
	}
	file.Notes = append(file.Notes, exposure.Notes(exposed)...)
}

// printTimes writes a table of when the jobs are due. On a terminal it fits that.
func printTimes(w io.Writer, jobs []job.Job, here job.Machine, from time.Time, n int) {
	t := timesTable(jobs, here, from, n, showTime)
	wide := terminal.Width(w)
	if wide > 0 && t.Width() > wide {
		t = timesTable(jobs, here, from, n, showBrief)
	}
	t.Fit(wide).Write(w)
}

// timesTable returns the table of when jobs are due, with times as show has them, and on which machines if that is said
// of some. here is this machine.
func timesTable(jobs []job.Job, here job.Machine, from time.Time, n int, show func(time.Time, job.Job) string) *terminal.Table {
	t := new(terminal.Table)
	anywhere := !slices.ContainsFunc(jobs, func(j job.Job) bool { return !j.On.IsZero() })
	add := func(lead []string, on, next string) {
		if !anywhere {
			lead = append(slices.Clip(lead), on)
		}
		t.Add(append(slices.Clip(lead), next)...)
	}
	add([]string{"JOB", "LINE", "SCHEDULE", "ZONE"}, "ON", "NEXT")
	for _, j := range jobs {
		on := j.On.String()
		if !here.In(j.On) {
			on = "not here: " + on
		}
		lead := []string{j.Name, place(j), job.Printable(j.Schedule.Text), ""}
		if j.Schedule.AtStart {
			add(lead, on, "once, when executord starts")
			continue
		}
		if j.Schedule.After {
			add(lead, on, "after "+strings.Join(j.After, ", "))
			continue
		}
		lead[3] = j.Schedule.ZoneName()
		none := true
		left := n
		for at := range forecast.Of(j, from) {
			add(lead, on, show(at, j))
			lead, on, none = make([]string, len(lead)), "", false
			if left--; left == 0 {
				break
			}
		}
		if none {
			add(lead, on, "never")
		}
	}
	return t
}

// place returns where a job is: its line, with its file if there are several.
func place(j job.Job) string {
	if j.File == "" {
		return strconv.Itoa(j.Line)
	}
	return job.Printable(filepath.Base(j.File)) + ":" + strconv.Itoa(j.Line)
}
