package jdk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/executor-go/executor/bench/jdk"
	"github.com/executor-go/executor/bench/workload"
)

// find returns the java on the PATH. Without one it skips the test, but fails in CI.
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

// The memory of pending tasks is that of a ScheduledFutureTask, which has ten fields. It
// does not include what the virtual machine frees after its start. With a thousand tasks on
// a busy machine, whose compiler still runs, that would be most of it.
func TestPendingCountsTasksOnly(t *testing.T) {
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
