package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

func newNotify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "Try the channels for notifications",
	}
	complaint.OnlyCommands(cmd)
	cmd.AddCommand(newNotifyTest())
	return cmd
}

func newNotifyTest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test FILE [NAME]...",
		Short: "Send a test message on each channel of a file",
		Long: strings.TrimSpace(`
test sends a message on each channel [notify.NAME] of FILE, or on those that
are named, and prints the answers. It tries once. A monitor gets neither a
success nor a failure.

Exit codes
  0  all were sent
  1  there are mistakes in FILE, or one was not sent
  2  the command line is wrong`),
		Example: "  executord notify test jobs.toml ops",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("notify test needs a job file, such as: executord notify test jobs.toml")
			}
			return nil
		},
	}
	files := newSources(cmd)
	cmd.ValidArgsFunction = namesOfChannels(&files)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files.names = args[:1]
		file, _, err := files.load(false)
		if err != nil {
			return err
		}
		return testChannels(cmd.OutOrStdout(), file, args[1:])
	}
	return cmd
}

// testChannels sends a test on the channels of these names, all if there is none, one after the other.
func testChannels(w io.Writer, file job.File, names []string) error {
	var known []string
	for _, spec := range file.Channels {
		known = append(known, spec.Name)
	}
	for i, name := range names {
		names[i] = job.CanonicalName(name)
		if name = names[i]; !slices.Contains(known, name) {
			return &exitError{exitUsage, fmt.Sprintf("unknown channel %q; known are: %s", name, strings.Join(known, ", "))}
		}
	}
	if len(known) == 0 {
		return &exitError{exitMistake, file.Name + " has no channel: add a table [notify.ops] with a target such as mail"}
	}
	host, _ := os.Hostname()
	n := notify.New(notify.Config{Host: host, Log: slog.New(slog.DiscardHandler)})
	defer n.Close(context.Background())
	failed := 0
	for _, spec := range file.Channels {
		if len(names) > 0 && !slices.Contains(names, spec.Name) {
			continue
		}
		c, err := spec.Build(runHere)
		var answer string
		if err == nil {
			answer, err = n.Test(context.Background(), c)
		}
		if err != nil {
			failed++
			answer = "not sent: " + err.Error()
		}
		fmt.Fprintf(w, "%s  %s\n", spec.Name, job.Printable(answer))
	}
	if failed > 0 {
		return &exitError{exitMistake, fmt.Sprintf("%d not sent", failed)}
	}
	return nil
}
