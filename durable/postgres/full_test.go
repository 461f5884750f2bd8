package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
	durablestore "github.com/executor-go/executor/durable/store"
)

// The error of a server that has no room says so, and what to do.
func TestStoreTellsFullDisk(t *testing.T) {
	store := opened(t, "")
	must(store.DB().Exec(`create function full_disk() returns trigger language plpgsql as $$ begin
			raise exception 'could not extend file: No space left on device' using errcode = '53100';
		end $$;
		create trigger full_disk before insert on executor_job execute function full_disk()`))
	job := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: []byte("1"), Schedule: durablestore.Once, Attempts: 1}
	insert := func() error {
		_, err := store.Insert(t.Context(), []durable.NewJob{job}, durablestore.Placement{})
		return err
	}
	if err := insert(); !errors.Is(err, durable.ErrFull) || !strings.Contains(err.Error(), "make room on the disk of the server") {
		t.Errorf("the error is %v", err)
	}
	must(store.DB().Exec("drop trigger full_disk on executor_job; drop function full_disk"))
	if err := insert(); err != nil {
		t.Error(err)
	}
}
