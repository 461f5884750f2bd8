package poolview

import (
	"fmt"
	"testing"

	"github.com/executor-go/executor"
)

// Of more pools than there is room for those are shown that have run most, in the order in which they were added: which
// these are, and where they are, does not change with each task that waits.
func TestRowsStandStill(t *testing.T) {
	l := new(Look)
	for i := range 9 {
		l.Pools = append(l.Pools, Pool{Number: i + 1, Figures: executor.Figures{Stats: executor.Stats{Name: fmt.Sprint("pool", i)}}})
		l.Pools[i].Runs = int64(i % 5)
	}
	for busy := range l.Pools {
		l.Pools[busy].Queued = 1000
		rows, more := l.Rows("", 4)
		var got []int
		for _, r := range rows {
			got = append(got, r.Number)
		}
		if fmt.Sprint(got) != "[3 4 5 9]" || more != 5 {
			t.Errorf("with tasks that wait in %d pools: %d, and %d more", busy+1, got, more)
		}
	}
}
