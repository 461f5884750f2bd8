package anystore

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

func printable(text string) string { return job.Printable(text) }

// Shown returns stored bytes for a person: as JSON or text, if they are such, or else their number and the first of
// them.
func Shown(data []byte) string {
	var compact strings.Builder
	switch {
	case len(data) == 0:
		return "none"
	case json.Valid(data):
		for line := range strings.Lines(string(data)) {
			compact.WriteString(strings.TrimSpace(line))
		}
		return printable(compact.String())
	case utf8.Valid(data) && printable(string(data)) == string(data):
		return string(data)
	}
	return fmt.Sprintf("%d bytes: %s", len(data), first(data))
}

// first returns the first of some bytes in hex.
func first(data []byte) string {
	const most = 16
	if len(data) > most {
		return hex.EncodeToString(data[:most]) + "..."
	}
	return hex.EncodeToString(data)
}

// shownJob is a job with payload and result as JSON, where they are such.
type shownJob struct {
	durable.Job
	Payload any `json:"payload,omitempty"`
	Result  any `json:"result,omitempty"`
}

// value returns bytes as a program is to read them.
func value(data []byte) any {
	switch {
	case len(data) == 0:
		return nil
	case json.Valid(data):
		return json.RawMessage(data)
	}
	return map[string][]byte{"base64": data}
}

func printJobs(w io.Writer, list []durable.Job) error {
	shown := make([]shownJob, len(list))
	for i, j := range list {
		shown[i] = shownJob{j, value(j.Payload), value(j.Result)}
	}
	return job.WriteJSON(w, shown)
}

const onlyTime = "2006-01-02 15:04:05Z"

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(onlyTime)
}

// list is the command that lists jobs.
func (h Host) list() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, the latest first",
		Long: strings.TrimSpace(`
list shows the jobs that match all flags, in descending order of their IDs,
which begin with the time at which a job was added. Times are in UTC. Keys and errors are
shown where there is room, and by show and --json.`),
		Example: "  executord store list --store jobs.db --kind mail --state dead --state canceled",
		Args:    complaint.NoArguments,
	}
	open, query := h.Flag(cmd), queryFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each job")
	number := cmd.Flags().IntP("number", "n", 50, "how many jobs to show, at most")
	after := cmd.Flags().String("after", "", "begin after the job with this ID")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := check(query); err != nil {
			return err
		}
		if *number < 1 || *number > 10_000 {
			return fmt.Errorf("-n %d: it must be 1 to 10000", *number)
		}
		if *after != "" {
			id, err := durable.ParseID(*after)
			if err != nil {
				return fmt.Errorf("--after %s: it must be the ID of a job", *after)
			}
			query.After = id
		}
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			list, err := admin.List(ctx, c.jobs, *query, *number+1)
			if err != nil {
				return err
			}
			more := len(list) > *number
			list = list[:min(len(list), *number)]
			if *asJSON {
				return printJobs(c.out, list)
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no such jobs")
				return nil
			}
			if err := printTable(c.out, jobRows(list, terminal.Width(c.out))); err != nil {
				return err
			}
			if more {
				fmt.Fprintf(cmd.ErrOrStderr(), "there are more: --after %v\n", list[len(list)-1].ID)
			}
			return nil
		})
	}
	return cmd
}

// printTable writes rows, the first of which has the titles. On a terminal they fit that.
func printTable(w io.Writer, rows [][]string) error {
	var t terminal.Table
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Fit(terminal.Width(w)).Write(w)
}

// jobRows returns the table of jobs. IDs are never cut: on a terminal of less than 120 columns there are no keys and
// errors, and the kind has what the others leave of 80.
func jobRows(list []durable.Job, wide int) [][]string {
	rows := [][]string{{"ID", "KIND", "STATE", "DUE"}}
	full := wide == 0 || wide >= 120
	if full {
		rows[0] = append(rows[0], "KEY", "ERROR")
	}
	for _, j := range list {
		kind := printable(j.Kind)
		if room := 80 - 36 - len("succeeded") - len("2006-01-02 15:04") - 3*2; !full && utf8.RuneCountInString(kind) > room {
			kind = string([]rune(kind)[:room-1]) + "…"
		}
		row := []string{j.ID.String(), kind, j.State.String(), j.Due.UTC().Format("2006-01-02 15:04")}
		if full {
			first, _, _ := strings.Cut(j.Error, "\n")
			row = append(row, cmp.Or(printable(j.Key), "-"), printable(first))
		}
		rows = append(rows, row)
	}
	return rows
}

// show is the command that shows one job.
func (h Host) show() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID|KEY...",
		Short:   "Show jobs with payload, result, history and steps",
		Example: "  executord store show --store jobs.db welcome/17",
		Args:    complaint.SomeArguments("the ID or key of a job"),
	}
	open := h.Flag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each job")
	number := cmd.Flags().IntP("number", "n", 10, "how many runs to show, at most")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if *number < 1 || *number > 1000 {
			return fmt.Errorf("-n %d: it must be 1 to 1000", *number)
		}
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			var list []durable.Job
			for _, name := range names {
				j, err := c.find(ctx, name)
				if err != nil {
					return err
				}
				list = append(list, j)
			}
			if *asJSON {
				return printJobs(c.out, list)
			}
			for i, j := range list {
				if i > 0 {
					fmt.Fprintln(c.out)
				}
				if err := c.showJob(ctx, j, *number); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmd
}

// showJob writes all that there is to know of a job.
func (c client) showJob(ctx context.Context, j durable.Job, runs int) error {
	line := func(name, text string) {
		if text != "" && text != "-" && text != "none" {
			fmt.Fprintf(c.out, "%-10s %s\n", name, text)
		}
	}
	line("id", j.ID.String())
	line("key", printable(j.Key))
	line("kind", printable(j.Kind))
	line("state", j.State.String())
	line("schedule", printable(j.Schedule))
	line("due", instant(j.Due))
	line("created", instant(j.Created))
	line("updated", instant(j.Updated))
	line("node", printable(j.Owner))
	line("attempt", fmt.Sprintf("%d of %d", j.Attempt, j.Attempts))
	line("priority", map[durable.Priority]string{durable.Low: "low", durable.High: "high"}[j.Priority])
	line("partition", printable(j.Partition))
	line("queue", printable(j.Queue))
	line("tags", printable(strings.Join(j.Tags, ", ")))
	for _, name := range slices.Sorted(maps.Keys(j.Meta)) {
		line("meta", printable(name+": "+j.Meta[name]))
	}
	line("error", printable(j.Error))
	line("label", printable(j.Label))
	line("payload", Shown(j.Payload))
	line("result", Shown(j.Result))
	if j.HasParents {
		counts, err := c.jobs.CountParents(ctx, j.ID)
		if err != nil {
			return err
		}
		line("after", fmt.Sprintf("%d jobs, %d succeeded, %d failed; it needs %d", counts.Total, counts.Succeeded, counts.Failed, counts.Need))
	}
	steps, err := c.jobs.Steps(ctx, j.ID)
	if err != nil {
		return err
	}
	for _, k := range steps {
		what := "step"
		if k.Signal {
			what = "signal"
		}
		line(what, printable(k.Name)+" "+instant(k.At)+" "+Shown(k.Result))
	}
	history, err := c.jobs.History(ctx, j.ID, 0, runs)
	for _, r := range history {
		text := fmt.Sprintf("%d %s %v, attempt %d, took %v", r.Seq, instant(r.Started), r.Verdict, r.Attempt, r.Finished.Sub(r.Started).Round(time.Millisecond))
		if r.Error != "" {
			text += ": " + printable(r.Error)
		}
		line("run", text)
	}
	return err
}

// counts is the command that counts jobs.
func (h Host) counts() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "counts",
		Short:   "Count jobs of each kind in each state",
		Example: "  executord store counts --store jobs.db",
		Args:    complaint.NoArguments,
	}
	open, query := h.Flag(cmd), queryFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each kind and state")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := check(query); err != nil {
			return err
		}
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			_, counts, err := admin.Count(ctx, c.jobs, *query)
			if err != nil {
				return err
			}
			paused, err := c.jobs.PausedKinds(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return job.WriteJSON(c.out, counts)
			}
			if len(counts) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no such jobs")
				return nil
			}
			return printTable(c.out, countRows(counts, paused))
		})
	}
	return cmd
}

func countRows(counts []durable.Count, paused []string) [][]string {
	rows := [][]string{{"KIND", "STATE", "JOBS", "FIRST DUE", ""}}
	for _, n := range counts {
		note := ""
		if slices.Contains(paused, n.Kind) {
			note = "kind is paused"
		}
		rows = append(rows, []string{printable(n.Kind), n.State.String(), fmt.Sprint(n.Jobs), instant(n.Due), note})
	}
	return rows
}

// nodes is the command that lists nodes.
func (h Host) nodes() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nodes",
		Short:   "List the nodes that are alive, and what they hold",
		Example: "  executord store nodes --store jobs.db",
		Args:    complaint.NoArguments,
	}
	open := h.Flag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each node")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			nodes, err := c.jobs.Nodes(ctx)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return job.WriteJSON(c.out, nodes)
			case len(nodes) == 0:
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no nodes: no program runs the jobs")
				return nil
			}
			rows := [][]string{{"NODE", "HOST", "PID", "JOBS", "LAST HEARTBEAT", "LEASE", ""}}
			for _, n := range nodes {
				rows = append(rows, []string{printable(n.Name), cmp.Or(printable(n.Host), "-"), fmt.Sprint(n.PID), fmt.Sprint(n.Jobs), instant(n.Beat), n.Lease.String(), nodeNote(n)})
			}
			return printTable(c.out, rows)
		})
	}
	return cmd
}

// nodeNote says what is unusual of a node: that it drains, and the queues that it serves.
func nodeNote(n durable.NodeInfo) string {
	var notes []string
	if n.Draining {
		notes = append(notes, "draining")
	}
	if len(n.Queues) > 0 {
		var names []string
		for _, q := range n.Queues {
			names = append(names, cmp.Or(printable(q), "(default)"))
		}
		notes = append(notes, "serves "+strings.Join(names, ", "))
	}
	return strings.Join(notes, "; ")
}

// queues is the command that lists queues.
func (h Host) queues() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "queues",
		Short:   "List the queues that jobs wait in, or nodes serve",
		Example: "  executord store queues --store jobs.db",
		Args:    complaint.NoArguments,
	}
	open := h.Flag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each queue")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return h.visit(cmd, open, false, stores.Patience, func(ctx context.Context, c client) error {
			queues, err := c.jobs.Queues(ctx)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return job.WriteJSON(c.out, queues)
			case len(queues) == 0:
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no queues but the default one")
				return nil
			}
			rows := [][]string{{"QUEUE", "JOBS", "FIRST DUE", "NODES", ""}}
			for _, q := range queues {
				note := ""
				if q.Nodes == 0 && q.Jobs > 0 {
					note = "no node serves it"
				}
				rows = append(rows, []string{printable(q.Name), fmt.Sprint(q.Jobs), instant(q.Due), fmt.Sprint(q.Nodes), note})
			}
			return printTable(c.out, rows)
		})
	}
	return cmd
}
