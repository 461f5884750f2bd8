package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:               "schema",
		Short:             "Print the JSON schema of job files in TOML, for editors",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
schema prints the JSON schema, of draft 7, of job files in TOML. Editors with
Taplo, such as VS Code with Even Better TOML, use it if a file begins with this
line:

  #:schema ./executord.schema.json

Then they complete keys, explain each, and mark mistakes.`),
		Example: "  executord schema > executord.schema.json",
		Args:    complaint.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.MarshalIndent(keys.Schema(), "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			return err
		},
	}
}
