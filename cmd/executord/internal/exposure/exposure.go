// Package exposure finds job files and stores to which other users may write.
package exposure

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

// Exposed says why users other than executord's own and root decide which commands are
// run, as they may write to the job file or the store, or to the directory of one. It is a
// warning and no mistake, as it is in cron: in a container, a file may be mounted whose owner
// is none of its users.
type Exposed struct{ Name, Mode, Reason, Hint string }

// File is a job file that was read. Its info is that of what was read, and not of what has its name by now; it is nil
// for standard input.
type File struct {
	Name string
	Info fs.FileInfo
}

// Of looks at the job files that were read, and at a store in a file that is there.
func Of(read []File, store string) (found []Exposed) {
	for _, r := range read {
		if r.Info != nil && r.Info.Mode().IsRegular() {
			for _, e := range lookAt(r.Name, r.Info, false) {
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
func lookAt(name string, info fs.FileInfo, anew bool) []Exposed {
	if reason, hint := writers(info); reason != "" {
		commands := make([]string, len(hint))
		for i, args := range hint {
			commands[i] = job.QuoteArgs(append(args, name))
		}
		return []Exposed{{job.Printable(name), info.Mode().String(), reason, job.Printable(strings.Join(commands, " && "))}}
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err == nil {
		if reason := writersTo(info, anew); reason != "" {
			return []Exposed{{job.Printable(dir), info.Mode().String(), reason,
				"keep " + job.Printable(name) + " in a directory that only its user may write to"}}
		}
	}
	return nil
}

// What is what the log calls it.
const What = "job file or store is writable by other users"

// Print writes for check what run has in the log.
func Print(w io.Writer, all []Exposed) {
	for _, e := range all {
		fmt.Fprintf(w, "note: %s: %s\n    %s %s\n    hint: %s\n", What, e.Reason, e.Mode, e.Name, e.Hint)
	}
}

// Log writes for run what check prints.
func Log(log *slog.Logger, all []Exposed) {
	for _, e := range all {
		log.Warn(What, "file", e.Name, "mode", e.Mode, "reason", e.Reason, "hint", e.Hint)
	}
}
