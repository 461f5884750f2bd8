package main

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// exposed says why users other than executord's own and root decide which commands are
// run, as they may write to the job file or the store, or to the directory of one. It is a
// warning and no mistake, as it is in cron: in a container, a file may be mounted whose owner
// is none of its users.
type exposed struct{ name, mode, reason, hint string }

// otherWriters looks at the job files that were read, and at a store in a file that is there.
func otherWriters(read []readFile, store string) (found []exposed) {
	for _, r := range read {
		if r.info != nil && r.info.Mode().IsRegular() {
			for _, e := range lookAt(r.name, r.info, false) {
				if !slices.Contains(found, e) { // files of one directory
					found = append(found, e)
				}
			}
		}
	}
	if store == "" || strings.Contains(store, "://") {
		return found
	}
	if info, err := os.Stat(store); err == nil && info.Mode().IsRegular() {
		found = append(found, lookAt(store, info, true)...)
	}
	return found
}

// lookAt looks at a file or, if nobody else may write to that, at its directory. Anew says that files which somebody
// puts beside it matter.
func lookAt(name string, info fs.FileInfo, anew bool) []exposed {
	if reason, hint := writers(info); reason != "" {
		commands := make([]string, len(hint))
		for i, args := range hint {
			commands[i] = job.QuoteArgs(append(args, name))
		}
		return []exposed{{job.Printable(name), info.Mode().String(), reason, job.Printable(strings.Join(commands, " && "))}}
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err == nil {
		if reason := writersTo(info, anew); reason != "" {
			return []exposed{{job.Printable(dir), info.Mode().String(), reason,
				"keep " + job.Printable(name) + " in a directory that only its user may write to"}}
		}
	}
	return nil
}

const exposedWhat = "job file or store is writable by other users"

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
