package tomlfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// parameterKeys are those of a table that describes a parameter.
var parameterKeys = func() (names []string) {
	for _, key := range keys.ParameterKeys {
		names = append(names, key.Name)
	}
	return names
}()

// parameters reads the parameters of a job: each a default, or a table.
func (d *decoder) parameters(value *node) (all job.Parameters) {
	const hint = `write a table: parameters = { DAY = "today" }, or [job.parameters]`
	switch {
	case value.kind == broken:
		return nil
	case value.kind != table:
		d.report.Mistake(value.line, hint, "parameters is %s", value.kind)
		return nil
	case len(value.keys) > job.MaxParameters:
		d.report.Mistake(value.line, "remove some", "the job has %d parameters, and must have at most %d", len(value.keys), job.MaxParameters)
		return nil
	}
	for _, name := range value.keys {
		p, ok := d.parameter(name, value.table[name])
		if !ok {
			continue
		}
		if err := p.Check(); err != nil {
			d.report.Mistake(value.table[name].line, "see parameters in the manual", "%v", err)
			continue
		}
		all = append(all, p)
	}
	return all
}

// parameter reads one. What is wrong with its kind is in the report.
func (d *decoder) parameter(name string, value *node) (p job.Parameter, ok bool) {
	p.Name = name
	switch value.kind {
	case broken:
		return p, false
	case text:
		p.Default = value.text
		return p, true
	case table:
	default:
		d.report.Mistake(value.line, fmt.Sprintf("write the default in quotes, %s = %q, or a table", name, value.text),
			"parameter %s is %s, but has to be text or a table", job.Printable(name), value.kind)
		return p, false
	}
	ok = true
	for _, key := range value.keys {
		v, fine := value.table[key], true
		switch what := fmt.Sprintf("%s of parameter %s", key, job.Printable(name)); key {
		case "default":
			p.Default, fine = d.text(what, v, `default = "today"`)
		case "pattern":
			p.Pattern, fine = d.text(what, v, `pattern = "[0-9]+"`)
		case "description":
			p.Doc, fine = d.text(what, v, `description = "the day of the report"`)
		case "values":
			p.Values, fine = d.allowed(what, v)
		default:
			d.unknown(key, v.line, job.Closest(key, parameterKeys), parameterKeys)
			fine = false
		}
		ok = ok && fine
	}
	if value.table["default"] == nil && ok && p.Values != nil && !slices.Contains(p.Values, "") {
		d.report.Mistake(value.line, fmt.Sprintf("add one of them, such as: default = %q", p.Values[0]), "parameter %s has values, but no default", job.Printable(name))
		return p, false
	}
	return p, ok
}

// allowed reads the values that a parameter may have.
func (d *decoder) allowed(what string, value *node) (values []string, ok bool) {
	if value.kind == broken {
		return nil, false
	}
	if value.kind != array || len(value.items) == 0 {
		d.report.Mistake(value.line, `write a list, such as: values = ["eu", "us"]`, "%s is not a list of texts", what)
		return nil, false
	}
	for _, item := range value.items {
		text, fine := d.text("one of "+what, item, `"eu"`)
		if !fine {
			return nil, false
		}
		values = append(values, text)
	}
	return values, true
}

// noSecrets reports the parameters of a job that are secrets, too: the values of parameters are shown.
func (d *decoder) noSecrets(parameters *node, j job.Job) {
	for _, p := range j.Parameters {
		for _, secret := range j.Command.Secrets {
			if name, _, _ := strings.Cut(secret, "="); name == p.Name {
				d.report.Mistake(parameters.table[p.Name].line, "give one of the two another name",
					"%s is a parameter and a secret; the values of parameters are shown, and stored", p.Name)
				break
			}
		}
	}
}
