package tomlfile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// shared reads a key that may stand in a job or above all, and reports whether
// it is one. What is wrong in its value is in the report.
func (d *decoder) shared(s *shared, key string, value *node) bool {
	switch key {
	case "timezone":
		if name, ok := d.text(key, value, `timezone = "Europe/Berlin"`); ok {
			loc, err := job.LoadZone(name)
			if err != nil {
				d.report.Mistake(value.line, job.ZoneHint, "%v", err)
				return true
			}
			s.zone = loc
		}
	case "cron":
		if language, ok := d.text(key, value, `cron = "extended"`); ok {
			if s.language = language; !slices.Contains(job.Languages, language) {
				d.report.Mistake(value.line, job.LanguageHint, "%q is no language of schedules", language)
			}
		}
	case "timeout":
		s.timeout = d.duration(key, value)
	case "jitter":
		s.jitter = d.duration(key, value)
	case "shell":
		s.shell, _ = d.text(key, value, `shell = "/bin/bash"`)
		if value.kind == text && !job.IsAbs(s.shell) {
			d.report.Mistake(value.line, `write the whole path, such as shell = "/bin/bash"`, "the shell %q is no absolute path", s.shell)
		} else if !job.TakesC(s.shell) {
			d.report.Mistake(value.line, job.ShellHint, "the shell %q takes no command after -c", s.shell)
		}
	case "dir":
		s.dir, _ = d.text(key, value, `dir = "/srv/shop"`)
	case "env":
		s.env = d.variables(s.env, value)
	default:
		return false
	}
	return true
}

// truth returns a value that is true or false.
func (d *decoder) truth(key string, value *node) bool {
	if value.kind != truth && value.kind != broken {
		hint := fmt.Sprintf("write %s = true, or false, without quotes", key)
		d.report.Mistake(value.line, hint, "%s is %s, but has to be true or false", key, value.kind)
	}
	return value.kind == truth && value.text == "true"
}

// text returns the text of a value. The hint, if not empty, is shown if it is
// something else.
func (d *decoder) text(key string, value *node, hint string) (string, bool) {
	if value.kind == broken {
		return "", false
	}
	if value.kind != text {
		if hint == "" {
			hint = fmt.Sprintf(`write text in quotes: %s = "..."`, key)
		} else {
			hint = "write text in quotes, such as: " + hint
		}
		d.report.Mistake(value.line, hint, "%s is %s, but has to be text", key, value.kind)
		return "", false
	}
	// Only standard input can carry a zero byte; everything else ends at it.
	if key != "stdin" && strings.IndexByte(value.text, 0) >= 0 {
		d.report.Mistake(value.line, `remove the \u0000`, "%s has a zero byte", key)
		return "", false
	}
	return value.text, true
}

// duration reads a length of time. Zero is allowed: it takes back, for one
// job, what stands above all.
func (d *decoder) duration(key string, value *node) time.Duration {
	if value.kind == number {
		d.report.Mistake(value.line, fmt.Sprintf(`write it with its unit, in quotes: %s = "%ss"`, key, value.text),
			"%s is a number without a unit", key)
		return 0
	}
	spec, ok := d.text(key, value, key+` = "90s"`)
	if !ok {
		return 0
	}
	length, err := time.ParseDuration(spec)
	switch {
	case err != nil:
		d.report.Mistake(value.line, fmt.Sprintf(`write numbers with the units h, m, s or ms: %s = "1h30m"`, key), "%s %q is no duration", key, spec)
	case length < 0:
		d.report.Mistake(value.line, fmt.Sprintf(`write a positive duration, or "0s" for no %s`, key), "%s %q is negative", key, spec)
	default:
		return length
	}
	return 0
}

func (d *decoder) name(value *node) string {
	name, ok := d.text("name", value, `name = "backup"`)
	if !ok {
		return ""
	}
	name = job.CanonicalName(name)
	if !job.ValidName(name) {
		d.report.Mistake(value.line, job.NameHint, "%q cannot be the name of a job", name)
		return ""
	}
	if before, taken := d.named[name]; taken {
		d.report.Mistake(value.line, "choose another name for one of the two", "the name %q is already used in line %d", name, before)
		return ""
	}
	d.named[name] = value.line
	return name
}

// command reads a text for the shell, or a list of a program and its arguments.
func (d *decoder) command(c *job.Command, value *node) {
	const hint = `write one text for the shell, or a list: command = ["backup", "--all"]`
	switch value.kind {
	case text:
		script, ok := d.text("command", value, "")
		if c.Script = script; ok && strings.TrimSpace(script) == "" {
			d.report.Mistake(value.line, example["command"], "the command is empty")
		}
	case array:
		if len(value.items) == 0 || value.items[0].kind == text && value.items[0].text == "" {
			d.report.Mistake(value.line, hint, "the command has no program")
		}
		for _, item := range value.items {
			if arg, ok := d.text("an argument", item, `"42"`); ok {
				c.Args = append(c.Args, arg)
			}
		}
	case broken:
	default:
		d.report.Mistake(value.line, hint, "command is %s", value.kind)
	}
}

// variables adds variables to those that are set above. The result shares nothing
// with them: each job adds its own.
func (d *decoder) variables(above []string, value *node) []string {
	if value.kind == broken {
		return above
	}
	if value.kind != table {
		d.report.Mistake(value.line, `write a table: env = { PGHOST = "db" }, or [env] above all jobs and [job.env] in one`, "env is %s", value.kind)
		return above
	}
	if len(value.keys) == 0 {
		return above
	}
	if d.env > maxEnv {
		return nil // there is a mistake already, and a copy would be too large
	}
	env := append([]string(nil), above...)
	for _, name := range value.keys {
		v := value.table[name]
		if !job.ValidVariable(name) {
			d.report.Mistake(v.line, "use letters, digits and _ only, and no digit first", "%q cannot be the name of a variable", name)
			continue
		}
		hint := name + ` = "text"`
		if v.kind == number || v.kind == truth {
			hint = fmt.Sprintf("%s = %q", name, v.text)
		}
		if setting, ok := d.text(name, v, hint); ok {
			env = append(env, name+"="+setting)
		}
	}
	return env
}

// maxEnv bounds the variables of all jobs together, those above all jobs counted for
// each: they are kept with each job, so that a file of a megabyte could name eight
// thousand times as much.
const maxEnv = 16 << 20

// countEnv counts the variables of a job, and reports a mistake for the job with which
// they are too many.
func (d *decoder) countEnv(line int, env []string) {
	before := d.env
	for _, variable := range env {
		d.env += len(variable)
	}
	if before <= maxEnv && d.env > maxEnv {
		d.report.Mistake(line, "have a script set them that the commands run, or set them in the environment of executord",
			"the variables of all jobs up to this one have more than %d MB: those in [env] count for each job", maxEnv>>20)
	}
}
