package postgres_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/executor-go/executor/durable/internal/steptest"
)

// stepsDSN is the variable that names the database of a child of TestStepUnderKills, which has no server of its own.
const stepsDSN = "EXECUTOR_TEST_STEPS_DSN"

// No step begins whose result is kept, though programs are killed between the steps of their jobs.
func TestStepUnderKills(t *testing.T) {
	dsn := dsn(t)
	steptest.Kill(t, open(t, dsn), func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStepUnderKills$")
		cmd.Env = []string{stepsDSN + "=" + dsn}
		return cmd
	})
}
