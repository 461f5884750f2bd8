package repo

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test, example, benchmark and file of tests that a row of a table in docs names is there.
func TestNamedTestsExist(t *testing.T) {
	functions, tests := testNames(t)
	pages := documents(t)
	names := 0
	for _, page := range pages {
		for i, line := range strings.Split(read(t, page), "\n") {
			for _, name := range namesIn(line) {
				names++
				fn, _, _ := strings.Cut(name, "/")
				switch {
				case strings.HasSuffix(name, "_test.go") && !tests[name]:
					t.Errorf("%s:%d: there is no file %s; name the one that took its place", page, i+1, name)
				case !strings.HasSuffix(name, "_test.go") && !functions[fn]:
					t.Errorf("%s:%d: there is no function %s in any test; name the one that took its place, or say in the row why nothing does", page, i+1, fn)
				}
			}
		}
	}
	if names < 500 {
		t.Errorf("found only %d names: are the tables read right?", names)
	}
}

// The names are found where the tables have them, and nowhere else.
func TestConformanceNamesAreRead(t *testing.T) {
	for line, want := range map[string]string{
		"| `testSubmit`, `6` | `TestA`, `TestB/Sub` (`c_test.go`) | |": "TestA TestB/Sub c_test.go",
		"| `InvokeTest.testX` | `ExampleY`; `FuzzZ` |":                 "ExampleY FuzzZ",
		"| `x` | `pool_*_test.go`, `Testing`, `BenchmarkQ/a=1` |":      "BenchmarkQ/a=1",
		"`TestProse` is not in a table.":                               "",
	} {
		if got := strings.Join(namesIn(line), " "); got != want {
			t.Errorf("namesIn(%q) = %q, want %q", line, got, want)
		}
	}
}

var testName = regexp.MustCompile("`((?:Test|Example|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*(?:/[^`\\s]+)?|[a-z0-9_/]+_test\\.go)`")

// namesIn returns the names of our tests in a line of a table.
func namesIn(line string) (names []string) {
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	for _, m := range testName.FindAllStringSubmatch(line, -1) {
		names = append(names, m[1])
	}
	return names
}

// testNames returns the functions of all tests of the workspace, the suites that
// package executortest exports included, and their files, with and without
// folder.
func testNames(t *testing.T) (functions, tests map[string]bool) {
	t.Helper()
	functions, tests = make(map[string]bool), make(map[string]bool)
	files, _ := workspace(t)
	for _, f := range files {
		if !f.test && !forTests(f.dir) {
			continue
		}
		tests[f.name], tests[filepath.Base(f.name)] = true, true
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				functions[fn.Name.Name] = true
			}
		}
	}
	return functions, tests
}

// docs/conformance/README.md leads to every part.
func TestConformancePartsAreLinked(t *testing.T) {
	parts, err := filepath.Glob("docs/conformance/*.md")
	if err != nil || len(parts) == 0 {
		t.Fatal("no parts", err)
	}
	front, err := os.ReadFile("docs/conformance/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if part == "docs/conformance/README.md" {
			continue
		}
		if !strings.Contains(string(front), "("+filepath.Base(part)+")") {
			t.Errorf("docs/conformance/README.md does not link to %s; add it to the list of parts", part)
		}
	}
}
