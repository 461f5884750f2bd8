package postgres_test

import (
	"fmt"
	"testing"

	"github.com/executor-go/executor/durable/internal/aheadtest"
)

// The store does not forget that its clock was ahead.
func TestStoreShowsThatTheClockWasAhead(t *testing.T) {
	s := open(t, dsn(t))
	aheadtest.Run(t, s, func() {
		for _, column := range aheadtest.Columns {
			must(s.DB().Exec(fmt.Sprintf("update executor_job set %[1]s = %[1]s + %[2]d where %[1]s <> 0", column, aheadtest.Step.Microseconds())))
		}
	})
}
