package durable_test

import (
	"errors"
	"strings"
	"testing"

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
