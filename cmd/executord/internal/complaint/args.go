package complaint

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// NoArguments is the Args of a command that takes none.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, but got %q", cmd.Name(), args[0])
}

// SomeArguments is the Args of a command that takes one argument or more, which what names, such as "the name of a
// job". The command has one example.
func SomeArguments(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return fmt.Errorf("%s needs %s, such as: %s", cmd.Name(), what, strings.TrimSpace(cmd.Example))
	}
}

// OnlyCommands is for a command that does nothing itself, but has commands below it: it shows its help, and a word that
// is none of these is an error.
func OnlyCommands(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
		}
		return cmd.Help()
	}
}
