package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
)

func newMigrate() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "migrate",
		Short:             "Bring a store up to date, or print the SQL for it",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
migrate creates the tables of a store, or brings them up to date for this
executord, as a daemon does at its start. With --sql it prints the statements
and changes nothing. Use it if the role of the daemons may not change tables:
the role that owns the tables then runs the statements before the daemons are
replaced. If the store is up to date, it prints nothing.`),
		Example: strings.Trim(`
  executord migrate --store postgres://app@db.internal/app?sslmode=verify-full --sql >migration.sql
  psql -f migration.sql postgres://owner@db.internal/app
  executord migrate --store jobs.db`, "\n"),
		Args: complaint.NoArguments,
	}
	store := newStoreFlag(cmd, "the store")
	asSQL := cmd.Flags().Bool("sql", false, "print the SQL for a PostgreSQL database, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := store.checkNamed(); err != nil {
			return err
		}
		name := store.name()
		switch {
		case name == "":
			return fmt.Errorf("migrate needs a store: %s, or set %s", stores.Hint, environ.StoreVariable)
		case *asSQL && !stores.IsDatabase(name):
			return fmt.Errorf("--sql is for PostgreSQL: a file is brought up to date by migrate without it, or by a daemon")
		case *asSQL:
			ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
			defer cancel()
			script, err := stores.MigrationSQL(ctx, name)
			if err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			fmt.Fprint(cmd.OutOrStdout(), script)
			return nil
		}
		opened, shown, err := stores.Open(context.Background(), name, stores.Options{Create: true, Wait: databaseWait})
		if err != nil {
			return &exitError{exitMistake, err.Error()}
		}
		if err := opened.Close(); err != nil {
			return &exitError{exitMistake, stores.Explain(shown, err).Error()}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: up to date\n", shown)
		return nil
	}
	return cmd
}
