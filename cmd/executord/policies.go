package main

import (
	"cmp"
	"fmt"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// wrongPolicies returns a mistake for each job whose keys do not go together.
func wrongPolicies(file job.File) (mistakes job.Mistakes) {
	for _, j := range file.Jobs {
		if what, hint := wrongPolicy(j); what != "" {
			mistakes = append(mistakes, remarkOn(file, j, what, hint))
		}
	}
	return mistakes
}

// remarkOn returns a mistake, or a note, at the line of a job.
func remarkOn(file job.File, j job.Job, what, hint string) job.Mistake {
	return job.Mistake{
		File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Schedule.Text + " " + j.Command.String(), What: what, Hint: hint,
	}
}

func wrongPolicy(j job.Job) (what, hint string) {
	overlap, _ := job.ParseOverlap(j.Overlap) // readers have set no other
	misfire, _ := job.ParseMisfire(j.Misfire)
	if misfire.All && overlap.Do != job.QueueOverlap {
		return fmt.Sprintf("%s has misfire all: due times that pass during its runs would be run, too, and its overlap is %s", j.Name, cmp.Or(j.Overlap, "skip")),
			`set overlap to queue, or misfire to another value`
	}
	return "", ""
}

// notePolicies returns what of the keys of jobs does not hold over the end of a daemon, for a file whose jobs are kept
// in a store.
func notePolicies(file job.File) (notes job.Notes) {
	for _, j := range file.Jobs {
		if overlap, _ := job.ParseOverlap(j.Overlap); overlap.Do == job.AllowOverlap && !j.Schedule.AtStart {
			notes = append(notes, remarkOn(file, j,
				j.Name+" allows several runs at a time: each daemon counts its own, and a run that goes on beside the next one is not begun again if its daemon is lost",
				`set overlap to queue if each run has to come to its end`))
		}
	}
	return notes
}
