package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/tomlfile"
)

// choice is the value of a flag with few possible values.
type choice struct {
	value string
	among []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.among, "|") }

func (c *choice) Set(value string) error {
	for _, possible := range c.among {
		if value == possible {
			c.value = value
			return nil
		}
	}
	return fmt.Errorf("choose one of %s", strings.Join(c.among, ", "))
}

// newFormat adds the flag --format.
func newFormat(cmd *cobra.Command) *choice {
	format := &choice{"auto", []string{"auto", "crontab", "toml"}}
	cmd.Flags().Var(format, "format", "how FILE is written; auto takes names that end in .toml for TOML")
	return format
}

// load reads a job file for run and check alike. On mistakes it prints all of
// them, and what else there is to say about the file. With a store, more is a
// mistake.
func load(name, format string, stored bool) (job.File, error) {
	file, err := parse(name, format, stored)
	var all job.Mistakes
	switch {
	case err == nil:
		return file, nil
	case !errors.As(err, &all):
		return job.File{}, &exitError{exitMistake, err.Error()}
	}
	fmt.Fprintln(os.Stderr, err)
	printNotes(os.Stderr, file.Notes)
	count := "1 mistake"
	if len(all) > 1 {
		count = fmt.Sprintf("%d mistakes", len(all))
	}
	return job.File{}, &exitError{exitMistake, fmt.Sprintf("%s in %s", count, file.Name)}
}

// parse reads a job file. With mistakes, the error is a job.Mistakes, and of the
// file there are the name and the notes.
func parse(name, format string, stored bool) (job.File, error) {
	shown, data, err := read(name)
	if err != nil {
		return job.File{Name: shown}, err
	}
	parse := crontab.Parse
	if format == "toml" || format == "auto" && strings.EqualFold(filepath.Ext(name), ".toml") {
		parse = tomlfile.Parse
	}
	file, err := parse(shown, data)
	file.Name = shown
	if err != nil {
		return file, err
	}
	if stored {
		if found := catalog.Check(file); len(found) > 0 {
			return file, found
		}
	}
	return file, nil
}

// read returns the bytes of a file, or of standard input for -, and how the
// file is called in messages.
func read(name string) (shown string, data []byte, err error) {
	in := os.Stdin
	shown = shownName(name)
	if name != "-" {
		if in, err = os.Open(name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return name, nil, fmt.Errorf("there is no file %s", name)
			}
			return name, nil, err
		}
		defer in.Close()
		// Windows opens a directory, and calls it an incorrect function to read it.
		if info, err := in.Stat(); err == nil && info.IsDir() {
			return name, nil, fmt.Errorf("%s is a directory, not a job file", name)
		}
	}
	// One byte more than is allowed, so that the reader sees that it is more.
	data, err = io.ReadAll(io.LimitReader(in, job.MaxFileSize+1))
	return shown, data, err
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
