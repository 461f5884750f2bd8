package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// exposed says why users other than executord's own and root decide which commands are
// run, as they may write to the job file or the store. It is a warning and no mistake, as it
// is in cron: in a container, a file may be mounted whose owner is none of its users.
// The directory is not looked at: that of a volume may be written by all as a rule.
type exposed struct{ name, mode, reason, hint string }

// otherWriters looks at files, those that are not there and databases left out.
func otherWriters(names ...string) []exposed {
	var found []exposed
	for _, name := range names {
		if name == "" || name == "-" || strings.Contains(name, "://") {
			continue
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if reason, hint := writers(info); reason != "" {
			commands := make([]string, len(hint))
			for i, args := range hint {
				commands[i] = job.QuoteArgs(append(args, name))
			}
			found = append(found, exposed{job.Printable(name), info.Mode().String(), reason,
				job.Printable(strings.Join(commands, " && "))})
		}
	}
	return found
}

const exposedWhat = "others can choose the commands that are run"

// printExposed writes for check what run has in the log.
func printExposed(w io.Writer, all []exposed) {
	for _, e := range all {
		fmt.Fprintf(w, "note: %s: %s\n    %s %s\n    hint: %s\n", exposedWhat, e.reason, e.mode, e.name, e.hint)
	}
}

func logExposed(log *slog.Logger, all []exposed) {
	for _, e := range all {
		log.Warn(exposedWhat, "file", e.name, "mode", e.mode, "reason", e.reason, "hint", e.hint)
	}
}
