package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
)

// maxHealth is how much of an answer is printed.
const maxHealth = 1 << 10

func newHealth() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "health",
		Short:             "Ask a daemon whether it is well, for probes",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
health asks a daemon that runs with --listen whether it is alive; with --ready,
whether its file is loaded, its store answers, and no drain has begun. It needs
no token. The exit code is 0 if the answer is yes, else 1.`),
		Example: strings.Trim(`
  executord health
  executord health --ready --at unix:/run/executord.sock
  executord health --at https://127.0.0.1:8384 --ca-file /etc/executord/cert.pem`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("health takes no arguments, and got %q; name a daemon by --at", args[0])
			}
			return nil
		},
	}
	at := newAtFlag(cmd)
	ready := cmd.Flags().Bool("ready", false, "ask whether it runs its jobs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := at.client()
		if err != nil {
			return err
		}
		path := "/healthz"
		if *ready {
			path = "/readyz"
		}
		ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
		defer cancel()
		body, err := c.get(ctx, path, nil)
		if err != nil {
			return err
		}
		defer body.Close()
		text, err := io.ReadAll(io.LimitReader(body, maxHealth))
		if err != nil {
			return &exitError{exitMistake, "the daemon's answer was cut: " + err.Error()}
		}
		fmt.Fprintln(cmd.OutOrStdout(), job.Printable(strings.TrimSpace(string(text))))
		return nil
	}
	return cmd
}
