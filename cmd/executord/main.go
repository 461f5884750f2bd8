// Command executord runs the jobs of crontabs and TOML files.
//
//	executord run FILE...    run the jobs until SIGINT or SIGTERM, then drain
//	executord run-once FILE JOB
//	                         run a job now, here, without a daemon
//	executord check FILE...  validate the file, show the next runs
//	executord next FILE      print when the jobs are due, in order
//	executord explain '30 2 * * 1-5'
//	                         say in words when a schedule is due
//	executord import FILE... print TOML for what other schedulers have
//	executord http URL       make an HTTP request, for a job
//	executord notify test FILE
//	                         try the channels that are told of jobs
//	executord schema         print the JSON schema of job files, for editors
//	executord completion bash
//	                         print a script that completes command lines
//	executord version        print the version
//
// With run --store the jobs are kept in a file, in PostgreSQL or in etcd, and with run
// --cluster by the daemons themselves, where these act on them:
//
//	executord run-now|pause|resume|exclude-next|end-run|cancel JOB...
//	executord acts                            show the audit log
//	executord cluster status|replace|backup|restore|certificates
//	                                          look after the cluster of run --cluster
//	executord migrate                         bring it up to date, or print the SQL for it
//	executord store list|show|cancel|export|...
//	                                          look into the store of any program
//
// These look at such a store, or at a daemon that runs with --listen:
//
//	executord jobs [JOB...]                   list the jobs
//	executord runs [JOB...]                   show what has run
//	executord logs JOB [RUN]                  print what a run has written
//	executord notices [JOB...]                show the notifications that were sent
//	executord health                          ask a daemon whether it is well
//
// The manual is docs/executord.md in the repository.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/complaint"
)

func main() {
	os.Exit(execute(os.Args[1:]))
}

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	answer := &answerWriter{to: os.Stdout}
	root.SetOut(answer)
	cmd, err := root.ExecuteC()
	var exit *exitError
	if answer.err != nil { // err, if there is one, follows from it
		err = &exitError{exitMistake, "standard output cannot be written: " + complaint.Cause(answer.err).Error()}
	}
	if err == nil {
		return exitOK
	}
	code, text := exitUsage, ""
	if missing := new(client.MissingError); errors.As(err, &missing) {
		code, text = exitMistake, missing.Error()
	} else if errors.As(err, &exit) {
		code, text = exit.code, exit.text
	} else { // it comes from cobra: the command line is wrong
		if unknown := unknownCommand(cmd, args); unknown != nil {
			err = unknown // its flags are not looked at
		}
		text = err.Error() + "\nSee " + cmd.CommandPath() + " --help."
	}
	if text != "" {
		fmt.Fprintln(complaint.Stderr, "executord: "+complaint.Presentable(text))
	}
	return code
}

// answerWriter is standard output, for all commands but run. It keeps the first
// error, for execute.
type answerWriter struct {
	to  *os.File
	err error
}

// Fd makes it known as a terminal if standard output is one.
func (w *answerWriter) Fd() uintptr { return w.to.Fd() }

func (w *answerWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "executord",
		Short: "Run the jobs of a crontab or a TOML file",
		Long: strings.TrimSpace(`
executord runs the jobs of a crontab, or of a TOML file, when they are due. It
stays in the foreground, logs what jobs do and write, and runs unprivileged.`),
		Example: strings.Trim(`
  executord check jobs.crontab
  executord run jobs.crontab
  executord run jobs.toml --log json
  executord run jobs.crontab --store jobs.db
  executord jobs --store jobs.db`, "\n"),
		SilenceUsage:  true, // a mistake is shown alone, not below a page of help
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) && bad.GetFlag().Value.Type() == "duration" {
			return fmt.Errorf("--%s %s: not a duration; write it with units, as 90s or 1h30m", bad.GetFlag().Name, bad.GetValue())
		}
		return likeFlag(cmd, err)
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkGiven(cmd.Flags()) }
	addGroup(root, "file", "With a job file:", newRun(), newRunOnce(), newCheck(), newNext(), newNotify())
	addGroup(root, "write", "To write a job file:", newExplain(), newImport(), newSchema())
	addGroup(root, "job", "As the command of a job:", newHTTP())
	addGroup(root, "store", "With a store, while daemons run or not:", append(newActs(), newRecord(), newMigrate(), newAnyStore(), newCluster())...)
	addGroup(root, "look", "With a store, or a daemon that listens:", newJobs(), newRuns(), newLogs(), newNotices())
	addGroup(root, "probe", "With a daemon that listens:", newHealth())
	root.AddCommand(newCompletion(), newVersion())
	completeFlags(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownCommand
	}
	return root
}

// checkGiven refuses flags with an empty value, as of a script whose variable is not set: without a token, or an address
// to listen at, a daemon would do something else than it was meant to. Texts may be empty, and the store says more. It
// also refuses a store beside a daemon to ask: one of the two would have no effect.
func checkGiven(flags *pflag.FlagSet) (err error) {
	mayBeEmpty := []string{"reason", "error", "store"}
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" && !slices.Contains(mayBeEmpty, f.Name) {
			err = fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	if err == nil && flags.Changed("at") && flags.Changed("store") {
		err = errors.New("--at asks a daemon, and --store a store: leave one of them out")
	}
	return err
}

// knownCommand is the argument of help. By itself, cobra takes none that it does
// not know for a mistake.
func knownCommand(help *cobra.Command, args []string) error {
	cmd, _, err := help.Root().Find(args)
	if unknown := unknownCommand(cmd, args); unknown != nil {
		return unknown
	}
	return err
}

// addGroup adds commands under a title of their own.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}
