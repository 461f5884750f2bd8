package tomlfile

import (
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// statementKeys are those of a job that runs SQL, in place of a command.
var statementKeys = []string{"sql", "dsn"}

// statement reads the SQL of a job, if it has some: the arguments that run it, and their input.
func (d *decoder) statement(t *node) (args []string, text string, ok bool) {
	sql, dsn := t.table["sql"], t.table["dsn"]
	switch {
	case sql == nil && dsn == nil:
		return nil, "", false
	case sql == nil:
		d.report.Mistake(dsn.line, `add some, such as: sql = "vacuum analyze"`, "dsn is for a job with sql")
		return nil, "", false
	case dsn == nil:
		d.report.Mistake(sql.line, `add one, such as: dsn = "postgres://app@db.internal/shop"`, "the job has sql, but no dsn")
		return nil, "", true
	}
	for _, key := range []string{"command", "stdin", "url"} {
		if value := t.table[key]; value != nil {
			d.report.Mistake(value.line, "remove one of the two", "a job with sql cannot have %s", key)
		}
	}
	text, fine := d.text("sql", sql, "")
	if fine && strings.TrimSpace(text) == "" {
		d.report.Mistake(sql.line, `write a statement, such as: sql = "vacuum analyze"`, "sql is empty")
	}
	database, fine := d.text("dsn", dsn, "")
	if fine && database == "" {
		d.report.Mistake(dsn.line, `write one, such as: dsn = "postgres://app@db.internal/shop"`, "dsn is empty")
	}
	d.notePassword("dsn", dsn, database, false)
	return []string{job.Self, "sql", "--", database}, text, true
}
