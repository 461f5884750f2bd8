package main

import (
	"strings"
	"testing"
)

// What has left the group of the run is ended, too, and said.
func TestRunOnceEndsStrays(t *testing.T) {
	t.Parallel()
	file := write(t, "tab", "# name: a\n@daily (setsid sh -c 'echo up >&2; exec sleep 1000' 2>&1 >/dev/null &) | head -n 1\n")
	stdout, stderr, code := output(t, "", "run-once", file, "a")
	if code != exitOK || stdout != "up\n" || !strings.HasPrefix(stderr, "executord: job a: ") ||
		!strings.Contains(stderr, ", had left the group of the run, and was ended\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if left := leftProcesses(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}
