package tomlfile

import (
	"iter"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// named returns the tables [key.NAME], in the order of the file. Each describes what, such
// as a group. Whatever else has that key, or a name that is none, is a mistake.
func (d *decoder) named(key, what, hint string, value *node) iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		switch {
		case value == nil || value.kind == broken:
			return
		case value.kind != table:
			d.report.Mistake(value.line, hint, "%s is %s above all jobs, but has to be a table", key, value.kind)
			return
		}
		for _, name := range value.keys {
			switch t := value.table[name]; {
			case t.kind == broken:
			case t.kind != table:
				d.report.Mistake(t.line, hint, "%s.%s is %s, but has to be a table", key, job.Printable(name), t.kind)
			case !job.ValidName(job.CanonicalName(name)):
				d.report.Mistake(t.line, job.NameHint, "%q cannot be the name of %s", name, what)
			default:
				if !yield(job.CanonicalName(name), t) {
					return
				}
			}
		}
	}
}
