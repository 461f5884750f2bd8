package memory_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/storetest"
)

// away gives the others the time of a way to a database.
func away() {
	if rand.N(3) == 0 {
		time.Sleep(rand.N(50 * time.Microsecond))
	} else {
		runtime.Gosched()
	}
}

// An awayStore can also be stopped between a decision and its commit.
type awayStore struct{ *memory.Store }

func (s awayStore) Between(fn func()) {
	if fn == nil {
		fn = away
	}
	memory.Away(s.Store, fn)
}

// The store passes the suite if others commit between its decisions and its commits.
func TestStoreAwayConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) durable.Store { return awayStore{memory.Away(memory.New(), away)} })
}
