package sqlite

import "github.com/executor-go/executor/durable/internal/sqlrow"

// refill are the statements for tables that are made anew, since they were dropped: that of tags is filled from the
// rows of the jobs, and jobs go on without what they wait for.
var refill = map[string]string{
	"executor_tag": `insert into executor_tag (tag, job)
	with recursive split (job, tag, rest) as (
		select id, null, tags || char(10) from executor_job where tags <> ''
		union all
		select job, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) from split where rest <> ''
	) select tag, job from split where tag is not null`,
	"executor_parent": lostParents,
	"executor_after":  lostParents,
}

var lostParents = sqlrow.LostParents("cast(unixepoch('now', 'subsec') * 1000000 as integer)")
