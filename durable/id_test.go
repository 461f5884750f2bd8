package durable_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// An ID is read as it is written.
func TestIDRoundTrip(t *testing.T) {
	id := durable.NewID()
	if got, err := durable.ParseID(id.String()); err != nil || got != id {
		t.Errorf("%v became %v: %v", id, got, err)
	}
	for _, s := range []string{"", "x", id.String()[1:], strings.Repeat("z", 36), id.String() + "0"} {
		if _, err := durable.ParseID(s); !errors.Is(err, executor.ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// An ID that follows from a time and bytes is always the same, another for other bytes, and a UUID in the order of its time.
func TestIDOf(t *testing.T) {
	at := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	id := durable.IDOf(at, []byte("a"))
	if again := durable.IDOf(at, []byte("a")); again != id || durable.IDOf(at, []byte("b")) == id {
		t.Errorf("%v, and then %v", id, again)
	}
	if text := id.String(); text[14] != '7' || !strings.Contains("89ab", text[19:20]) {
		t.Errorf("%s is no UUID of version 7", text)
	}
	if later := durable.IDOf(at.Add(time.Millisecond), []byte("a")); later.String() <= id.String() {
		t.Errorf("%v is not after %v", later, id)
	}
}
