//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// The store of a program that executord knows nothing of is looked into, changed, and moved to another one.
func TestStoreOfAnyProgram(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		opened, _, err := stores.Open(t.Context(), store, stores.Options{Create: true, Wait: databaseWait})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		jobs, err := durable.New(durable.Config{Store: opened})
		if err != nil {
			t.Fatal(err)
		}
		mails := durable.KindOf[string, string](jobs, "mail")
		for _, key := range []string{"welcome/1", "welcome/2"} {
			if _, err := mails.AddAfter(t.Context(), time.Hour, "hello", durable.Key(key)); err != nil {
				t.Fatal(err)
			}
		}
		if found := asked(t, store, "store", "list", "--kind", "mail"); len(found) != 2 || found[0]["payload"] != "hello" {
			t.Errorf("listed %v", found)
		}
		wantAnswer(t, store, exitOK, "welcome/1: applied\n", "store", "cancel", "welcome/1")
		wantAnswer(t, store, exitMistake, "welcome/1: too late: it is canceled\n", "store", "cancel", "welcome/1")
		exported, stderr, code := output(t, "", "store", "export", "--store", store)
		if code != exitOK || stderr != "exported 2 jobs, 0 runs\n" {
			t.Fatalf("export: exit code %d, %q", code, stderr)
		}
		copied := newStoreFile(t)
		if out, stderr, code := output(t, exported, "store", "import", "--store", copied); code != exitOK || out != "imported 2 jobs, 0 runs\n" || stderr != "" {
			t.Fatalf("import: exit code %d, %q, %q", code, out, stderr)
		}
		if found := asked(t, copied, "store", "list", "--state", "canceled"); len(found) != 1 || found[0]["key"] != "welcome/1" {
			t.Errorf("moved %v", found)
		}
		if _, stderr, code := output(t, "", "store", "list"); code != exitUsage || !strings.Contains(stderr, "needs a store") {
			t.Errorf("without a store: exit code %d, %q", code, stderr)
		}
	})
}
