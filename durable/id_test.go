package durable_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
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

// A job has the ID of WithID, and is added once with it, alone or as a schedule.
func TestWithIDAddsOnce(t *testing.T) {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	k := durable.KindOf[int, int](jobs, "k")
	once, every := durable.NewID(), durable.NewID()
	for range 2 {
		if id, err := k.Add(t.Context(), 1, durable.WithID(once)); id != once || err != nil {
			t.Errorf("added is %v, %v, want %v", id, err, once)
		}
		if id, err := k.AtFixedRate(t.Context(), "every", 0, time.Hour, 1, durable.WithID(every)); id != every || err != nil {
			t.Errorf("registered is %v, %v, want %v", id, err, every)
		}
	}
	if id, err := k.AtFixedRate(t.Context(), "every", 0, time.Hour, 1, durable.WithID(durable.NewID())); id != every || err != nil {
		t.Errorf("registered with another ID is %v, %v, want %v", id, err, every)
	}
	if all, err := jobs.List(t.Context(), durable.Filter{}); len(all) != 2 || err != nil {
		t.Errorf("there are %d jobs, %v", len(all), err)
	}
	_, zero := k.Add(t.Context(), 1, durable.WithID(durable.ID{}))
	_, several := k.AddAll(t.Context(), 0, []int{1, 2}, durable.WithID(durable.NewID()))
	for _, err := range []error{zero, several} {
		if !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "WithID") {
			t.Errorf("misused: %v", err)
		}
	}
}
