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
	for name, t := range d.named("group", "a group", hint, value) {
		g := job.Group{Name: name, File: d.report.File, Line: t.line}
		d.limit(&g, t)
		groups = append(groups, g)
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
