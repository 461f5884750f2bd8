package sqlite_test

import (
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
)

// What is old is removed from the history by the next prune, also behind thousands of runs that are kept.
func TestPruneFindsOldRuns(t *testing.T) {
	store, _ := openAt(t)
	execute(t, store, `with recursive s (i) as (select 1 union all select i + 1 from s where i < 5000)
		insert into executor_run (job, seq, occurrence, attempt, epoch, node, started, finished, verdict, error)
		select randomblob(16), 1, 0, 1, 1, 'a', 0, case when i > 4900 then i else 1 << 60 end, i % 6, '' from s`)
	if n, err := store.Prune(t.Context(), durable.Retention{History: time.Hour}); n != 100 || err != nil {
		t.Errorf("removed %d of 100 runs: %v", n, err)
	}
}
