package realtime

import (
	"testing"

	"github.com/executor-go/executor/internal/testkit/check"
)

func TestMain(m *testing.M) { check.Main(m) }
