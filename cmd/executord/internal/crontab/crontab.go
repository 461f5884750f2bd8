// Package crontab reads crontabs: lines of five time fields (or an @word) and
// a command, with NAME=value lines between them.
//
// It reads what Vixie cron and its descendants read. Where they would silently
// do something else than was meant, it reports a mistake or a note; the manual
// has the list.
package crontab

import (
	"bytes"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// maxLine is the longest line that is read. Linux refuses an argument of more
// than 128 KiB, so that a command cannot be much longer anyway.
const maxLine = 64 << 10

const blanks = " \t"

// Parse reads a crontab. When anything in it is wrong, the error is a
// job.Mistakes with all that is, and there are no jobs; the notes are there
// in either case.
func Parse(file string, data []byte) (job.File, error) { return parseFile(file, data, false) }

// ParseSystem is Parse for a system crontab, as /etc/crontab and those in /etc/cron.d, whose lines have a user before
// the command.
func ParseSystem(file string, data []byte) (job.File, error) { return parseFile(file, data, true) }

func parseFile(file string, data []byte, system bool) (job.File, error) {
	p := parser{
		system: system,
		report: job.Report{File: file},
		shell:  job.DefaultShell,
		zone:   time.Local,
		named:  make(map[string]int),
	}
	p.read(data)
	if !system {
		p.noteUsers()
	}
	p.nameJobs()

	f := job.File{Name: file}
	var err error
	if f.Notes, err = p.report.Close(); err != nil {
		f.SetNaming(append(p.jobs, p.wrong...))
		return f, err
	}
	f.Jobs, f.NoMail = p.jobs, p.noMail
	return f, nil
}

// parser is the state that lines leave behind for the lines after them.
type parser struct {
	report job.Report
	system bool // lines have a user
	jobs   []job.Job
	wrong  []job.Job // those of lines that are wrong, if the keys above these name channels
	seen   int       // lines that were meant to be jobs, right or wrong

	// env only ever grows, and a job keeps the part that stood above it: many
	// jobs below many settings share one array.
	env   []string
	shell string
	zone  *time.Location

	mailTo *string   // MAILTO; nil for none
	noMail job.Notes // see job.File

	language string        // of schedules, one of job.Languages, or ""
	delay    time.Duration // RANDOM_DELAY

	// tz is what the commands below see as TZ, and the line that says so.
	tz struct {
		value string
		line  int
		noted bool
	}

	named   map[string]int // name given by a comment -> its line
	pending string         // name that waits for its job, or ""
	above   []keyLine      // keys that wait for their job
}

func (p *parser) read(data []byte) {
	if line, what, hint := notText(data); line > 0 {
		p.report.Mistake(line, hint, "%s", what)
		return
	}
	p.report.Lines = strings.Split(string(data), "\n")
	for i, text := range p.report.Lines {
		text = strings.TrimRight(text, "\r")
		p.report.Lines[i] = text
		if len(text) > maxLine {
			p.seen++
			p.report.Mistake(i+1, "put the command into a script and call that",
				"the line is longer than %d bytes", maxLine)
			continue
		}
		if strings.Contains(text, "\r") {
			p.seen++ // a job may be behind it, and would be a part of this line
			p.report.Mistake(i+1, "save the file with the line ends of Unix or Windows",
				"there is a carriage return in this line, as old Macs end lines")
			continue
		}
		p.line(i+1, strings.TrimLeft(text, blanks))
	}
	if p.pending != "" {
		n := p.named[p.pending]
		p.report.Note(n, "put it above the job it names, or remove it", "no job follows that could be named %q", p.pending)
	}
	for _, above := range p.above {
		p.report.Note(above.line, "put it above the job it is for, or remove it", "%s is set for no job", above.key.Name)
	}
	if p.seen == 0 {
		p.report.Note(1, "add a line such as: */5 * * * * /path/to/command", "the file has no jobs")
	}
}

// notText finds what makes data no crontab at all, so that one mistake is
// shown and not one a line. The line is 0 when it looks like text.
func notText(data []byte) (line int, what, hint string) {
	if len(data) > job.MaxFileSize {
		return 1, "the file is larger than 8 megabytes, the most that a crontab may have", "choose a crontab"
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return 1, "the file is in UTF-16", "save it as UTF-8"
	}
	if zero := bytes.IndexByte(data, 0); zero >= 0 {
		return 1 + bytes.Count(data[:zero], []byte("\n")), "there is a zero byte in this line, so the file is not text",
			"choose a crontab, or save it as UTF-8"
	}
	return 0, "", ""
}

// line reads one line: a comment, a setting or a job.
func (p *parser) line(n int, text string) {
	switch {
	case text == "":
	case text[0] == '#':
		p.comment(n, text)
	case isSetting(text):
		p.setting(n, text)
	default:
		p.seen++
		if settings := p.settings(); !p.job(n, text, settings) && len(settings.Job.Notify) > 0 {
			settings.Job.Name, settings.Job.Line = p.pending, n
			p.wrong = append(p.wrong, settings.Job)
		}
		p.pending, p.above = "", nil
	}
}

// job reads a schedule and its command, and reports whether they are right.
func (p *parser) job(n int, text string, settings keys.Settings) bool {
	if quiet, ok := strings.CutPrefix(text, "-"); ok {
		p.report.Note(n, "remove it", "the - before a schedule is for the log of some crons, and is ignored")
		if text = strings.TrimLeft(quiet, blanks); text == "" {
			text = "-"
		}
	}
	syntax := settings.Syntax(p.pending)
	fields, rest := split(text, syntax)
	user := ""
	if p.system {
		user, rest = cutUser(rest)
	}
	for option := cronOption(rest); option != ""; option = cronOption(rest) {
		p.report.Note(n, "remove it", "%s before the command is an option of some crons, and is ignored", option)
		rest = strings.TrimLeft(rest[len(option):], blanks)
	}
	script, stdin, cut := splitPercent(rest)
	if syntax.Name == "" {
		syntax.Name = script
	}
	if what, hint := misshapen(fields, script, syntax); what != "" {
		p.report.Mistake(n, hint, "%s", what)
		return false
	}
	if p.system && !isUser(user) {
		p.report.Mistake(n, "write the user after the schedule, such as root, and then the command", "%q cannot be the name of a user", user)
		return false
	}
	if strings.TrimSpace(script) == "" {
		p.report.Mistake(n, "write the command after the schedule", "the command is missing")
		return false
	}
	schedule, loose, err := syntax.ParseSchedule(strings.Join(fields, " "))
	if err != nil {
		p.report.Mistake(n, err.Hint, "%s", err.What)
		return false
	}
	for _, note := range loose {
		p.report.Note(n, note.Hint, "%s", note.What)
	}
	for _, note := range warnings(script, cut) {
		p.report.Note(n, note.hint, "%s", note.what)
	}
	p.noteTZ(schedule, settings.Zone)
	j := settings.Job
	j.Name, j.Line, j.Schedule = p.pending, n, schedule
	j.Command.Script, j.Command.Stdin = script, stdin
	if user != "" {
		j.Command.User = user
	}
	if schedule.AtStart {
		j.Jitter = 0 // it starts at once
	}
	p.jobs = append(p.jobs, j)
	return true
}
