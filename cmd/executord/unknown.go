package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// otherWords are those that people try for what other schedulers have, by the commands that do it here.
var otherWords = map[string][]string{
	"acts":         {"audit", "actions"},
	"cancel":       {"delete", "remove", "rm"},
	"cluster":      {"members", "etcd", "backup", "restore"},
	"check":        {"test", "validate", "verify", "lint", "configtest"},
	"end-run":      {"end", "abort", "terminate", "interrupt"},
	"exclude-next": {"skip", "skip-next", "omit", "leave-out"},
	"explain":      {"describe", "translate", "human"},
	"health":       {"status", "ping", "probe", "ready", "alive"},
	"import":       {"convert", "init"},
	"jobs":         {"list", "ls", "ps", "show", "status", "top"},
	"logs":         {"tail", "output", "cat", "follow"},
	"migrate":      {"upgrade"},
	"next":         {"when", "upcoming", "forecast", "schedule", "times"},
	"notices":      {"notifications", "alerts", "messages", "mails"},
	"pause":        {"disable", "suspend", "hold"},
	"resume":       {"enable", "unpause", "continue", "revive"},
	"run":          {"start", "daemon", "serve", "server", "up"},
	"run-once":     {"exec", "once", "try", "test", "trigger", "dry-run"},
	"run-now":      {"trigger", "fire", "kick", "force"},
	"runs":         {"history", "executions", "past"},
	"version":      {"about"},
}

// daemonWords are those that people try for what is done to a daemon by a signal.
var daemonWords = map[string]string{
	"stop":    "a run is ended by executord end-run, and a daemon when it gets SIGTERM, as by systemctl stop executord",
	"quit":    "a daemon ends when it gets SIGTERM, as by systemctl stop executord",
	"down":    "a daemon ends when it gets SIGTERM, as by systemctl stop executord",
	"kill":    "a run is ended by executord end-run, and a daemon when it gets SIGTERM, as by systemctl stop executord",
	"restart": "a daemon reads its files again when it gets SIGHUP, as by systemctl reload executord",
	"reload":  "a daemon reads its files again when it gets SIGHUP, as by systemctl reload executord, or with run --watch",
	"edit":    "change the job file with an editor, and then try executord check",
	"add":     "change the job file with an editor, and then try executord check",
}

// unknownCommand returns the error for a command line that ends before one of the commands below cmd: its next word is
// none. It is nil if there is no such word.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if !cmd.HasSubCommands() {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	depth := len(strings.Fields(cmd.CommandPath())) - 1
	if len(words) <= depth {
		return nil
	}
	word := words[depth]
	text := fmt.Sprintf("unknown command %q for %q", word, cmd.CommandPath())
	if !cmd.HasParent() && daemonWords[word] != "" {
		return errors.New(text + ": " + daemonWords[word])
	}
	near := likeCommand(cmd, word)
	if len(near) == 0 && !cmd.HasParent() {
		if _, err := os.Stat(word); err == nil {
			near = []string{"run " + word}
		}
	}
	return errors.New(text + didYouMean(near))
}

// likeCommand returns the commands below cmd that a word may stand for.
func likeCommand(cmd *cobra.Command, word string) (near []string) {
	word = strings.ToLower(word)
	var known []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		known = append(known, sub.Name())
		if !cmd.HasParent() && slices.Contains(otherWords[sub.Name()], word) {
			near = append(near, sub.Name())
		}
	}
	if like := job.Closest(word, known); len(near) == 0 && like != "" {
		return []string{like}
	}
	for _, name := range known {
		if len(near) == 0 && strings.HasPrefix(name, word) {
			return []string{name}
		}
	}
	return near
}

// likeFlag adds to the error about an unknown flag of a command the one that it may stand for.
func likeFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if like := job.Closest(unknown.GetSpecifiedName(), known); like != "" {
		return fmt.Errorf("%w%s", err, didYouMean([]string{"--" + like}))
	}
	return err
}

// didYouMean returns the end of a message with what was probably meant, "" if that is not known.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
