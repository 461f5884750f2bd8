// Package exposure finds job files, files with variables of jobs, and stores to which other users may write.
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

// Exposed says why users other than executord's own and root decide which commands are run, as they may write to the
// job file, to one with variables, such as PATH, or to the store, or to the directory of one. It is a warning and no
// mistake, as it is in cron: in a container, a file may be mounted whose owner is none of its users.
type Exposed struct{ Name, Mode, Reason, Hint string }

// File is a file that was read. The info of a job file is that of what was read, and not of what has its name by now;
// it is nil for standard input.
type File struct {
	Name string
	Info fs.FileInfo
	User string // as whom the commands run that use it, besides executord's own; "" if there is no other
}

// Used returns the files of env_file and secret that are there. For the values of other machines there need be none.
func Used(jobs []job.Job) (files []File) {
	type use struct{ name, user string }
	seen := make(map[use]bool)
	for _, j := range jobs {
		names := slices.Clone(j.Command.EnvFiles)
		for _, secret := range j.Command.Secrets {
			_, name, _ := strings.Cut(secret, "=")
			names = append(names, name)
		}
		for _, name := range names {
			u := use{name, j.Command.User}
			if seen[u] {
				continue
			}
			seen[u] = true
			if info, err := os.Stat(name); err == nil {
				files = append(files, File{name, info, u.user})
			}
		}
	}
	return files
}

// Of looks at the files that were read, and at a store in a file that is there.
func Of(read []File, store string) (found []Exposed) {
	for _, r := range read {
		if r.Info != nil && r.Info.Mode().IsRegular() {
			for _, e := range lookAt(r, false) {
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
		found = append(found, lookAt(File{Name: store, Info: info}, true)...)
	}
	return found
}

// lookAt looks at a file or, if nobody else may write to that, at its directory. Anew says that files which somebody
// puts beside it matter.
func lookAt(f File, anew bool) []Exposed {
	name, info := f.Name, f.Info
	if reason, hint := writers(info, f.User); reason != "" {
		commands := make([]string, len(hint))
		for i, args := range hint {
			commands[i] = job.QuoteArgs(append(args, name))
		}
		return []Exposed{{job.Printable(name), info.Mode().String(), reason, job.Printable(strings.Join(commands, " && "))}}
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err == nil {
		if reason := writersTo(info, f.User, anew); reason != "" {
			return []Exposed{{job.Printable(dir), info.Mode().String(), reason,
				"keep " + job.Printable(name) + " in a directory that only its user may write to"}}
		}
	}
	return nil
}

// What is what the log calls it.
const What = "job file, env_file, secret or store is writable by other users"

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
