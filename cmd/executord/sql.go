package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/statement"
)

func newSQL() *cobra.Command {
	return &cobra.Command{
		Use:   "sql DATABASE",
		Short: "Run SQL from standard input, for a job",
		Long: strings.TrimSpace(`
sql runs the statements of standard input, up to 16 MiB, on DATABASE, which is
postgres://user@host/database or the path of a SQLite file, and prints their
results. A job with sql in TOML runs this command. $NAME and ${NAME} in
DATABASE are variables of the environment, so that no password needs to be on
the command line, which all users can read.

PostgreSQL runs the statements in one transaction, unless they contain begin and
commit.`),
		Example: "  echo 'delete from sessions where expires < now()' | executord sql '$SHOP_DATABASE'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("sql needs one database, such as: executord sql postgres://app@db.internal/shop")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readBody(os.Stdin)
			if err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			dsn, err := statement.Expand(args[0])
			if err == nil {
				err = statement.Run(context.Background(), dsn, string(text), cmd.OutOrStdout())
			}
			if err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			return nil
		},
	}
}
