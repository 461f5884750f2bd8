package anystore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/transfer"
)

// export is the command that writes all that a store keeps.
func (h Host) export() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the whole content of a store, as lines of JSON",
		Long: strings.TrimSpace(`
export writes a snapshot of the whole store; programs may use the store
meanwhile. To move to another store, end the programs first: later changes are
not in the export. Standard error says how many jobs nodes hold.`),
		Example: "  executord store export --store jobs.db >jobs.jsonl",
		Args:    complaint.NoArguments,
	}
	open := h.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return h.visit(cmd, open, false, 0, func(ctx context.Context, c client) error {
			s, err := transfer.Export(ctx, c.store, c.out)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "exported %d jobs, %d runs\n", s.Rows.Jobs, s.Rows.Runs)
			if s.Held > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d jobs belonged to a node: an import frees them, and runs that had begun begin again\n", s.Held)
			}
			return nil
		})
	}
	return cmd
}

// importing is the command that reads what export has written.
func (h Host) importing() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Add an export to a store, all of it or nothing",
		Long: strings.TrimSpace(`
import reads FILE, or standard input, and adds all of it to a store, which is
created if it is a file that does not exist. The store must be empty, unless
--add is given: then a job whose ID exists already does not change, and a key
that another job has is a mistake. A file that was cut or changed is refused.`),
		Example: "  executord store import --store postgres://app@db/app jobs.jsonl",
		Args: func(_ *cobra.Command, files []string) error {
			if len(files) > 1 {
				return fmt.Errorf("import takes one file, but got %q too", files[1])
			}
			return nil
		},
	}
	open := h.Flag(cmd)
	add := cmd.Flags().Bool("add", false, "add to a store that is not empty")
	dry := cmd.Flags().Bool("dry-run", false, "check the file, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var from io.Reader = cmd.InOrStdin()
		if len(args) > 0 && args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return h.Mistake(err)
			}
			defer f.Close()
			from = f
		}
		if *dry {
			s, err := transfer.Check(from)
			if err != nil {
				return h.Mistake(trimmed(err))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d jobs, %d runs; exported %s\n", s.Rows.Jobs, s.Rows.Runs, instant(s.Exported))
			return nil
		}
		return h.visit(cmd, open, true, 0, func(ctx context.Context, c client) error {
			r, err := transfer.Import(ctx, c.store, from, transfer.Options{Add: *add})
			switch {
			case errors.Is(err, store.ErrNotEmpty):
				return mistake("%s is not empty: name another store, or use --add", c.shown)
			case err != nil:
				return trimmed(err)
			}
			fmt.Fprintf(c.out, "imported %d jobs, %d runs\n", r.Jobs, r.Rows.Runs)
			if r.There > 0 {
				fmt.Fprintf(c.out, "%d jobs existed already, and did not change\n", r.There)
			}
			if r.Freed > 0 {
				fmt.Fprintf(c.out, "%d jobs belonged to a node of the other store: %d are dead, the others wait again\n", r.Freed, r.Dead)
			}
			return nil
		})
	}
	return cmd
}

// trimmed returns the error of a transfer without the name of the package.
func trimmed(err error) error {
	text := strings.TrimPrefix(err.Error(), "durable/transfer: ")
	return mistake("%s", strings.TrimPrefix(text, "import: "))
}
