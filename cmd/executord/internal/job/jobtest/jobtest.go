// Package jobtest checks what every reader of job files owes to what runs
// the file, whatever its format. Tests of readers import it, and nothing else.
package jobtest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// MaxInput is the length of the longest input that is worth trying at random, in
// bytes: what is longer only repeats.
const MaxInput = 4096

// CheckRead checks what a reader made of an input, and returns all that is wrong
// with it. Either there are mistakes and no jobs, each mistake in a line that
// exists; or there are jobs, which can be distinguished, each from a line that
// exists and with what a run needs.
//
// How long the reader took is not checked. An input on which it hangs fails the
// test by the time limit of go test, and under -fuzz by that for one input.
func CheckRead(input []byte, file job.File, err error) error {
	lines := bytes.Count(input, []byte("\n")) + 1
	if err != nil {
		return checkMistakes(lines, file, err)
	}
	return checkJobs(lines, file)
}

func checkMistakes(lines int, file job.File, err error) error {
	all, ok := err.(job.Mistakes) // as such: an error around it would hide them
	if !ok || len(all) == 0 || len(file.Jobs) > 0 {
		return fmt.Errorf("error %v (%T) with %d jobs", err, err, len(file.Jobs))
	}
	var wrong []error
	for _, m := range all {
		if m.Line < 1 || m.Line > lines || m.What == "" {
			wrong = append(wrong, fmt.Errorf("mistake %+v in a file of %d lines", m, lines))
		}
	}
	return errors.Join(wrong...)
}

func checkJobs(lines int, file job.File) error {
	if len(file.Jobs) == 0 && len(file.Notes) == 0 {
		return errors.New("neither jobs nor mistakes nor notes")
	}
	var wrong []error
	names := make(map[string]bool)
	for _, j := range file.Jobs {
		if j.Name == "" || names[j.Name] || j.Line < 1 || j.Line > lines || j.Schedule.Text == "" ||
			j.Command.Script == "" && len(j.Command.Args) == 0 {
			wrong = append(wrong, fmt.Errorf("job %+v in a file of %d lines", j, lines))
		}
		names[j.Name] = true
	}
	return errors.Join(wrong...)
}
