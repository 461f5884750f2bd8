package catalog

import (
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Check returns what is wrong with a file only if its jobs are kept in a store that outlives the daemon: names that
// change with the lines of the file. A line more above such a job, and it would be another one.
func Check(file job.File) job.Mistakes {
	var found job.Mistakes
	for _, j := range file.Jobs {
		if j.Schedule.AtStart || !strings.Contains(j.Name, ":") {
			continue
		}
		found = append(found, job.Mistake{
			File: file.Name, Line: j.Line, Text: j.Schedule.Text + " " + j.Command.Text(),
			What: "the job is called " + j.Name + ", after its line, and a store needs a name that stays",
			Hint: "write a line such as # name: " + strings.ReplaceAll(j.Name, ":", "-") + " above it",
		})
	}
	return found
}
