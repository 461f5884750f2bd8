package crontab

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// isSetting reports whether a line is NAME=value. It is no job then, whatever
// the name: no time field has a = in it or behind it.
func isSetting(text string) bool {
	name, rest, ok := settingName(text)
	return ok && (name != "" || text[0] != '=') && strings.HasPrefix(strings.TrimLeft(rest, blanks), "=")
}

// settingName cuts the name, which may stand in quotes, off a line.
func settingName(text string) (name, rest string, ok bool) {
	if c := text[0]; c == '"' || c == '\'' {
		name, rest, ok = strings.Cut(text[1:], string(c))
		return name, rest, ok
	}
	if strings.IndexByte("*@=", text[0]) >= 0 {
		return "", text, false
	}
	i := strings.IndexAny(text, blanks+"=")
	if i < 0 {
		return text, "", true
	}
	return text[:i], text[i:], true
}

// setting reads NAME=value. It holds for the lines after it.
func (p *parser) setting(n int, text string) {
	name, rest, _ := settingName(text)
	_, rest, _ = strings.Cut(rest, "=")
	if !job.ValidVariable(name) {
		p.report.Mistake(n, "use letters, digits and _ only, and no digit first", "%q cannot be the name of a variable", name)
		return
	}
	rest = strings.Trim(rest, blanks)
	value, ok := unquote(rest)
	if !ok {
		p.report.Mistake(n, "close the quote at the end of the line, or write the value without quotes",
			"the quoted value of %s does not end with its quote", name)
		return
	}
	switch name {
	case "CRON_TZ":
		p.cronTZ(n, value)
		return // it is for the daemon; the zone a command sees is TZ
	case "SHELL":
		if !job.IsAbs(value) {
			p.report.Mistake(n, "write the whole path, such as /bin/bash", "the shell %q is not an absolute path", value)
			return
		}
		if !job.TakesC(value) {
			p.report.Mistake(n, job.ShellHint, "the shell %q takes no command after -c", value)
			return
		}
		p.shell = value
	case "TZ":
		if more := behind(value); more != "" && more[0] != '#' && !job.IsAbs(strings.TrimPrefix(value, ":")) {
			p.seen++ // a job that has its zone before it, as package cron reads it
			p.report.Mistake(n, ownLine, "unknown time zone %q", value)
			return
		}
		if !p.tz.noted {
			p.tz.line, p.tz.value = n, value
		}
	case "CRON":
		if slices.Contains(job.Languages, value) {
			p.language = value
			return // it is for the daemon
		}
		p.report.Note(n, job.LanguageHint, "CRON=%s is not a language of schedules: it is a variable of the commands", value)
	case "MAILTO":
		p.mailTo = &value
		if value != "" {
			p.noMail = append(p.noMail, job.Mistake{File: p.report.File, Line: n, Text: p.report.Lines[n-1],
				What: "MAILTO is ignored: no mail is sent", Hint: "add a table [notify.NAME] with mail to a TOML file, or read the log for the output of jobs"})
		}
	case "MAILFROM":
		p.report.Note(n, "set from in the table [notify.NAME] that sends mail, or remove the line", "MAILFROM is ignored")
	case "RANDOM_DELAY":
		minutes, err := strconv.Atoi(value)
		if err != nil || minutes < 0 || minutes > 24*60 {
			p.report.Note(n, "write a number of minutes, 0 to 1440", "RANDOM_DELAY is ignored: %q is not a number of minutes", value)
			minutes = 0
		}
		p.delay = time.Duration(minutes) * time.Minute
	}
	if strings.Contains(value, "$") {
		p.report.Note(n, "write the value out, or set it in the command", "$ in a value is not expanded, as in cron")
	}
	if rest == value && hasJob(value) { // in quotes, it is meant
		p.report.Note(n, "put the job on a line of its own, or the value in quotes",
			"this line has no job: all of it is the value of %s, as in cron", name)
	}
	if strings.Contains(value, " #") || strings.Contains(value, "\t#") {
		p.report.Note(n, ownComment, "# does not begin a comment here: it is part of the value, as in cron")
	}
	p.env = append(p.env, name+"="+value)
}

const (
	// ownLine is how to hint a zone that stands before a schedule.
	ownLine = "put CRON_TZ= on a line of its own, above the jobs it is for"

	// ownComment is how to hint a comment that stands behind a value.
	ownComment = "put the comment on a line of its own"
)

func (p *parser) cronTZ(n int, value string) {
	loc, err := job.LoadZone(value)
	if err == nil {
		p.zone = loc
		return
	}
	// The zone stays what it was, so that the lines below are judged alone.
	hint := job.ZoneHint
	switch more := behind(value); {
	case more == "":
	case more[0] == '#':
		hint = ownComment
	default:
		p.seen++
		hint = ownLine
	}
	p.report.Mistake(n, hint, "%v", err)
}

// noteTZ notes, once, that a schedule which depends on the zone has a TZ above it,
// and no CRON_TZ.
func (p *parser) noteTZ(s job.Schedule, zone *time.Location) {
	if p.tz.value == "" || p.tz.noted || zone != time.Local || s.AtStart || s.After || s.Every() > 0 {
		return
	}
	p.tz.noted = true
	name := strings.TrimPrefix(p.tz.value, ":")
	if _, err := job.LoadZone(name); err != nil {
		name = "Europe/Berlin, or whatever zone it is," // not every TZ is the name of one
	}
	p.report.Note(p.tz.line, "write CRON_TZ="+name+" as well, if they should be",
		"TZ is the zone of the commands, and not of the schedules below")
}

// behind returns what follows the first word of a value.
func behind(value string) string {
	i := strings.IndexAny(value, blanks)
	if i < 0 {
		return ""
	}
	return strings.TrimLeft(value[i:], blanks)
}

// hasJob reports whether a job follows the first word of a value.
func hasJob(value string) bool {
	more := behind(value)
	if more == "" {
		return false
	}
	fields, script := splitSchedule(more)
	_, _, err := job.ParseSchedule(strings.Join(fields, " "), time.UTC)
	return err == nil && script != ""
}

// unquote takes the quotes off a value that begins with one. A quote anywhere
// else is part of the value, and no character is special between quotes.
func unquote(value string) (string, bool) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value, true
	}
	end := strings.IndexByte(value[1:], value[0]) + 1
	if end != len(value)-1 || end == 0 {
		return "", false
	}
	return value[1:end], true
}
