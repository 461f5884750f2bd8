package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/cmd/executord/internal/web"
)

func newNotices() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notices [JOB...]",
		Short: "Show the notifications about the jobs in a store, or of a daemon",
		Long: strings.TrimSpace(`
notices shows the messages that were sent on the channels [notify.NAME], about
the jobs named or all, the latest first: what they were about, when they were
sent, and what the answer was. A message that was given up has the last error.

Messages that wait are shown, too: for the end of quiet hours or of a digest,
because of a limit, or for the next try. A store keeps messages for 30 days, at
most 1,000 of a namespace; of pings it keeps only those that were given up.`),
		Example: strings.Trim(`
  executord notices --at 127.0.0.1:8384
  executord notices --store jobs.db backup -n 100`, "\n"),
	}
	store := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
	at := newAtFlag(cmd)
	namespace := newNamespaceFlag(cmd, "show only messages about this namespace")
	cmd.ValidArgsFunction = namesOfJobs(manyNames, store, at, namespace)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each message")
	number := cmd.Flags().IntP("number", "n", 20, "how many messages to show, at most")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if err := checkNamespace(*namespace); err != nil {
			return err
		}
		if *number < 1 {
			return fmt.Errorf("-n %d: it must be 1 or more", *number)
		}
		for i, name := range names {
			names[i] = job.CanonicalName(name)
		}
		show := func(found []notify.Notice) error {
			found = found[:min(len(found), *number)]
			if *asJSON {
				return job.WriteJSON(cmd.OutOrStdout(), found)
			}
			return printNotices(cmd.OutOrStdout(), found)
		}
		if at.chosen(store) {
			c, err := at.client()
			if err != nil {
				return err
			}
			found, err := ask[notify.Notice](context.Background(), c, "/api/notices",
				url.Values{"job": names, "n": {strconv.Itoa(min(*number, notify.MostNotices))}})
			if err != nil {
				return err
			}
			return show(slices.DeleteFunc(found, func(n notify.Notice) bool {
				return *namespace != "" && n.Namespace != *namespace
			}))
		}
		return store.visit(func(ctx context.Context, v client.Client) error {
			found, err := notify.Latest(ctx, v.Store, *namespace, notify.MostNotices)
			if err != nil {
				return err
			}
			return show(web.OfJobs(found, names))
		})
	}
	return cmd
}

// printNotices writes the table. On a terminal it fits that.
func printNotices(w io.Writer, list []notify.Notice) error {
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "there are no notices")
		return nil
	}
	t := new(terminal.Table)
	t.Add("AT", "HOST", "CHANNEL", "OUTCOME", "ABOUT", "ANSWER")
	for _, n := range list {
		when := "-"
		if !n.At.IsZero() {
			when = n.At.Local().Format("2006-01-02 15:04:05")
		}
		t.Add(when, n.Host, n.Channel, n.Outcome, aboutText(n), answerText(n))
	}
	return t.Fit(terminal.Width(w)).Write(w)
}

// aboutText returns what a notice is about: its first event, and how many others.
func aboutText(n notify.Notice) string {
	if len(n.Events) == 0 {
		return n.Subject
	}
	a := n.Events[0]
	text := string(a.Kind)
	if a.Job != "" {
		text = a.Job + " " + text
	}
	if a.Run > 0 {
		text += " in run " + strconv.Itoa(a.Run)
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	if more := len(n.Events) - 1 + n.More; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// answerText returns what there is to say of how a notice was sent.
func answerText(n notify.Notice) string {
	text := cmp.Or(n.Error, n.Answer)
	if n.Tries > 1 {
		text += fmt.Sprintf(" (%d tries)", n.Tries)
	}
	if n.Outcome == notify.Waiting && n.Held != "" {
		text += " held: " + n.Held
	}
	if n.Outcome == notify.Waiting && !n.Until.IsZero() {
		text += ", until " + n.Until.Local().Format(time.DateTime)
	}
	return strings.TrimLeft(text, " ,")
}
