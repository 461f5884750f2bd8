package postgres_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/internal/steptest"
	durablestore "github.com/executor-go/executor/durable/store"
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

// While a step is being kept the job stays its node's: the next run would not see the step.
func TestKeepStepHoldsTheJob(t *testing.T) {
	store := open(t, dsn(t))
	j := claimed(t, store, "a", 1, 0)[0]
	tx := must(store.DB().BeginTx(t.Context(), nil)) // it has the step's place, so that KeepStep waits in its middle
	defer tx.Rollback()
	must(tx.ExecContext(t.Context(), `insert into executor_step (job, occasion, signal, name, noted)
		select id, anchor, false, 's', 1 from executor_job`))
	done := make(chan bool)
	go func() {
		k := durable.KeptStep{Name: "s", Occasion: j.Occasion(), Result: []byte("1")}
		_, ok, err := store.KeepStep(t.Context(), durablestore.Ref{ID: j.ID, Epoch: j.Epoch}, k)
		done <- ok && err == nil
	}()
	waitForWaiting(t, store, 1)
	if left := must(store.Release(t.Context(), "a", nil)); !left {
		t.Error("the job was freed while its step was being kept")
	}
	must(0, tx.Rollback())
	if !<-done {
		t.Error("the step was not kept")
	}
	if left := must(store.Release(t.Context(), "a", nil)); left {
		t.Error("the job was not freed afterwards")
	}
	if kept := must(store.KeptSteps(t.Context(), j.ID)); len(kept) != 1 {
		t.Errorf("kept are %+v", kept)
	}
}
