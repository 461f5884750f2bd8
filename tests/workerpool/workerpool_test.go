package workerpool_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

const original = "github.com/gammazero/workerpool"

// apart are the tests of the original that do not apply, each with the reason.
var apart = map[string]string{
	"TestWorkerTimeout": "it has the dispatcher end an idle worker by a method of its own, and counts that idle " +
		"workers exit one in each period; here each exits when it has been idle for as long as KeepAlive",
}

// inside is what other tests look at inside, and what shows the same here.
var inside = map[string]string{
	"wp.waitingQueue.Len()": "wp.WaitingQueueSize()",
	"wp.waitingQueue.Cap()": "wp.pool.Stats().Queued", // what the queue holds when the pool is stopped
}

// counts takes the place of functions of the original that hand tasks to idle workers, past the queue, to count them.
const counts = `package workerpool

import "time"

func anyReady(w *WorkerPool) bool { return w.pool.Stats().Idle > 0 }

func countReady(w *WorkerPool) int {
	time.Sleep(100 * time.Millisecond)
	return w.pool.Stats().Idle
}
`

// The tests of the original pass over the shim, but for those that are set apart.
func TestOriginal(t *testing.T) {
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("compiles and runs another module's tests")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err) // the tests are built on one machine and run on another
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests, names := adapt(t, filepath.Join(source(t, tool), "workerpool_test.go"))
	shim, err := os.ReadFile("tests/workerpool/workerpool.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module %s\ngo 1.26.0\nrequire github.com/executor-go/executor v0.1.0\n"+
			"replace github.com/executor-go/executor => %q\n", original, root),
		"workerpool.go":      string(shim),
		"workerpool_test.go": tests,
		"counts_test.go":     counts,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command(tool, "test", "-v", "-count=1", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := run.CombinedOutput()
	passed := regexp.MustCompile(`(?m)^--- PASS: (\w+)`).FindAllStringSubmatch(string(out), -1)
	if err != nil || len(passed) != len(names) {
		t.Errorf("%d of %d tests pass, %v:\n%s", len(passed), len(names), err, out)
	}
}

// source returns the directory of the original, in the version that bench/go.mod requires.
func source(t *testing.T, tool string) string {
	t.Helper()
	if out, err := exec.Command(tool, "mod", "download", original).CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("%v: %s", err, out)
	}
	out, err := exec.Command(tool, "list", "-m", "-f", "{{.Dir}}", original).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// adapt returns the text of a test without what is set apart, and the names of its tests.
func adapt(t *testing.T, file string) (text string, names []string) {
	t.Helper()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, whole, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	leave := []string{"anyReady", "countReady"}
	for name := range apart {
		leave = append(leave, name)
	}
	for _, d := range slices.Backward(f.Decls) {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if i := slices.Index(leave, name); i >= 0 {
			leave = slices.Delete(leave, i, i+1)
			whole = slices.Delete(whole, set.Position(fn.Pos()).Offset, set.Position(fn.End()).Offset)
		} else if strings.HasPrefix(name, "Test") {
			names = append(names, name)
		}
	}
	if len(leave) > 0 {
		t.Fatalf("%s has no %q", file, leave)
	}
	text = string(whole)
	for from, to := range inside {
		if !strings.Contains(text, from) {
			t.Errorf("%s has no %q; remove it from inside", file, from)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	return text, names
}
