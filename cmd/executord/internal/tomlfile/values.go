package tomlfile

import (
	"fmt"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// set puts the value of a key into settings. What is wrong with it is in the report.
func (d *decoder) set(s *keys.Settings, key *keys.Key, value *node) {
	if !key.Simple() { // the only one that may stand above all jobs, too
		s.Job.Command.Env = d.variables(s.Job.Command.Env, value)
		return
	}
	values, ok := d.values(key, value)
	if !ok {
		return
	}
	if wrong := key.Set(s, values...); wrong != nil {
		hint := wrong.Hint
		if wrong.Like != "" {
			hint = strings.TrimPrefix(hint+": ", ": ") + written(key, wrong.Like)
		}
		d.report.Mistake(value.line, hint, "%s", wrong.What)
	}
}

// values returns the texts of a value of the kind that a key has. What is wrong is in the report.
func (d *decoder) values(key *keys.Key, value *node) (values []string, ok bool) {
	switch {
	case value.kind == broken:
		return nil, false
	case key.Kind == keys.Truth && value.kind == truth, key.Kind == keys.Number && value.kind == number,
		key.Kind == keys.Duration && value.kind == number: // which has no unit, and is wrong
		return []string{value.text}, true
	case key.Kind == keys.Numbers && value.kind == number:
		return []string{value.text}, true
	case key.Kind == keys.Numbers && value.kind == array:
		for _, item := range value.items {
			if item.kind != number {
				d.report.Mistake(item.line, "write numbers without quotes, such as: "+written(key, key.Example), "a value of %s is %s, but has to be a number", key.Name, item.kind)
				return nil, false
			}
			values = append(values, item.text)
		}
		return values, true
	case key.Kind == keys.Truth:
		hint := fmt.Sprintf("write %s = true, or false, without quotes", key.Name)
		d.report.Mistake(value.line, hint, "%s is %s, but has to be true or false", key.Name, value.kind)
		return nil, false
	case key.Kind == keys.Number || key.Kind == keys.Numbers:
		d.report.Mistake(value.line, "write a number without quotes, such as: "+written(key, key.Example), "%s is %s, but has to be a number", key.Name, value.kind)
		return nil, false
	case key.Kind == keys.Files:
		return d.pairs(key, value)
	case key.Kind == keys.List && value.kind == array:
		for _, item := range value.items {
			text, fine := d.text("a value of "+key.Name, item, "")
			if !fine {
				return nil, false
			}
			values = append(values, text)
		}
		return values, true
	}
	text, ok := d.text(key.Name, value, written(key, key.Example))
	return []string{text}, ok
}

// pairs returns NAME=value for each line of a table.
func (d *decoder) pairs(key *keys.Key, value *node) (values []string, ok bool) {
	if value.kind != table {
		d.report.Mistake(value.line, "write a table, such as: "+written(key, key.Example), "%s is %s, but has to be a table", key.Name, value.kind)
		return nil, false
	}
	for _, name := range value.keys {
		hint := fmt.Sprintf("%s.%s = %q", key.Name, name, "/run/secrets/"+strings.ToLower(name))
		file, fine := d.text(key.Name+"."+name, value.table[name], hint)
		if !fine {
			return nil, false
		}
		values = append(values, name+"="+file)
	}
	return values, true
}

// written returns how a value is written in TOML.
func written(key *keys.Key, value string) string {
	switch key.Kind {
	case keys.Truth, keys.Number:
		return key.Name + " = " + value
	case keys.Numbers:
		return key.Name + " = [" + value + "]"
	case keys.Files:
		name, file, _ := strings.Cut(value, "=")
		return fmt.Sprintf("%s.%s = %q", key.Name, name, file)
	}
	return fmt.Sprintf("%s = %q", key.Name, value)
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
	if before, taken := d.names[name]; taken {
		d.report.Mistake(value.line, "choose another name for one of the two", "the name %q is already used in line %d", name, before)
		return ""
	}
	d.names[name] = value.line
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
		d.report.Mistake(line, "set them in a script that the commands run, or in the environment of executord",
			"the variables of all jobs up to this one take more than %d MB: those in [env] count for each job", maxEnv>>20)
	}
}
