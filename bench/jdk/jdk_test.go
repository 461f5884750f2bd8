package jdk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/executor-go/executor/bench/jdk"
	"github.com/executor-go/executor/bench/workload"
)

// find gives the java on the PATH. Without one there is nothing to test; in CI
// that is a failure, so that it cannot go unnoticed.
func find(t *testing.T) *jdk.Java {
	t.Helper()
	java, err := jdk.Find()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(java.Close)
	return java
}

// Tasks that wait are as large as a task is: what the virtual machine clears away
// after its start is not taken off them. A ScheduledFutureTask alone has ten fields.
// Of a thousand a busy machine, whose compiler still works, may take off most.
func TestPendingCountsTasksAlone(t *testing.T) {
	args := find(t).Command(workload.Pending, workload.Params{Pending: 10_000, Workers: 2}, 0)
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var r workload.Result
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if got := r.Values["bytes"]; got < 64 || got > 256 {
		t.Errorf("%.0f bytes for each task", got)
	}
}
