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
export writes the whole content of a store that no program uses: it fails while
a node is alive. Standard error says how many jobs killed nodes held.`),
		Example: "  executord store export --store jobs.db >jobs.jsonl",
		Args:    complaint.NoArguments,
	}
	open := h.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return h.visit(cmd, open, false, 0, func(ctx context.Context, c client) error {
			s, err := transfer.Export(ctx, c.store, c.out)
			if err != nil {
				return trimmed(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "exported %d jobs, %d runs\n", s.Jobs, s.Runs)
			if s.Held > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d jobs belonged to a killed node: the first node of the other store frees them\n", s.Held)
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
		Short: "Add an export to an empty store, all of it or nothing",
		Long: strings.TrimSpace(`
import reads FILE, or standard input, and adds all of it to a store, which is
created if it is a file that does not exist. The store must be empty, and no
program may use it. A file that was cut or changed is refused.`),
		Example: "  executord store import --store postgres://app@db/app jobs.jsonl",
		Args: func(_ *cobra.Command, files []string) error {
			if len(files) > 1 {
				return fmt.Errorf("import takes one file, but got %q too", files[1])
			}
			return nil
		},
	}
	open := h.Flag(cmd)
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
		return h.visit(cmd, open, true, 0, func(ctx context.Context, c client) error {
			s, err := transfer.Import(ctx, c.store, from)
			switch {
			case errors.Is(err, store.ErrNotEmpty):
				return mistake("%s is not empty: name another store", c.shown)
			case err != nil:
				return trimmed(err)
			}
			fmt.Fprintf(c.out, "imported %d jobs, %d runs\n", s.Jobs, s.Runs)
			return nil
		})
	}
	return cmd
}

// trimmed returns the error of a transfer without the name of the package.
func trimmed(err error) error {
	text := strings.TrimPrefix(err.Error(), "durable/transfer: ")
	return mistake("%s", strings.TrimPrefix(strings.TrimPrefix(text, "import: "), "export: "))
}
