package durable_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/sqlite"
)

// A configuration that is out of its range is declined, and the field named.
func TestConfigDeclinesBadFields(t *testing.T) {
	store := memory.New()
	for field, configs := range map[string][]durable.Config{
		"Store":    {{}},
		"Lease":    {{Store: store, Lease: time.Millisecond}, {Store: store, Lease: math.MaxInt64}},
		"Poll":     {{Store: store, Poll: time.Microsecond}, {Store: store, Poll: math.MaxInt64}},
		"Name":     {{Store: store, Name: "a\nb"}},
		"Triggers": {{Store: store, Triggers: map[string]executor.Trigger{"x": nil}}},
	} {
		for _, c := range configs {
			if _, err := durable.New(c); !errors.Is(err, executor.ErrInvalid) ||
				!strings.Contains(err.Error(), "Config."+field) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// A store that is a nil pointer, as that of an Open whose error was ignored, is an error of New.
func TestConfigDeclinesNilPointerAsStore(t *testing.T) {
	var store *sqlite.Store
	if _, err := durable.New(durable.Config{Store: store}); !errors.Is(err, executor.ErrInvalid) ||
		!strings.Contains(err.Error(), "Config.Store") {
		t.Error(err)
	}
}
