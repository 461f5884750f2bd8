package howto

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/sqlite"
)

// A store that was moved has what the first one had, under the same keys.
func TestMoveStoreMovesJobs(t *testing.T) {
	dir := t.TempDir()
	to, err := sqlite.Open(filepath.Join(dir, "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	from := memory.New()
	pool := executor.Scheduled(1)
	defer pool.Close()
	jobs, err := durable.New(durable.Config{Store: from, Executor: pool})
	if err != nil {
		t.Fatal(err)
	}
	mails := durable.KindOf[Mail, string](jobs, "mail")
	id, err := mails.AddAfter(t.Context(), time.Hour, Mail{Text: "hello"}, durable.Key("welcome/17"))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := moveStore(t.Context(), from, to, filepath.Join(dir, "jobs.jsonl"))
	if err != nil || moved.Jobs != 1 {
		t.Errorf("moved %+v, %v", moved, err)
	}
	if job, err := to.Find(t.Context(), "welcome/17"); err != nil || job.ID != id || string(job.Payload) != `{"Customer":"","Campaign":"","Text":"hello"}` {
		t.Errorf("moved %+v, %v", job, err)
	}
}
