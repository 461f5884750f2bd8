package tomlfile

import (
	"strconv"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// maxLimit is the greatest limit of a group.
const maxLimit = 1000

// groups reads the tables [group.NAME].
func (d *decoder) groups(value *node) (groups []job.Group) {
	const hint = "write [group.db], with a name of your choice, and below it: limit = 2"
	if value == nil || value.kind == broken {
		return nil
	}
	if value.kind != table {
		d.report.Mistake(value.line, hint, "group is %s above all jobs, where groups are tables", value.kind)
		return nil
	}
	for _, name := range value.keys {
		t := value.table[name]
		switch {
		case t.kind == broken:
		case t.kind != table:
			d.report.Mistake(t.line, hint, "group.%s is %s, but has to be a table", job.Printable(name), t.kind)
		case !job.ValidName(name):
			d.report.Mistake(t.line, job.NameHint, "%q cannot be the name of a group", name)
		default:
			g := job.Group{Name: job.CanonicalName(name), File: d.report.File, Line: t.line}
			d.limit(&g, t)
			groups = append(groups, g)
		}
	}
	return groups
}

// limit reads the only key of a group.
func (d *decoder) limit(g *job.Group, t *node) {
	for _, key := range t.keys {
		if key != "limit" {
			d.unknown(key, t.table[key].line, job.Closest(key, []string{"limit"}), []string{"limit"})
			return
		}
	}
	value := t.table["limit"]
	if value == nil {
		d.report.Mistake(t.line, "add how many jobs of it may run at a time: limit = 2", "group.%s has no limit", g.Name)
		return
	}
	n, err := strconv.Atoi(value.text)
	if value.kind != number || err != nil || n < 1 || n > maxLimit {
		d.report.Mistake(value.line, "write a number from 1 to 1000, without quotes: limit = 2", "the limit of group.%s is not a number from 1 to 1000", g.Name)
		return
	}
	g.Limit = n
}
