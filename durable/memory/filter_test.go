package memory_test

import (
	"testing"

	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/storetest"
)

// Each filter selects what it says.
func FuzzFilters(f *testing.F) { storetest.FuzzFilters(f, memory.New()) }
