package postgres

import "github.com/executor-go/executor/durable/internal/sqlrow"

// refill are the statements for tables that are made anew, since they were dropped: that of tags is filled from the
// rows of the jobs, and jobs go on without what they wait for.
var refill = map[string]string{
	"executor_tag":    "insert into executor_tag (tag, job) select t.tag, id from executor_job, " + splitTags + " where tags <> ''",
	"executor_parent": lostParents,
	"executor_after":  lostParents,
}

var lostParents = sqlrow.LostParents(clock)
