//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// The store of a program that executord knows nothing of is looked into and changed.
func TestStoreOfAnyProgram(t *testing.T) {
	store := newStoreFile(t)
	opened, _, err := stores.Open(t.Context(), store, stores.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	jobs, err := durable.New(durable.Config{Store: opened})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.KindOf[string, string](jobs, "mail").AddAfter(t.Context(), time.Hour, "hello", durable.Key("welcome/1")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"applied", "too late: it is canceled"} {
		if out, err := here("store", "cancel", "welcome/1", "--store", store); out != "welcome/1: "+want+"\n" || (err != nil) != (want != "applied") {
			t.Errorf("%q, %v; want %q", out, err, want)
		}
	}
	if out, err := here("store", "list", "--kind", "mail", "--store", store, "--json"); err != nil || !strings.Contains(out, `"welcome/1"`) {
		t.Errorf("%v: %s", err, out)
	}
}
