package memory_test

import (
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/storetest"
)

// The store in memory passes the suite.
func TestStoreConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return memory.New() })
}
