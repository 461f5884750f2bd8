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

	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// mostMissing is how many jobs are noted that cannot run.
const mostMissing = 100

// noteMissing adds notes on shells, directories and programs that are not on this machine, for the jobs that it may
// run. They are no mistakes: the file may be checked on another machine, and a program may come before the job is due.
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
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.String(),
				What: "not all exceptions of " + j.Name + " can be read: " + err.Error(), Hint: job.ExceptionHint})
		}
		if err := environ.Missing(j.Command); err != nil {
			if missing++; missing > mostMissing {
				file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.String(),
					What: "this job cannot run either, and those after it are not looked at", Hint: "fix those above first"})
				break
			}
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.String(),
				What: j.Name + " cannot run here and now: " + err.Error(), Hint: "correct the name, install what is missing, or give the user the right to use it"})
		}
	}
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

// noteHome adds a note on the first job whose runs have no HOME: executord has none, and its user is not in passwd, as
// in a container that runs under a number. What needs it seldom says so.
func noteHome(file *job.File, here job.Machine) {
	if environ.HasHome(job.Command{}) {
		return
	}
	for _, j := range file.Jobs {
		if here.In(j.On) && !environ.HasHome(j.Command) {
			file.Notes = append(file.Notes, job.Mistake{File: cmp.Or(j.File, file.Name), Line: j.Line, Text: j.Command.String(),
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
	output, err := c.CombinedOutput()
	return string(bytes.TrimSpace(output[:min(len(output), 2<<10)])), err
}
