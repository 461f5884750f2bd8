package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

// run-now --wait waits for a run as long as it may begin, and ends when it was canceled before.
func TestRunNowWaitEndsWithCanceledRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		jobs, err := durable.New(durable.Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		file, err := crontab.Parse("tab", []byte("# name: a\n@yearly true\n"))
		if err != nil {
			t.Fatal(err)
		}
		c := &catalog.Catalog{Namespace: "tab", Store: store, Jobs: jobs, Keep: 10}
		if err := c.Apply(t.Context(), file.Jobs, func(catalog.Step) {}); err != nil {
			t.Fatal(err)
		}
		v := client.Client{Store: store, Jobs: jobs}
		targets, err := targetsIn(t.Context(), v, "", []string{"a"}, "")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		ended := make(chan error, 1)
		go func() { ended <- carryOut(&out, client.Order{Do: admin.RunNow}, true, targets, nil) }() // no daemon runs it
		time.Sleep(time.Hour)
		select {
		case err := <-ended:
			t.Fatalf("it has not waited: %v, %s", err, &out)
		default:
		}
		entries, _, err := v.Find(t.Context(), "", []string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Cancel(t.Context(), jobs, store, entries[0]); err != nil {
			t.Fatal(err)
		}
		var exit *exitError
		if err := <-ended; !errors.As(err, &exit) || exit.code != exitFailed {
			t.Errorf("it has ended with %v", err)
		}
		if want := "a: due now\na: run 1: canceled after 0s\n    it was canceled before it began\n"; out.String() != want {
			t.Errorf("it says %q, want %q", out.String(), want)
		}
	})
}
