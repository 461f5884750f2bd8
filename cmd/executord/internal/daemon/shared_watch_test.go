package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/roster"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// away is a store that gives no lists while it is away.
type away struct {
	durable.Store
	away bool
}

func (a *away) List(ctx context.Context, f durable.Filter) ([]durable.Job, error) {
	if a.away {
		return nil, errors.New("the store is away")
	}
	return a.Store.List(ctx, f)
}

// A file that could not be brought to the store leaves the jobs of the one before
// watched.
func TestJobsAreWatchedAfterAReloadThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &away{Store: memory.New()}
		var log bytes.Buffer
		file, err := crontab.Parse("tab", []byte("# name: a\n0 0 * * * true\n"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := newNode(New(Config{
			File: file, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Shared: &Shared{Store: store, Name: "jobs.db", Namespace: "n", Lease: time.Second},
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer n.pool.Close()
		if err := n.bring(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		store.away = true
		if n.bring(t.Context(), file) == nil {
			t.Fatal("a store that is away takes a file")
		}
		row, err := store.Find(t.Context(), roster.Key("n", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.roster.Jobs.Pause(t.Context(), row.ID); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		n.look(t.Context())
		if !strings.Contains(log.String(), "job does not run") {
			t.Errorf("logged %q", log.String())
		}
	})
}
