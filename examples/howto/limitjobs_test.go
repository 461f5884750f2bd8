package howto

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// runJobs runs the jobs until the test ends.
func runJobs(t *testing.T, jobs *durable.Jobs) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// On two machines, 60 mails take half a minute: ten go at once, and fifty as the rate allows.
func TestMailerKeepsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var mails *durable.Kind[Notice, string]
		for range 2 {
			jobs, err := durable.New(durable.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			mails = newMailer(jobs, func(_ context.Context, m Notice) (string, error) { return "sent to " + m.To, nil })
			runJobs(t, jobs)
		}
		begun := time.Now()
		ids, err := mails.AddAll(t.Context(), 0, make([]Notice, 60))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := mails.Await(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begun); d < 30*time.Second || d > 31*time.Second {
			t.Errorf("60 mails took %v", d)
		}
	})
}

// The file of one customer does not wait for the thousand of another.
func TestImporterIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		imports := newImporter(jobs, func(context.Context, Import) (int, error) {
			time.Sleep(time.Minute)
			return 1, nil
		})
		for range 200 {
			if _, err := addImport(t.Context(), imports, Import{Customer: "big"}); err != nil {
				t.Fatal(err)
			}
		}
		runJobs(t, jobs)
		time.Sleep(10 * time.Minute)
		begun := time.Now()
		id, err := addImport(t.Context(), imports, Import{Customer: "small"})
		if err == nil {
			_, err = imports.Await(t.Context(), id)
		}
		if d := time.Since(begun); err != nil || d > time.Minute+time.Second {
			t.Errorf("the one file took %v, %v", d, err)
		}
	})
}
