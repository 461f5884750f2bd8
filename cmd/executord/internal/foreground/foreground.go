// Package foreground runs a job once, in the foreground, as the daemon would, but without one.
package foreground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/variables"
)

// The exit codes besides that of the command, which are those of timeout, env and shells. They are documented.
const (
	Failed     = 1   // the run was ended, as its output cannot be written
	TimedOut   = 124 // the command took longer than its timeout
	NotStarted = 126
	Signaled   = 128 // and the number of the signal that has ended the command
)

// A Run is what is to be run, and how.
type Run struct {
	Job            job.Job
	Given          []string        // parameters, NAME=value; nil for the defaults
	Grace          time.Duration   // between SIGTERM and SIGKILL
	Stop           context.Context // ends the run, children too
	Kill           context.Context // kills it
	Stdout, Stderr io.Writer       // for the lines that the command writes to its own
}

// An End is how a run has ended.
type End struct {
	Code  int    // an exit code
	Text  string // what there is to say, "" if the command has ended by itself
	Cause error  // that of Stop, if it has ended the run
}

// Do runs the job. It takes charge of all child processes of the program, and is called once. When it returns, no process
// of the run is left, unless the text says so.
func (r Run) Do() End {
	var veil variables.Veil
	command, err := environ.Command(r.Job, environ.Run{Number: 1, Attempt: 1, Due: time.Now(), Given: r.Given}, &veil)
	if err != nil {
		return End{Code: NotStarted, Text: "not started: " + err.Error()}
	}
	process.CloseOnExec()
	supervisor := process.New(r.Grace)
	defer supervisor.Adopt()()
	defer context.AfterFunc(r.Kill, supervisor.Kill)()

	ctx, end := context.WithCancelCause(r.Stop)
	defer end(nil)
	result := supervisor.Run(ctx, command, process.Observer{
		Started: func(int, time.Time) {},
		Output: passOn(map[process.Stream]io.Writer{process.Stdout: r.Stdout, process.Stderr: r.Stderr}, &veil, func(err error) {
			end(fmt.Errorf("its output cannot be written: %w", complaint.Cause(err)))
		}),
	})
	e := endOf(result, context.Cause(ctx))
	remarks := []string{e.Text, result.Rest()}
	ended, survivors := supervisor.EndStrays()
	for _, stray := range ended {
		remarks = append(remarks, fmt.Sprintf("process %d, %s, had left the group of the run, and was ended", stray.PID, job.Printable(stray.Name)))
	}
	for _, stray := range survivors {
		remarks = append(remarks, fmt.Sprintf("process %d, %s, could not be ended", stray.PID, job.Printable(stray.Name)))
	}
	e.Text = string(veil.Hide([]byte(strings.Join(nonEmpty(remarks), "; "))))
	if r.Stop.Err() != nil && result.Stopped {
		e.Cause = context.Cause(r.Stop)
	}
	return e
}

// endOf returns how a run has ended. Cause is why it was to end.
func endOf(r process.Result, cause error) End {
	switch {
	case r.Stopped && errors.Is(r.Cause, process.ErrTimeout):
		return End{Code: TimedOut, Text: r.Cause.Error()}
	case r.Stopped:
		return End{Code: Failed, Text: "the run was ended: " + cause.Error()}
	case r.Err != nil:
		return End{Code: NotStarted, Text: "not started: " + r.Err.Error()}
	case r.Signal != "":
		return End{Code: Signaled + r.SignalNumber, Text: r.Status()}
	}
	return End{Code: r.Code}
}

// passOn returns what writes the lines of a command, without the values that veil hides. It calls fail if one cannot be
// written.
func passOn(to map[process.Stream]io.Writer, veil *variables.Veil, fail func(error)) process.Output {
	lines := map[process.Stream]*variables.Line{process.Stdout: {Veil: veil}, process.Stderr: {Veil: veil}}
	return func(from process.Stream, line []byte, more bool) {
		text := lines[from].Hide(line, more)
		if !more {
			text = append(text[:len(text):len(text)], '\n')
		}
		if _, err := to[from].Write(text); err != nil {
			fail(err)
		}
	}
}

func nonEmpty(texts []string) (some []string) {
	for _, text := range texts {
		if text != "" {
			some = append(some, text)
		}
	}
	return some
}
