// Package exposure knows which files can be trusted: whoever may write to a job file, to a file with variables of jobs or
// to a store chooses the commands that are run, and so does whoever may read a private key or a token.
package exposure

import (
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Exposed is a file to which users other than executord's own and root may write, or a secret that others may read. It is
// used: in a container, a file may be mounted whose owner is none of its users. Those of which Refused says that cron would
// not are an exception. What is what the log calls it, and Hint what to do.
type Exposed struct{ Name, Mode, What, Reason, Hint string }

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
	if info, err := os.Stat(store); err == nil && !strings.Contains(store, "://") {
		read = append(slices.Clip(read), File{Name: store, Info: info})
	}
	for _, r := range read {
		if r.Info == nil || !r.Info.Mode().IsRegular() {
			continue
		}
		if reason := writers(r.Info, r.User); reason != "" {
			found = append(found, Exposed{job.Printable(r.Name), r.Info.Mode().String(), What, reason, Hint})
		}
	}
	return found
}

// Secrets looks at files that nobody else is to read, or to write to. A group may be for those who read them.
func Secrets(names ...string) (found []Exposed) {
	const read, write = 0o004, 0o022
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" || info.Mode().Perm()&(read|write) == 0 {
			continue
		}
		reason := "all users may read it"
		if info.Mode().Perm()&write != 0 {
			reason = "others may write to it"
		}
		hint := job.QuoteArgs([]string{"chmod", "g-w,o=", name})
		found = append(found, Exposed{job.Printable(name), info.Mode().String(), WhatSecret, reason, hint})
	}
	return found
}

// These are Exposed.What, and Exposed.Hint but for secrets.
const (
	What       = "job file, env_file, secret or store is writable by other users"
	WhatSecret = "secret file is open to others"
	Hint       = "make executord's user or root its owner, and let only these write to it: chmod go-w"
)

// Notes returns for check what run has in the log.
func Notes(all []Exposed) (notes job.Notes) {
	for _, e := range all {
		notes = append(notes, job.Mistake{File: e.Name, Text: e.Mode, What: e.What + ": " + e.Reason, Hint: e.Hint})
	}
	return notes
}

// Log writes for run what check notes, and which secrets are open. Each message is a constant, which the manual has.
func Log(log *slog.Logger, all []Exposed) {
	for _, e := range all {
		if e.What == WhatSecret {
			log.Warn(WhatSecret, "file", e.Name, "mode", e.Mode, "reason", e.Reason, "hint", e.Hint)
		} else {
			log.Warn(What, "file", e.Name, "mode", e.Mode, "reason", e.Reason, "hint", e.Hint)
		}
	}
}
