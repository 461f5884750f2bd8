package repo

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a simple call runs is little: few functions, in few files.
func TestWalks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the core with coverage")
	}
	binary := filepath.Join(t.TempDir(), "walk")
	command(t, "go", "test", "-c", "-o", binary, "-coverpkg="+modulePath+","+modulePath+"/internal/...", "./tests/walk")
	for _, c := range []struct {
		test             string
		functions, files int // the goal
		most, mostFiles  int // what has been reached, and a few that depend on timing
	}{
		{"TestSubmit", 60, 13, 102, 20},
		{"TestFixedRate", 110, 20, 199, 33},
		{"TestScheduleCancel", 75, 18, 128, 27},
	} {
		ran, functions := leastRun(t, binary, c.test)
		for file, names := range ran {
			t.Logf("%s: %s: %s", c.test, file, strings.Join(names, " "))
		}
		t.Logf("%s runs %d functions in %d files", c.test, functions, len(ran))
		if functions > c.most || len(ran) > c.mostFiles {
			t.Errorf("%s runs %d functions in %d files, the most is %d in %d; call only what a simple task needs",
				c.test, functions, len(ran), c.most, c.mostFiles)
		}
		if functions > c.functions || len(ran) > c.files {
			unreached(t, "%s runs %d functions in %d files, the most is %d in %d", c.test, functions, len(ran), c.functions, c.files)
		}
	}
}

// leastRun returns the functions of the core that a test runs, by file, and their number: the least of several runs,
// since on a busy machine some are run besides.
func leastRun(t *testing.T, binary, test string) (ran map[string][]string, functions int) {
	for range 5 {
		again, n := functionsRun(t, binary, test), 0
		for _, names := range again {
			n += len(names)
		}
		if ran == nil || n < functions {
			ran, functions = again, n
		}
	}
	return ran, functions
}

// functionsRun returns the functions of the core that a test runs, by file. binary
// is the test binary of tests/walk.
func functionsRun(t *testing.T, binary, test string) map[string][]string {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "cover.out")
	command(t, binary, "-test.run=^"+test+"$", "-test.coverprofile="+profile)
	ran := make(map[string][]string)
	for line := range strings.Lines(command(t, "go", "tool", "cover", "-func="+profile)) {
		fields := strings.Fields(line) // file:line: function percent
		if len(fields) != 3 || fields[0] == "total:" || fields[2] == "0.0%" {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimPrefix(fields[0], modulePath+"/"), ":")
		ran[file] = append(ran[file], fields[1])
	}
	if len(ran) == 0 {
		t.Fatalf("%s runs nothing", test)
	}
	return ran
}

// command runs a command and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
