package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/durable"
)

func newRecord() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "acts",
		Short:             "Show the audit log: actions on jobs, and why",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
acts shows the actions on the jobs of a store, by cancel, pause, resume, run-now
and the pages of a daemon, the latest first. Actions are kept for a year.`),
		Example: "  executord acts --store jobs.db",
		Args:    complaint.NoArguments,
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each")
	number := cmd.Flags().IntP("number", "n", 20, "how many to show, at most")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *number < 1 {
			return fmt.Errorf("-n %d: it must be 1 or more", *number)
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			found, err := v.Jobs.Acts(ctx, durable.ActFilter{Limit: *number})
			switch {
			case err != nil:
				return err
			case *asJSON:
				return job.WriteJSON(cmd.OutOrStdout(), found)
			case len(found) == 0:
				fmt.Fprintln(os.Stderr, "no actions")
				return nil
			}
			return actTable(found).Fit(terminal.Width(cmd.OutOrStdout())).Write(cmd.OutOrStdout())
		})
	}
	return cmd
}

func actTable(acts []durable.Act) *terminal.Table {
	t := new(terminal.Table)
	t.Add("AT", "ACTION", "JOB", "BY", "REASON", "ANSWER")
	for _, a := range acts {
		t.Add(a.At.Local().Format("2006-01-02 15:04:05"), job.Printable(a.Action), job.Printable(catalog.NameOf("", a.Key)),
			job.Printable(a.Who), job.Printable(a.Reason), job.Printable(a.Answer))
	}
	return t
}
