package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
imported. A job that is disabled, or would not run, is commented out.

  systemd     a .timer, with the .service beside it
  ofelia      a compose file with its labels, or its own file
  cronicle    an export, or what its API returns for get_schedule
  dkron       what GET /v1/jobs returns
  kubernetes  CronJobs, in YAML or JSON
  github      a workflow with a schedule

Crontabs need no import: run reads them.`),
		Example: strings.Trim(`
  executord import /etc/systemd/system/backup.timer > jobs.toml
  kubectl get cronjobs -o yaml | executord import - > jobs.toml
  curl -s http://dkron:8080/v1/jobs | executord import --kind dkron -`, "\n"),
		Args: someFiles,
	}
	kind := &choice{"auto", append([]string{"auto"}, importer.Kinds...)}
	cmd.Flags().Var(longChoice{kind, "kind"}, "kind", "the scheduler that the jobs are from, see above; auto recognizes it by the name and the text of FILE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var all []importer.Job
		for _, name := range args {
			jobs, err := importFile(name, strings.TrimPrefix(kind.value, "auto"))
			if err != nil {
				return &exitError{exitMistake, err.Error()}
			}
			all = append(all, jobs...)
		}
		if len(all) == 0 {
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
		lost := 0
		for _, j := range all {
			lost += len(j.Lost)
		}
		fmt.Fprintf(os.Stderr, "executord: %s, %d of them commented out, and %s on what was not imported\n",
			terminal.Count(strconv.Itoa(len(all)), "job"), off, terminal.Count(strconv.Itoa(lost), "remark"))
		return nil
	}
	return cmd
}

// importFile reads the jobs of one file.
func importFile(name, kind string) ([]importer.Job, error) {
	shown, data, _, err := read(name, false)
	if err != nil {
		return nil, err
	}
	if len(data) > job.MaxFileSize {
		return nil, fmt.Errorf("%s is larger than 8 megabytes", shown)
	}
	jobs, err := importer.Read(kind, shown, data, func(other string) ([]byte, error) {
		if name == "-" || filepath.Base(other) != other {
			return nil, errors.New("it is not beside the file")
		}
		text, err := inputfile.Read(filepath.Join(filepath.Dir(name), other), job.MaxFileSize)
		if err != nil {
			return nil, errors.New("it is not beside the file")
		}
		return text, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	return jobs, nil
}
