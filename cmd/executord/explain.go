package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "explain SCHEDULE",
		Short:             "Say in words when a schedule is due, with its next times",
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: strings.TrimSpace(`
explain reads SCHEDULE, or a line of a crontab, and prints what it says in
words, when it is due next, what the changes of the clock within a year do to
it, and what is unusual about it. Put SCHEDULE into single quotes, or the shell
replaces the stars by names of files.`),
		Example: strings.Trim(`
  executord explain '30 2 * * 1-5'
  executord explain --zone America/New_York '0 9 1 * *'`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("explain needs a schedule, such as: executord explain '30 2 * * 1-5'")
			}
			return nil
		},
	}
	times := newTimesFlags(cmd, nextTimes, "")
	zone := cmd.Flags().String("zone", "", "the zone in which the schedule is read; the default is executord's own")
	language := &choice{job.Plain, job.Languages}
	cmd.Flags().Var(longChoice{language, "language"}, "cron", "the language of the fields: "+strings.Join(job.Languages, ", "))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loc, err := job.LoadZone(*zone)
		if err != nil {
			return fmt.Errorf("--zone: %v; %s", err, job.ZoneHint)
		}
		from, err := times.begin(loc)
		if err != nil {
			return err
		}
		text := strings.Join(args, " ")
		s, notes, err := scheduleOf(text, loc, language.value)
		if err != nil {
			if len(args) > 5 {
				err = fmt.Errorf("%w\n    are the quotes missing? The shell replaces * with the names of files", err)
			}
			return &exitError{exitMistake, err.Error()}
		}
		explain(cmd.OutOrStdout(), s, notes, from, times.number)
		return nil
	}
	return cmd
}

// scheduleOf reads a schedule, or that of a line of a crontab.
func scheduleOf(text string, loc *time.Location, language string) (s job.Schedule, notes []string, err error) {
	s, odd, wrong := job.Syntax{Zone: loc, Language: language, Name: "explain"}.ParseSchedule(text)
	if wrong == nil {
		for _, n := range odd {
			notes = append(notes, sentence(n.What, n.Hint))
		}
		return s, notes, nil
	}
	file, err := crontab.Parse("", []byte("CRON_TZ="+zoneSetting(loc)+"\nCRON="+language+"\n"+text+"\n"))
	if err == nil && len(file.Jobs) == 1 {
		for _, n := range file.Notes {
			notes = append(notes, sentence(n.What, n.Hint))
		}
		return file.Jobs[0].Schedule, notes, nil
	}
	return s, nil, errors.New(sentence(wrong.What, wrong.Hint))
}

// zoneSetting is how a zone is written after CRON_TZ=.
func zoneSetting(loc *time.Location) string {
	if loc == time.Local {
		return ""
	}
	return loc.String()
}

// sentence joins what is wrong with what to do about it.
func sentence(what, hint string) string {
	if hint == "" {
		return what
	}
	return what + "; " + hint
}

// explain prints all that there is to say about a schedule.
func explain(w io.Writer, s job.Schedule, notes []string, from time.Time, n int) {
	wide := terminal.Width(w)
	say := func(text string) {
		for i, line := range terminal.WrapWords(job.Printable(text), wide-4) {
			fmt.Fprintf(w, "%s%s\n", [...]string{"  ", "    "}[min(i, 1)], line)
		}
	}
	fmt.Fprintln(w, job.Printable(s.Text))
	say(s.Describe())
	if s.AtStart || s.After {
		return
	}
	fmt.Fprintln(w, "\nNext times")
	none := true
	for at := range forecast.Upcoming(s, from) {
		note := noteOf(s, at)
		if note != "" {
			note = "   " + note
		}
		fmt.Fprintf(w, "  %s%s\n", showTime(at, job.Job{Schedule: s}), note)
		none = false
		if n--; n == 0 {
			break
		}
	}
	if none {
		fmt.Fprintln(w, "  never")
	}
	if s.Every() > 0 {
		fmt.Fprintln(w)
		say("@every counts from when executord first reads the job; these count from now")
	}
	if changes := forecast.Changes(s, from, from.AddDate(1, 0, 0)); len(changes) > 0 {
		fmt.Fprintln(w, "\nChanges of the clock")
		for _, c := range changes {
			say(c.String())
		}
	}
	if notes = append(notes, s.Gaps()...); len(notes) > 0 {
		fmt.Fprintln(w, "\nOdd")
		for _, note := range notes {
			say(note)
		}
	}
}
