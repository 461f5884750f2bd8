package memory

import (
	"testing"

	"github.com/executor-go/executor/durable/internal/aheadtest"
)

// The store does not forget that its clock was ahead.
func TestStoreShowsThatTheClockWasAhead(t *testing.T) {
	s := New()
	aheadtest.Run(t, s, func() { s.Shift(-aheadtest.Step) })
}
