package repo

import (
	"testing"

	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }
