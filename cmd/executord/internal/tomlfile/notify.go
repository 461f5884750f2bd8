package tomlfile

import (
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// channels reads the tables [notify.NAME].
func (d *decoder) channels(value *node) (specs []notify.Spec) {
	const hint = `write [notify.ops], with a name of your choice, and below it a way such as: mail = "ops@example.org"`
	for name, t := range d.named("notify", "a channel", hint, value) {
		if spec, ok := d.channel(name, t); ok {
			specs = append(specs, spec)
		}
	}
	return specs
}

// channel reads one table.
func (d *decoder) channel(name string, t *node) (notify.Spec, bool) {
	spec := notify.Spec{Name: name, File: d.report.File, Line: t.line, Values: make(map[string][]string)}
	known, right := notify.SettingNames(), true
	for _, key := range t.keys {
		value := t.table[key]
		setting := notify.FindSetting(key)
		if setting == nil {
			d.unknown(key, value.line, job.Closest(key, known), known)
			right = false
			continue
		}
		values, ok := d.setting(setting, value)
		right = right && ok
		spec.Values[key] = values
	}
	if !right {
		return spec, false
	}
	wrong := spec.Check()
	for _, e := range wrong {
		line := t.line
		if value := t.table[e.Setting]; value != nil {
			line = value.line
		}
		d.report.Mistake(line, notify.Hint(e.Setting), "notify.%s: %s", name, e)
	}
	return spec, len(wrong) == 0
}

// setting returns the values of a key of a channel.
func (d *decoder) setting(s *notify.Setting, value *node) (values []string, ok bool) {
	if s.Table && value.kind != broken {
		return d.settingTable(s, value)
	}
	switch value.kind {
	case broken:
		return nil, false
	case number, truth:
		return []string{strings.TrimSpace(value.text)}, true
	case array:
		if !s.List {
			break
		}
		for _, item := range value.items {
			text, ok := d.text("a value of "+s.Name, item, "")
			if !ok {
				return nil, false
			}
			values = append(values, text)
		}
		return values, true
	}
	text, ok := d.text(s.Name, value, "")
	return []string{text}, ok
}

// settingTable returns the texts of a table, as a Setting has them.
func (d *decoder) settingTable(s *notify.Setting, value *node) (values []string, ok bool) {
	if value.kind != table {
		d.report.Mistake(value.line, notify.Hint(s.Name), "%s is %s, but has to be a table", s.Name, value.kind)
		return nil, false
	}
	for _, name := range value.keys {
		if strings.Contains(name, ": ") { // it would be the end of the name
			d.report.Mistake(value.table[name].line, notify.Hint(s.Name), "%q cannot be the name of a header", job.Printable(name))
			return nil, false
		}
		text, ok := d.text("header "+job.Printable(name), value.table[name], "")
		if !ok {
			return nil, false
		}
		values = append(values, name+": "+text)
	}
	return values, true
}
