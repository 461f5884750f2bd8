package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

// newFormat adds the flag --format.
func newFormat(cmd *cobra.Command) *choice {
	format := &choice{"auto", []string{"auto", "crontab", "system", "toml"}}
	cmd.Flags().Var(format, "format", "how FILE is written; auto takes names that end in .toml for TOML; system is a crontab with users, such as /etc/crontab")
	return format
}

// parse reads one job file, for the first time or again. With mistakes, the error is a
// job.Mistakes, and of the file there are the name and the notes.
func parse(name, format string, again bool) (job.File, exposure.File, error) {
	shown, data, info, err := read(name, again)
	from := exposure.File{Name: name, Info: info}
	if err != nil {
		return job.File{Name: shown}, from, err
	}
	parse, guessed := crontab.Parse, false
	switch {
	case format == "toml", format == "auto" && strings.EqualFold(filepath.Ext(name), ".toml"):
		parse = tomlfile.Parse
	case format == "system", format == "auto" && isSystem(name):
		parse = crontab.ParseSystem
	case format == "auto":
		guessed = true
	}
	file, err := parse(shown, data)
	file.Name = shown
	if err != nil && guessed {
		if what, hint := foreign(name, data); what != "" {
			file, err = job.File{Name: shown}, job.Mistakes{{File: shown, Line: 1, What: what, Hint: hint}}
		}
	}
	return file, from, err
}

// isSystem reports whether a file is one of those in which cron has a user in each line.
func isSystem(name string) bool {
	path, err := filepath.Abs(name)
	return err == nil && (path == "/etc/crontab" || filepath.Dir(path) == "/etc/cron.d")
}

// pipeWait is how long the writer of a pipe that is a job file may be away at the start. It is documented. A test
// shortens it.
var pipeWait = 10 * time.Second

// read returns the bytes of a file, or of standard input for -, how the file is
// called in messages, and what it is. Again says that a file was read before: a pipe
// that is in its place by now is an error.
func read(name string, again bool) (shown string, data []byte, info fs.FileInfo, err error) {
	in := os.Stdin
	shown = shownName(name)
	if name != "-" {
		if in, err = inputfile.Open(name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return name, nil, nil, fmt.Errorf("%s does not exist", name)
			}
			return name, nil, nil, err
		}
		defer in.Close()
		if info, err = in.Stat(); err != nil {
			return name, nil, nil, err
		}
		// Windows opens a directory, and calls it an incorrect function to read it.
		if info.IsDir() {
			return name, nil, info, fmt.Errorf("%s is a directory, not a job file; for all files in it use --dir", name)
		}
		if again && !info.Mode().IsRegular() {
			return name, nil, info, fmt.Errorf("%s is no longer a regular file", name)
		}
	}
	// One byte more than is allowed, so that the reader sees that it is more.
	limited := func() io.Reader { return io.LimitReader(inputfile.Text(in), job.MaxFileSize+1) }
	data, err = io.ReadAll(limited())
	if info == nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return shown, data, info, err
	}
	for end := time.Now().Add(pipeWait); err == nil && len(data) == 0; data, err = io.ReadAll(limited()) {
		if isDescriptor(name) || time.Now().After(end) {
			return shown, nil, info, fmt.Errorf("%s is a pipe to which nobody writes; name a file, or a pipe that has a writer", name)
		}
		time.Sleep(10 * time.Millisecond) // nothing tells of a writer that opens a pipe
	}
	return shown, data, info, err
}

// shownName returns the name of a job file in messages.
func shownName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// printNotes writes notes as mistakes are written, but marked.
func printNotes(w io.Writer, notes job.Notes) {
	for _, note := range notes {
		note.What = "note: " + note.What
		fmt.Fprintln(w, note.String())
	}
}
