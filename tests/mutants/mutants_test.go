package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every mutant still finds the text that it replaces, and compiles.
func TestMutantsApply(t *testing.T) {
	for _, err := range unfit(".", all()) {
		t.Error(err)
	}
}

// Every test that a mutant names is there: with a test that was renamed, no test runs,
// and the mutant survives.
func TestMutantsNameTests(t *testing.T) {
	named := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, m := range all() {
		if m.test == "" {
			continue
		}
		var names []string
		for _, pkg := range m.pkgs() {
			files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, found := range named.FindAllSubmatch(text, -1) {
					names = append(names, string(found[1]))
				}
			}
		}
		for want := range strings.SplitSeq(m.test, "|") {
			top, _, _ := strings.Cut(want, "/")
			if !slices.ContainsFunc(names, regexp.MustCompile(top).MatchString) {
				t.Errorf("%s: %q: no test of %v matches %s", m.file, m.what, m.pkgs(), top)
			}
		}
	}
}

// A mutant that is no Go, or leaves a name undefined or a variable unused, is not
// made, and the reason names the line.
func TestMutantsCompile(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module m\n\ngo 1.26\n",
		"f.go":     "package m\n\nfunc f(a int) int {\n\tb := a\n\treturn b + g()\n}\n",
		"sub/g.go": "package sub\n\nfunc G() int { return 1 }\n",
		"g.go":     "package m\n\nimport \"m/sub\"\n\nfunc g() int { return sub.G() }\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, old, new, err string }{
		{"f.go", "b + g()", "b - g()", ""},
		{"f.go", "b + g()", "g()", "f.go:4:2: declared and not used: b"},
		{"f.go", "b + g()", "b + h()", "f.go:5:13: undefined: h"},
		{"f.go", "b + g()", "b + ", "f.go:6:1: expected operand"},
		{"g.go", "sub.G()", "1", `g.go:3:8: "m/sub" imported and not used`},
		{"sub/g.go", "return 1", "", "sub/g.go:3:17: missing return"},
	} {
		errs := unfit(root, []mutant{{file: c.file, what: "x", old: c.old, new: c.new}})
		if (len(errs) == 0) != (c.err == "") || len(errs) > 0 && !strings.Contains(errs[0].Error(), c.err) {
			t.Errorf("%q for %q: %v; want %q", c.new, c.old, errs, c.err)
		}
	}
}

// A mutant whose text is gone, or is there twice, is not made.
func TestApply(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f.go"), []byte("one two two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want, err string }{
		{"one", "three", "three two two\n", ""},
		{"four", "five", "", "is gone"},
		{"two", "three", "", "occurs 2 times"},
		{"one", "one", "", "changes nothing"},
	} {
		got, err := mutant{file: "f.go", what: "x", old: c.old, new: c.new}.apply(root)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q for %q: %q, %v; want %q, %q", c.new, c.old, got, err, c.want, c.err)
		}
	}
}

// No two mutants have the same description, by which -only chooses them.
func TestMutantsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range all() {
		if key := m.file + " " + m.what; seen[key] {
			t.Errorf("%s: %q is there twice", m.file, m.what)
		} else {
			seen[key] = true
		}
	}
}

// The first test that failed is found in the output, and how it failed.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ out, by, how string }{
		{"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.01s)\nFAIL\n", "TestB", ""},
		{"=== RUN   TestA\n    a_test.go:1: no\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL\n", "TestA/sub", ""},
		{"--- FAIL: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n        --- FAIL: TestA/two/three (0.00s)\n    --- FAIL: TestA/two (0.00s)\nFAIL\n", "TestA/two", ""},
		{"=== RUN   TestA\n=== RUN   TestA/sub\npanic: oh\n\ngoroutine 1 [running]:\n", "TestA", "panic"},
		{"=== RUN   TestA\npanic: test timed out after 40s\n\trunning tests:\n", "TestA", "hangs"},
		{"=== RUN   TestA\n--- FAIL: TestA (0.00s)\npanic: deadlock: all goroutines in bubble are blocked\n", "TestA", "deadlock"},
		{"=== RUN   TestA\nWARNING: DATA RACE\n--- FAIL: TestA (0.00s)\n", "TestA", "data race"},
	} {
		if got := judge(c.out); got.by != c.by || got.how != c.how {
			t.Errorf("judge(%q) = %q %q, want %q %q", c.out, got.by, got.how, c.by, c.how)
		}
	}
}
