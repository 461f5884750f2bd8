// Package tomlfile reads job files in TOML: one [[job]] table a job, and above
// them what holds for all jobs.
//
//	timezone = "Europe/Berlin"
//
//	[env]
//	PGHOST = "db.internal"
//
//	[[job]]
//	name     = "backup"
//	schedule = "30 2 * * *"
//	command  = "pg_dump shop | gzip > /backup/shop.gz"
//	timeout  = "1h"
//
// # The parser
//
// The package reads with go-toml's package unstable, which returns one expression after
// the other with its place, and makes a tree with lines of them. The stable API of
// go-toml lost. A Decoder that fills structs has places only for what it does not
// accept itself: text that is no TOML, an unknown key, a value of another type. Most
// mistakes are none of these: the schedule "61 * * * *" is a good text. Of the 78
// mistakes in TestParseMistakes, 47 would have no line. Besides,
//
//   - a Decoder stops at the first mistake, so that a file with five takes five attempts
//     (unknown keys aside, and of a table that is unknown it does not read the keys);
//   - a job has no line, which executord check lists and notes name, and variables have
//     no order;
//   - a table with one bracket, [job], is accepted in place of a list of tables.
//
// The version of go-toml is pinned in go.mod, and each of these texts is a test here.
package tomlfile

import (
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// maxSize is the largest file that is read: of a tree there is more in memory than of lines.
const maxSize = 1 << 20

// Parse reads a job file in TOML. When anything in it is wrong, the error is a
// job.Mistakes with all that is, and there are no jobs.
func Parse(file string, data []byte) (job.File, error) {
	report := job.Report{File: file}
	report.Lines = strings.Split(string(data), "\n")

	var jobs []job.Job
	var channels []notify.Spec
	var groups []job.Group
	f := job.File{Name: file}
	if len(data) > maxSize {
		report.Mistake(1, "choose a job file", "the file is larger than 1 MiB, the limit of job files")
		f.Unsure = true
	} else {
		d := decoder{report: &report, names: make(map[string]int)}
		root := read(&report, data)
		f.Unsure = report.Wrong()
		if named := root.table["notify"]; named != nil {
			for _, name := range named.keys {
				f.Named = append(f.Named, job.CanonicalName(name))
			}
		}
		channels = d.channels(root.table["notify"])
		groups = d.groups(root.table["group"])
		jobs = d.file(root)
	}

	var err error
	if f.Notes, err = report.Close(); err != nil {
		f.SetNaming(jobs)
		return f, err
	}
	f.Named = nil
	f.Jobs, f.Channels, f.Groups = jobs, channels, groups
	return f, nil
}

// decoder makes jobs of a document's tree.
type decoder struct {
	report *job.Report
	names  map[string]int // name of a job -> its line
	env    int            // bytes of the variables of all jobs
}

var (
	jobKeys = keys.Names(0)
	topKeys = append([]string{"job", "notify", "group"}, keys.Names(keys.Above)...)
)

func (d *decoder) file(root *node) []job.Job {
	defaults := keys.Defaults()
	for _, key := range root.keys {
		switch value := root.table[key]; {
		case slices.Contains(topKeys[3:], key):
			d.set(&defaults, keys.Find(key), value)
		case !slices.Contains(topKeys[:3], key):
			d.unknownAtTop(key, value)
		}
	}

	list := root.table["job"]
	switch {
	case list == nil && (root.table["notify"] != nil || root.table["group"] != nil):
		return nil // a file beside others that have the jobs
	case list == nil || list.kind == array && len(list.items) == 0:
		if root.table["notify"] == nil { // else the file is one with channels for the jobs of others
			d.report.Note(1, `add a [[job]] with a name, a schedule and a command`, "the file has no jobs")
		}
		return nil
	case list.kind == table && !list.closed:
		d.report.Mistake(list.line, "write [[job]], with two brackets", "[job] is one table, but jobs are a list")
		list = &node{kind: tables, items: []*node{list}}
	case list.kind == broken:
		return nil
	case list.kind != tables && list.kind != array:
		d.report.Mistake(list.line, "write [[job]] on a line of its own, and the job's keys below it", "job is %s", list.kind)
		return nil
	}
	var jobs []job.Job
	for _, item := range list.items {
		if d.report.Full() {
			break
		}
		if item.kind != table {
			d.report.Mistake(item.line, "write [[job]] on a line of its own, and the job's keys below it", "a job is %s", item.kind)
			continue
		}
		jobs = append(jobs, d.job(item, defaults))
	}
	return jobs
}

func (d *decoder) unknownAtTop(key string, value *node) {
	switch near := job.Closest(key, topKeys); {
	case near == "job" && value.kind == tables:
		d.report.Mistake(value.line, "write [[job]]", "unknown table [[%s]]", key)
	case slices.Contains(jobKeys, key):
		d.report.Mistake(value.line, "put it below a line [[job]]", "%q is above all jobs, but belongs to one job", key)
	default:
		d.unknown(key, value.line, near, topKeys)
	}
}

func (d *decoder) unknown(key string, line int, near string, known []string) {
	if hint := keys.Gone[key]; hint != "" {
		d.report.Mistake(line, hint, "%q is a key no more", key)
		return
	}
	hint := "remove it; known are " + strings.Join(known, ", ")
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	d.report.Mistake(line, hint, "unknown key %q", key)
}

// job makes one job. What is wrong in it is in the report, and then the job is
// never used.
func (d *decoder) job(t *node, defaults keys.Settings) job.Job {
	own := defaults
	var name, stdin string
	var command job.Command
	for _, key := range t.keys {
		value := t.table[key]
		switch row := keys.Find(key); {
		case key == "name":
			name = d.name(value)
		case key == "schedule": // needs the zone, which may follow it
		case key == "command":
			d.command(&command, value)
		case key == "stdin":
			stdin, _ = d.text(key, value, "")
		case key == "parameters":
			own.Job.Parameters = d.parameters(value)
		case slices.Contains(requestKeys, key):
			// together, below
		case row != nil:
			d.set(&own, row, value)
		default:
			near := job.Closest(key, jobKeys)
			if keys.Gone[key] != "" {
				near = "command"
			}
			d.unknown(key, value.line, near, jobKeys)
			if near != "" && t.table[near] == nil {
				t.table[near] = &node{kind: broken} // not missing, but misspelled
			}
		}
	}
	if args, input, ok := d.request(t, own.Job.Parameters); ok {
		command.Args, stdin = args, input
	}
	j := own.Job
	j.Name, j.Line = name, t.line
	j.Command.Args, j.Command.Script, j.Command.Stdin = command.Args, command.Script, stdin
	d.countEnv(t.line, j.Command.Env)
	d.noSecrets(t.table["parameters"], j)
	if len(j.Command.Args) > 0 {
		if j.Command.Shell = ""; t.table["shell"] != nil {
			d.report.Note(t.table["shell"].line, "remove it, or write the command as one text", "a command that is a list is run without a shell")
		}
	}

	if value := t.table["schedule"]; value != nil {
		if spec, ok := d.text("schedule", value, `schedule = "*/5 * * * *"`); ok {
			syntax := own.Syntax(j.Name)
			schedule, notes, err := syntax.ParseSchedule(spec)
			if j.Schedule = schedule; err != nil {
				if hint := job.CountHint(strings.Fields(spec), `cron = "%s"`); hint != "" && !syntax.Extends() {
					err.Hint = hint
				}
				d.report.Mistake(value.line, err.Hint, "%s", err.What)
			}
			for _, note := range notes {
				d.report.Note(value.line, note.Hint, "%s", note.What)
			}
			if jitter := t.table["jitter"]; jitter != nil && j.Schedule.AtStart && j.Jitter > 0 {
				d.report.Note(jitter.line, "remove it, or let the command wait", "a job for @reboot has no jitter: it starts at once")
			}
		}
	}
	for _, key := range []string{"name", "schedule", "command"} {
		if t.table[key] == nil && (key != "command" || t.table["url"] == nil) {
			d.report.Mistake(t.line, example[key], "the job has no %s", key)
		}
	}
	return j
}

var example = map[string]string{
	"name":     `add one, such as: name = "backup"`,
	"schedule": `add one, such as: schedule = "30 2 * * *"`,
	"command":  `add one, such as: command = "backup --all"`,
}
