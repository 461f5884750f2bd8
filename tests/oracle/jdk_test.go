package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// javaPath returns the path of java. Without one it skips the test, but fails in CI.
func javaPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("java")
	if err == nil {
		return path
	}
	const msg = "no java on the PATH to compare with; Debian's package is default-jdk-headless"
	if os.Getenv("CI") != "" {
		t.Fatal(msg)
	}
	t.Skip(msg)
	return ""
}

// compile compiles the JDK's side.
func compile(t *testing.T) (classes string) {
	t.Helper()
	classes = t.TempDir()
	javac := filepath.Join(filepath.Dir(javaPath(t)), "javac")
	if _, err := os.Stat(javac); err != nil {
		javac = "javac"
	}
	if out, err := exec.Command(javac, "-d", classes, "testdata/Oracle.java").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return classes
}

// runJDK runs the programs on the JDK, atOnce at a time with ticks of ms milliseconds, and
// returns their traces.
func runJDK(t *testing.T, classes string, programs []*Program, ms, atOnce int) []string {
	t.Helper()
	cmd := exec.Command(javaPath(t), "-Xss256k", "-XX:+UseSerialGC", "-cp", classes, "Oracle",
		strconv.Itoa(ms), strconv.Itoa(atOnce))
	var in, stderr strings.Builder
	for i, p := range programs {
		fmt.Fprintf(&in, "%sgo %d\n", p, i)
	}
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	traces := make([]string, len(programs))
	for line := range strings.Lines(string(out)) {
		number, text, ok := strings.Cut(line, " ")
		i, err := strconv.Atoi(number)
		if !ok || err != nil || i >= len(traces) {
			t.Fatalf("output of the JVM: %q", line)
		}
		if text != ".\n" {
			traces[i] += text
		}
	}
	return traces
}
