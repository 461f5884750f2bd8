package catalog

import (
	"strings"
	"unicode/utf8"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Check gives what is wrong with a file whose jobs are to be kept in a store,
// and is not wrong otherwise.
func Check(file job.File) job.Mistakes {
	var found job.Mistakes
	for _, j := range file.Jobs {
		if j.Schedule.AtStart {
			continue // it is not kept there
		}
		mistake := func(what, hint string) {
			found = append(found, job.Mistake{File: file.Name, Line: j.Line, Text: j.Schedule.Text + " " + j.Command.String(), What: what, Hint: hint})
		}
		if strings.Contains(j.Name, ":") {
			// A line more above it, and it would be another job.
			mistake("the job is called "+j.Name+", after its line, and a store needs a name that stays", "write a line such as # name: "+strings.ReplaceAll(j.Name, ":", "-")+" above it")
		}
		c := j.Command
		for _, text := range append(append([]string{c.Shell, c.Script, c.Stdin, c.Dir}, c.Args...), c.Env...) {
			if !utf8.ValidString(text) {
				mistake("the job has bytes that are not UTF-8, and a store keeps text only", "save the file as UTF-8")
				break
			}
		}
	}
	return found
}
