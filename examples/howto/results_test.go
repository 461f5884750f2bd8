package howto

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A program that runs no jobs gets the results of another one, and what became of those that failed.
func TestPriceComesFromAnotherProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		program := func() *durable.Jobs {
			jobs, err := durable.New(durable.Config{Store: store, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			return jobs
		}
		worker := program()
		newPricer(worker, func(ctx context.Context, article string) (int, error) {
			switch article {
			case "nothing":
				return 0, errUnknownArticle
			case "broken":
				return 0, executor.Permanent(errors.New("no power"))
			case "slow":
				time.Sleep(90 * time.Second)
			}
			return len(article), nil
		})
		runJobs(t, worker)
		quotes := durable.KindOf[Quote, Price](program(), "quote")
		begun := time.Now()
		if p, err := priceOf(t.Context(), quotes, Quote{"spoon"}); err != nil || p.Cents != 5 || time.Since(begun) > 2*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(begun), p, err)
		}
		if _, err := priceOf(t.Context(), quotes, Quote{"nothing"}); err != errUnknownArticle {
			t.Error(err)
		}
		if _, err := priceOf(t.Context(), quotes, Quote{"broken"}); err == nil || !strings.Contains(err.Error(), "dead: no power") {
			t.Error(err)
		}
		if _, err := priceOf(t.Context(), quotes, Quote{"slow"}); err == nil || !strings.Contains(err.Error(), "not there yet") {
			t.Error(err)
		}
	})
}
