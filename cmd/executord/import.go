package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/importer"
	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Print TOML for the jobs of another scheduler",
		Long: strings.TrimSpace(`
import reads the jobs of another scheduler from each FILE (- for standard input)
and prints a job file in TOML. A comment above a job says what could not be
imported. A job that did not run, or would not run, is commented out.

FILE is a .timer of systemd, with the .service beside it, what systemctl cat
prints of both, a compose file with labels of ofelia, or ofelia's own file.

Crontabs need no import: run reads them. For other schedulers the manual shows
what to write by hand.`),
		Example: strings.Trim(`
  executord import /etc/systemd/system/backup.timer > jobs.toml
  systemctl cat backup.timer backup.service | executord import - > jobs.toml
  executord import compose.yml > jobs.toml`, "\n"),
		Args: someFiles,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var all importer.Found
		for _, name := range args {
			found, err := importFile(name)
			if err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			all.Jobs, all.Lost = append(all.Jobs, found.Jobs...), append(all.Lost, found.Lost...)
		}
		if len(all.Jobs) == 0 {
			return &exitError{exitMistake, "no jobs in " + strings.Join(args, ", ")}
		}
		shown := make([]string, len(args))
		for i, name := range args {
			shown[i] = shownName(name)
		}
		text, off := importer.TOML(strings.Join(shown, ", "), all)
		if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
			return err
		}
		lost := len(all.Lost)
		for _, j := range all.Jobs {
			lost += len(j.Lost)
		}
		fmt.Fprintf(os.Stderr, "executord: %s, %d of them commented out, and %s on what was not imported\n",
			terminal.Count(strconv.Itoa(len(all.Jobs)), "job"), off, terminal.Count(strconv.Itoa(lost), "remark"))
		return nil
	}
	return cmd
}

// importFile reads the jobs of one file.
func importFile(name string) (importer.Found, error) {
	shown, data, _, err := read(name, false)
	if err != nil {
		return importer.Found{}, err
	}
	if len(data) > job.MaxFileSize {
		return importer.Found{}, fmt.Errorf("%s is larger than 8 megabytes", shown)
	}
	found, err := importer.Read(shown, data, func(other string) ([]byte, error) {
		if name == "-" || filepath.Base(other) != other {
			return nil, errors.New("it is not beside the file")
		}
		text, err := inputfile.Read(filepath.Join(filepath.Dir(name), other), job.MaxFileSize)
		if err != nil {
			return nil, errors.New("it is not beside the file")
		}
		return text, nil
	})
	if errors.Is(err, importer.ErrUnknown) {
		return found, fmt.Errorf("%s: %w; %s", shown, err, byHand)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", shown, err)
	}
	return found, nil
}

// byHand is what to do with jobs of a scheduler of which nothing can be imported.
const byHand = "docs/how-to/from-another-scheduler.md shows what to write by hand"

// foreign returns what to do with a file that is wrong as a job file, if it is one of another kind; "" if it may be a
// crontab with mistakes.
func foreign(name string, data []byte) (what, hint string) {
	begin := bytes.TrimLeft(significant.Find(data), " \t")
	ending := strings.ToLower(filepath.Ext(name))
	if len(data) > job.MaxFileSize || len(begin) == 0 || bytes.ContainsAny(begin[:1], "0123456789*@-") && ending != ".json" {
		return "", ""
	}
	if bytes.HasPrefix(begin, []byte("[[")) {
		return "the file is TOML, and is read as a crontab because of its name", "name it " + filepath.Base(name) + ".toml, or set --format toml"
	}
	found, err := importer.Read(name, data, func(string) ([]byte, error) { return nil, errors.ErrUnsupported })
	switch {
	case err == nil && len(found.Jobs) > 0, err != nil && !errors.Is(err, importer.ErrUnknown):
		return "the file is of another scheduler, and no job file", "print a job file for its jobs with: executord import " + name
	case begin[0] == '[' || slices.Contains([]string{".yml", ".yaml", ".json", ".ini", ".timer", ".service"}, ending):
		return "the file is of another program, and no job file", byHand
	}
	return "", ""
}

// significant is the first text of a file that is no comment.
var significant = regexp.MustCompile(`(?m)^[ \t]*[^#; \t\r\n].*$`)
