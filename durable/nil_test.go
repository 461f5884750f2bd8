package durable_test

import (
	"errors"
	"strings"
	"testing"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// A store that is a nil pointer, as that of an Open whose error was not looked at, is
// an error of New.
func TestStoreThatIsANilPointer(t *testing.T) {
	var store *sqlite.Store
	if _, err := durable.New(durable.Config{Store: store}); !errors.Is(err, executor.ErrInvalid) || !strings.Contains(err.Error(), "Config.Store") {
		t.Error(err)
	}
}
