package storetest_test

import (
	"testing"

	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/storetest"
)

// The test of a store passes a function to the suite that opens an empty one.
func ExampleRun() {
	var t *testing.T // of func TestStore(t *testing.T)
	storetest.Run(t, func(t *testing.T) *memory.Store {
		return memory.New() // a store in a file or a server is closed with t.Cleanup
	})
}
