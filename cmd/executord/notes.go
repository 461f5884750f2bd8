package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// mostMissing is how many jobs are noted that cannot run.
const mostMissing = 100

// noteHereAndNow adds notes on what this machine lacks for the jobs that it may run, on jobs that are never due again,
// and on commands that are not run to their end. They are no mistakes: the file may be checked on another machine, and
// a program may come before the job is due.
func noteHereAndNow(file *job.File, here job.Machine) {
	noteEnded(file, time.Now())
	noteMissing(file, here)
	rank := make(map[string]int) // of each file
	for _, j := range file.Jobs {
		if _, known := rank[j.File]; !known && j.File != "" {
			rank[j.File] = len(rank)
		}
	}
	slices.SortStableFunc(file.Notes, func(a, b job.Mistake) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line))
	})
}

// noteEnded adds notes on jobs that are never due again, and on commands that end before what they have started.
func noteEnded(file *job.File, now time.Time) {
	for _, j := range file.Jobs {
		if reason := neverAgain(j, now); reason != "" {
			file.Notes = append(file.Notes, remarkOn(*file, j, j.Name+" is never due again: "+reason, "change that, or remove the job"))
		}
		if crontab.LeavesBackground(j.Command.Script) {
			file.Notes = append(file.Notes, remarkOn(*file, j,
				j.Name+" starts a command in the background with &: a second after the others have ended, it is ended",
				"remove the &, as other jobs are run meanwhile, or add wait at the end"))
		}
	}
}

// neverAgain returns why a job is never due again, "" if it is.
func neverAgain(j job.Job, now time.Time) string {
	times := j.Schedule.From(now)
	if times == nil { // due at the start, or after other jobs
		return ""
	}
	next := times.Next(now)
	if next.IsZero() {
		return "its schedule has no time after now"
	}
	calendar, _ := j.Season.Calendar()
	if !calendar.Next(times, now, j.Schedule.Location()).IsZero() {
		return ""
	}
	next = next.In(j.Schedule.Location())
	return fmt.Sprintf("the next time of its schedule, %s, does not count, nor does a later one: %s", next.Format(client.Instant), calendar.Excludes(next))
}

// noteMissing adds notes on shells, directories and programs that are not on this machine, for the jobs that it may run.
func noteMissing(file *job.File, here job.Machine) {
	if runtime.GOOS == "windows" {
		return // there is no /bin/sh
	}
	noteHome(file, here)
	for _, spec := range file.Channels {
		if _, err := spec.Build(runHere); err != nil {
			file.Notes = append(file.Notes, job.Mistake{File: spec.File, Line: spec.Line, Text: "[notify." + spec.Name + "]",
				What: "the channel " + spec.Name + " cannot be used here and now: " + err.Error(), Hint: "correct it, and try it: executord notify test"})
		}
	}
	missing := 0
	for _, j := range file.Jobs {
		if j.MaybeUser || !here.In(j.On) {
			continue
		}
		if _, err := j.Season.Calendar(); err != nil {
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.Text(),
				What: "not all exceptions of " + j.Name + " can be read: " + err.Error(), Hint: job.ExceptionHint})
		}
		if err := environ.Missing(j.Command); err != nil {
			if missing++; missing > mostMissing {
				file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.Text(),
					What: "this job cannot run either, and those after it are not looked at", Hint: "fix those above first"})
				break
			}
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.Text(),
				What: j.Name + " cannot run here and now: " + err.Error(), Hint: "correct the name, install what is missing, or give the user the right to use it"})
		}
	}
}

// noteHome adds a note on the first job whose runs have no HOME: executord has none, and its user is not in passwd, as
// in a container that runs under a number. What needs it seldom says so.
func noteHome(file *job.File, here job.Machine) {
	if environ.HasHome(job.Command{}) {
		return
	}
	for _, j := range file.Jobs {
		if here.In(j.On) && !environ.HasHome(j.Command) {
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.Text(),
				What: fmt.Sprintf("%s has no HOME: executord has none, and user %d is not in passwd", j.Name, os.Getuid()),
				Hint: "set HOME in the file, or for executord; ~, cd, git, ssh and many others need it"})
			return
		}
	}
}

// misnamedZone is the note about a TZ that names no zone.
const misnamedZone = "TZ is not a zone that executord knows, so its own zone is UTC, whatever zone the commands use"

// runHere is a notify.Runner for a program that is no daemon.
func runHere(ctx context.Context, args, env []string, input string) (string, error) {
	own, err := environ.Of(job.Command{}, nil)
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stdin, c.WaitDelay = append(own, env...), strings.NewReader(input), time.Second
	var output beginning
	c.Stdout, c.Stderr = &output, &output
	err = c.Run()
	return string(bytes.TrimSpace(output)), err
}

// beginning keeps the begin of what is written to it.
type beginning []byte

// mostBeginning is how much of it.
const mostBeginning = 2 << 10

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), mostBeginning-len(*b))]...)
	return len(p), nil
}
