package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/web"
	"github.com/executor-go/executor/durable"
)

func newLogs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logs JOB [RUN]",
		Short: "Print what a run has written",
		Long: strings.TrimSpace(`
logs prints the output of a run of a job: the latest run, or the one with the
number RUN. Standard output goes to standard output, and standard error to
standard error, red on a terminal. With --follow it goes on until the run has
ended.

It asks a store, which has the runs that have ended, or a daemon that runs with
--listen. Of a long output, the beginning and the end are kept, as --keep-output
of run sets; a line says how much is missing between them.`),
		Example: strings.Trim(`
  executord logs backup
  executord logs backup 17 --store jobs.db
  executord logs backup --follow
  executord logs backup --at unix:/run/executord.sock 2>/dev/null`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("logs needs the name of a job, and takes the number of a run, such as: executord logs backup 17")
			}
			if len(args) == 2 {
				if n, err := strconv.Atoi(args[1]); err != nil || n < 1 {
					return fmt.Errorf("RUN %q: it must be the number of a run, such as: executord logs %s 17", args[1], args[0])
				}
			}
			return nil
		},
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	at := newAtFlag(cmd)
	namespace := newNamespaceFlag(cmd, "the namespace of the job, if the store has several")
	cmd.ValidArgsFunction = namesOfJobs(0, store, at, namespace)
	following := cmd.Flags().BoolP("follow", "f", false, "go on until the run has ended")
	stamps := cmd.Flags().BoolP("timestamps", "t", false, "print when each line was written")
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each line of output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		p := &logPrinter{out: cmd.OutOrStdout(), err: os.Stderr, red: terminal.LookOf(os.Stderr).Color}
		p.stamps, p.json = *stamps, *asJSON
		if !at.chosen(store) {
			return store.visit(func(ctx context.Context, v client.Client) error { return printLogs(ctx, v, *namespace, args, p) })
		}
		c, err := at.client()
		if err != nil {
			return err
		}
		query := url.Values{"job": {job.CanonicalName(args[0])}}
		if len(args) == 2 {
			query.Set("run", args[1])
		}
		if *following {
			query.Set("follow", "1")
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		body, err := c.get(ctx, "/api/output", query)
		if err != nil {
			return err
		}
		defer body.Close()
		err = eachLine(body, func(_ []byte, l web.OutputLine) error { return p.print(l) })
		switch {
		case ctx.Err() != nil:
			return nil // the user has seen enough
		case err == nil && *following && p.goesOn:
			return &exitError{exitMistake, fmt.Sprintf("the daemon at %s ended the output before the run: it ends itself, or the token is no longer valid", c.shown)}
		}
		return err
	}
	return cmd
}

// printLogs prints what the store has of a run.
func printLogs(ctx context.Context, v client.Client, namespace string, args []string, p *logPrinter) error {
	entries, _, err := v.Find(ctx, namespace, args[:1])
	if err != nil {
		return err
	}
	if len(entries) > 1 {
		return &exitError{exitMistake, fmt.Sprintf("%s runs on each of several machines: say %s or %s", job.Printable(args[0]),
			client.Called(entries[0], false), client.Called(entries[1], false))}
	}
	e, number := entries[0], int64(0)
	if len(args) == 2 {
		number, _ = strconv.ParseInt(args[1], 10, 64) // it was checked
	}
	for _, run := range e.Open {
		if n := catalog.NumberOf(run); run.State.Granted() && (number == 0 || number == n) {
			return &exitError{exitMistake, fmt.Sprintf("%s: run %d is in progress on %s, which has what it writes: "+
				"say where that listens, as in --at %s", client.Called(e, false), n, client.On(e), defaultAt)}
		}
	}
	if number == 0 {
		number = catalog.NumberOf(e.Last)
	}
	if number == 0 {
		return &exitError{exitMistake, fmt.Sprintf("%s: it has not run yet; executord jobs shows when it is due",
			client.Called(e, false))}
	}
	row, err := v.Store.Find(ctx, durable.RunKey(e.Key, number))
	var o durable.RunOutput
	if err == nil {
		o, err = v.Jobs.Output(ctx, row.ID, row.Runs)
	}
	if errors.Is(err, durable.ErrNotFound) {
		return &exitError{exitMistake, fmt.Sprintf("%s: %s has no run %d; executord runs shows those that it has",
			client.Called(e, false), v.Shown, number)}
	}
	if err != nil {
		return err
	}
	for _, l := range web.StoredLines(record.Decode(o.Head, o.Tail, o.Omitted())) {
		if err := p.print(l); err != nil {
			return err
		}
	}
	return nil
}

// logPrinter prints the lines of an output.
type logPrinter struct {
	out, err          io.Writer
	stamps, json, red bool
	last              int64
	begun             bool
	goesOn            bool    // the run, as far as the lines say
	cut               [2]bool // of standard output, and of standard error: the line goes on
}

func (p *logPrinter) print(l web.OutputLine) error {
	if l.Run != nil {
		p.goesOn = l.Run.Outcome == outcome.InProgress
	}
	if p.json {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = p.out.Write(append(job.PrintableJSON(text), '\n'))
		return err
	}
	if l.Run != nil {
		p.about(l)
		return nil
	}
	switch {
	case l.Omitted > 0:
		fmt.Fprintf(p.err, "[%d bytes are not kept]\n", l.Omitted)
	case l.N > 0:
		p.gap(l.N)
	}
	if l.Text == nil {
		return nil
	}
	to, i := p.out, 0
	if l.Stream == "stderr" {
		to, i = p.err, 1
	}
	text := job.Printable(*l.Text)
	if p.stamps && !p.cut[i] && !l.At.IsZero() {
		clock := "15:04:05.000 "
		if l.At.Nanosecond() == 0 { // of a store, which has no more
			clock = "15:04:05 "
		}
		text = l.At.Local().Format(clock) + text
	}
	if p.red && i == 1 {
		text = "\x1b[31m" + text + "\x1b[0m"
	}
	if p.cut[i] = l.More; !l.More {
		text += "\n"
	}
	_, err := io.WriteString(to, text)
	return err
}

// gap prints how many lines are not kept before number n.
func (p *logPrinter) gap(n int64) {
	if left := n - p.last - 1; left > 0 {
		fmt.Fprintf(p.err, "[%d lines are not kept]\n", left)
	}
	p.last = n
}

// about prints what is missing of the run, at its begin and its end.
func (p *logPrinter) about(l web.OutputLine) {
	if p.begun && l.Run.Outcome != outcome.InProgress && !l.Gone {
		p.gap(l.Lines + 1)
	}
	if !p.begun && l.Gone {
		fmt.Fprintln(p.err, "[what the run wrote is not kept any more]")
	}
	p.begun = true
}
