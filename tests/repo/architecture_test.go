package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// This file is the floor plan of the house: what may import what, and what keeps
// the rooms in order. Its tables are meant to be changed, together with a
// decision in docs/design/decisions that says why.

const modulePath = "github.com/executor-go/executor"

// floor says which packages of the core each of them may import; "." is the
// root. Each arrow points to the right only, so that there is no way back.
var floor = map[string][]string{
	".":              {"queue", "internal/alarm", "internal/heap", "internal/ring", "internal/turnstile"},
	"queue":          {"internal/heap", "internal/ring", "internal/turnstile"},
	"cron":           {},
	"executortest":   {".", "queue"},
	"internal/alarm": {},
	"internal/heap":  {"internal/ring"},
	"internal/ring":  {},

	"internal/turnstile": {},

	"internal/pgserver": {}, // for tests of other modules

	"internal/testkit":       {"."}, // for tests only
	"internal/testkit/check": {},    // for tests only
}

// lent are the internal packages of the core that other modules import, with
// the reason.
var lent = map[string]string{
	"internal/pgserver": "nothing of the core: a database for the tests of three modules",

	"internal/testkit":       "helpers of tests; imported by module tests only",
	"internal/testkit/check": "helpers of tests; imported by module tests only",
}

// starts are the places in the core at which a goroutine may be started, by a go
// statement or an AfterFunc, with who owns it: tells it to stop and waits for it.
var starts = map[string]string{
	"pool.go enter":                          "the pool; a worker",
	"pool_worker.go start":                   "the pool; a worker",
	"pool_worker.go work":                    "the pool; goes on as a worker after a Goexit",
	"pool_worker.go armReaperLocked":         "the pool; dismisses idle workers, stopped by tidy",
	"reject.go discardOldest":                "the pool; a worker",
	"reject_block.go blockUntil":             "the pool; a worker",
	"pool_watch.go add":                      "the submitter's context; unhooked when no future waits that has it",
	"context.go within":                      "the pool's context; unhooked when the body has returned",
	"internal/alarm/waker_linux.go newWaker": "the waker; its run ends when the descriptor is closed",
	"internal/pgserver/pgserver.go Restart":  "the server; waits for its process, and is waited for by Kill",
}

// awake are the test files that may sleep in real time, with the reason.
var awake = map[string]string{
	"scheduled_alarm_test.go":   "waits for the kernel to be done with a descriptor",
	"scheduled_race_test.go":    "hunts for wake-ups that get lost in real time",
	"scheduled_million_test.go": "fills the queue while the clock runs",
}

// goFile is one parsed file of the workspace.
type goFile struct {
	name string // relative to the root, with slashes
	dir  string // the package's directory, "." for the root
	test bool
	ast  *ast.File
	text string
}

// module is the directory of the module that f is in, "." for the core.
func (f goFile) module(modules []string) string {
	home := "."
	for _, m := range modules {
		if m != "." && strings.HasPrefix(f.name, m+"/") {
			home = m
		}
	}
	return home
}

// imports gives the paths that f imports.
func (f goFile) imports() (all []string) {
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		all = append(all, p)
	}
	return all
}

// ours gives a path as a directory of this workspace.
func ours(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// workspace gives all Go files of the workspace, and the modules' directories.
func workspace(t *testing.T) (files []goFile, modules []string) {
	t.Helper()
	house, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return house.files, house.modules
}

// parsed parses the workspace, once.
var parsed = sync.OnceValues(func() (house struct {
	files   []goFile
	modules []string
}, err error) {
	set := token.NewFileSet()
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := len(d.Name()) > 1 && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && (hidden || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.Name() == "go.mod":
			house.modules = append(house.modules, filepath.ToSlash(filepath.Dir(name)))
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		house.files = append(house.files, goFile{slashed, path.Dir(slashed), strings.HasSuffix(name, "_test.go"), file, string(text)})
		return nil
	})
	return house, err
})

// Packages import each other along the arrows of the floor plan only.
func TestImportArrows(t *testing.T) {
	files, modules := workspace(t)
	used := make(map[string]bool)
	staleLent := maps.Clone(lent)
	for _, f := range files {
		home := f.module(modules)
		arrows, known := floor[f.dir]
		used[f.dir] = true
		if home == "." && !known {
			t.Errorf("%s: package %q is not on the floor plan; add it to floor in tests/repo/architecture_test.go, and write a decision", f.name, f.dir)
			continue
		}
		for _, p := range f.imports() {
			dir, own := ours(p)
			first, _, _ := strings.Cut(p, "/")
			switch {
			case !own && home == "." && strings.Contains(first, "."):
				t.Errorf("%s imports %s: the core uses the standard library only; move what needs it to a module of its own", f.name, p)
			case !own:
			case home != "." && dir != home && !strings.HasPrefix(dir, home+"/"):
				delete(staleLent, dir)
				if strings.HasPrefix(dir, "internal/") && lent[dir] == "" {
					t.Errorf("%s imports %s: other modules use the core by its public packages, as users do", f.name, p)
				}
			case f.test || home != ".": // tests may look around, as far as Go lets them
			case !slices.Contains(arrows, dir):
				t.Errorf("%s imports %s: there is no arrow from %q to %q; turn the dependency round, or add it to floor in tests/repo/architecture_test.go and write a decision", f.name, p, f.dir, dir)
			}
		}
	}
	for dir := range floor {
		if !used[dir] {
			t.Errorf("floor in tests/repo/architecture_test.go has the package %q, which is gone; remove it", dir)
		}
	}
	for dir := range staleLent {
		t.Errorf("lent in tests/repo/architecture_test.go has %s, which no other module imports; remove it", dir)
	}
}

// What is there for tests is imported by tests only. A package whose name ends
// in "test" is for tests, like httptest.
func TestTestSupportStaysInTests(t *testing.T) {
	files, _ := workspace(t)
	for _, f := range files {
		if f.test || forTests(f.dir) {
			continue
		}
		for _, p := range f.imports() {
			dir, own := ours(p)
			if p == "testing" || strings.HasPrefix(p, "testing/") || own && forTests(dir) {
				t.Errorf("%s imports %s: move what needs it to a _test.go file, or to a package whose name ends in test", f.name, p)
			}
		}
	}
}

func forTests(dir string) bool {
	return strings.HasSuffix(dir, "test") || strings.HasPrefix(dir, "tests/") || strings.HasPrefix(dir, "internal/testkit")
}

// The core requires no other module.
func TestNoRequirements(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		for _, word := range []string{"require", "replace", "tool", "toolchain"} {
			if strings.HasPrefix(line, word) {
				t.Errorf("go.mod: %sthe core has no dependency; move what needs it to a module of its own", line)
			}
		}
	}
}

// No file is too long to be read at one go.
func TestFileLength(t *testing.T) {
	files, _ := workspace(t)
	for _, f := range files {
		most := 500
		if f.test {
			most = 1000
		}
		if n := strings.Count(f.text, "\n"); n > most {
			t.Errorf("%s has %d lines, the most is %d; split it by idea, with a common prefix for its parts", f.name, n, most)
		}
	}
}

// Each package says what it is in one place, where it is looked for.
func TestPackageComments(t *testing.T) {
	files, _ := workspace(t)
	comments := make(map[string][]string)
	homes := make(map[string][]string)
	for _, f := range files {
		if f.test {
			continue
		}
		if f.dir == "." {
			homes[f.dir] = []string{"doc.go"}
		} else {
			homes[f.dir] = []string{"doc.go", path.Base(f.dir) + ".go", f.ast.Name.Name + ".go"}
		}
		comments[f.dir] = append(comments[f.dir], "")[:len(comments[f.dir])]
		if f.ast.Doc != nil {
			comments[f.dir] = append(comments[f.dir], path.Base(f.name))
		}
	}
	for dir, in := range comments {
		if len(in) != 1 || !slices.Contains(homes[dir], in[0]) {
			t.Errorf("package %q has its comment in %q; it must have one, in one of %q", dir, in, homes[dir])
		}
	}
}

// No package has a name that would fit anything.
func TestPackageNames(t *testing.T) {
	files, _ := workspace(t)
	empty := []string{"util", "utils", "common", "helper", "helpers", "types", "pkg", "misc", "base", "shared"}
	for _, f := range files {
		for _, name := range append(strings.Split(f.dir, "/"), f.ast.Name.Name) {
			if slices.Contains(empty, name) {
				t.Errorf("%s: %q says nothing of what is inside; name it for that", f.name, name)
			}
		}
	}
}

// Tests sleep in virtual time only.
func TestTestsDoNotSleep(t *testing.T) {
	files, modules := workspace(t)
	stale := maps.Clone(awake)
	for _, f := range files {
		if !f.test || f.module(modules) != "." {
			continue // other modules talk to processes and databases
		}
		if !calls(f.ast, "time", "Sleep") || slices.Contains(f.imports(), "testing/synctest") {
			continue
		}
		delete(stale, f.name)
		if awake[f.name] == "" {
			t.Errorf("%s sleeps in real time; wait for what it waits for, or run it in a bubble of testing/synctest", f.name)
		}
	}
	for name := range stale {
		t.Errorf("awake in tests/repo/architecture_test.go has %s, which does not sleep; remove it", name)
	}
}

// calls reports whether the file calls a function of the package, or of its own
// if that is "".
func calls(file *ast.File, pkg, name string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isCall(call, pkg, name) {
			found = true
		}
		return !found
	})
	return found
}

func isCall(call *ast.CallExpr, pkg, name string) bool {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return pkg == "" && fn.Name == name
	case *ast.SelectorExpr:
		x, ok := fn.X.(*ast.Ident)
		return ok && x.Name == pkg && fn.Sel.Name == name
	}
	return false
}

// Goroutines of the core are started in few places, and each has an owner.
func TestGoroutinesHaveOwners(t *testing.T) {
	files, modules := workspace(t)
	stale := maps.Clone(starts)
	for _, f := range files {
		// Those of executortest belong to a bubble, which waits for them.
		if f.test || f.module(modules) != "." || forTests(f.dir) {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			name := f.name
			if ok {
				name += " " + fn.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				_, statement := n.(*ast.GoStmt)
				call, ok := n.(*ast.CallExpr)
				if statement || ok && (isCall(call, "time", "AfterFunc") || isCall(call, "context", "AfterFunc")) {
					delete(stale, name)
					if starts[name] == "" {
						t.Errorf("%s starts a goroutine; have its owner start it, or add the place to starts in tests/repo/architecture_test.go, with who stops it and waits for it", name)
					}
				}
				return true
			})
		}
	}
	for name, owner := range stale {
		t.Errorf("starts in tests/repo/architecture_test.go has %q (%s), which starts nothing; remove it", name, owner)
	}
}

// No module requires the module tests, which is never published.
func TestTestsArePrivate(t *testing.T) {
	_, modules := workspace(t)
	for _, m := range modules {
		if m != "tests" && strings.Contains(read(t, path.Join(m, "go.mod")), modulePath+"/tests") {
			t.Errorf("%s/go.mod requires the module tests, which is never published", m)
		}
	}
}
