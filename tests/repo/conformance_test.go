package repo

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every test, example, benchmark and file of tests that a row of the
// conformance tables names is there.
func TestConformanceNamesExist(t *testing.T) {
	functions, tests := testNames(t)
	tables, err := filepath.Glob("docs/conformance/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, table := range tables {
		for i, line := range strings.Split(read(t, table), "\n") {
			for _, name := range namesIn(line) {
				names++
				fn, _, _ := strings.Cut(name, "/")
				switch {
				case strings.HasSuffix(name, "_test.go") && !tests[name]:
					t.Errorf("%s:%d: there is no file %s; name the one that took its place", table, i+1, name)
				case !strings.HasSuffix(name, "_test.go") && !functions[fn]:
					t.Errorf("%s:%d: there is no function %s in any test; name the one that took its place, or say in the row why nothing does", table, i+1, fn)
				}
			}
		}
	}
	if names < 500 {
		t.Errorf("found only %d names: are the tables read right?", names)
	}
}

// Every promise of the model of threats has a test, and every test that it names is there.
func TestThreatsHaveTests(t *testing.T) {
	functions, _ := testNames(t)
	_, promises, found := strings.Cut(read(t, "docs/design/threats.md"), "## What is promised")
	promises, _, _ = strings.Cut(promises, "\n## ")
	rows := 0
	for line := range strings.SplitSeq(promises, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise ") {
			continue
		}
		rows++
		names := namesIn(line)
		if len(names) == 0 {
			t.Errorf("a promise without a test: %s", line)
		}
		for _, name := range names {
			if !functions[name] {
				t.Errorf("there is no test %s; name the one that took its place: %s", name, line)
			}
		}
	}
	if !found || rows < 15 {
		t.Errorf("found only %d promises: is the page read right?", rows)
	}
}

// Every answer of executord in the table beside other schedulers names tests, which are there, unless it is no.
func TestComparisonHasTests(t *testing.T) {
	functions, _ := testNames(t)
	rows := 0
	for line := range strings.Lines(read(t, "docs/compare-executord.md")) {
		cells := strings.Split(line, " | ")
		if number, _, ok := strings.Cut(strings.TrimPrefix(cells[0], "| "), ". "); !ok || number != strconv.Itoa(rows+1) {
			continue
		}
		rows++
		names := namesIn("|" + cells[2])
		if (len(names) == 0) != (cells[1] == "no") {
			t.Errorf("%s is answered with %q, and shown by %q", cells[0], cells[1], names)
		}
		for _, name := range names {
			if !functions[name] {
				t.Errorf("there is no test %s; name the one that took its place: %s", name, cells[0])
			}
		}
	}
	if rows != 49 {
		t.Errorf("found %d rows, want 49: is the page read right?", rows)
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
