package sqlrow

import (
	"github.com/executor-go/executor/durable"
)

// Occasion is that of a job, see durable.Job.Occasion.
const Occasion = "case schedule when 'once' then anchor else occurrence end"

// ReadSteps returns the statement that selects what ScanSteps reads, of the job that the parameter names.
func ReadSteps(parameter string) string {
	return "select occasion, signal, name, result, noted from executor_step where job = " + parameter +
		" order by noted, occasion, name, signal"
}

// ScanSteps reads and closes rows of ReadSteps.
var ScanSteps = all(func(row Scanner) (k durable.KeptStep, err error) {
	var occasion, noted int64
	if err = row.Scan(&occasion, &k.Signal, &k.Name, &k.Result, &noted); err != nil {
		return k, err
	}
	k.Occasion, k.At = Time(occasion), Time(noted)
	return k, nil
})
