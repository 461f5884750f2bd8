package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

// goFile is one parsed file of the workspace.
type goFile struct {
	name string // relative to the root, with slashes
	dir  string // the package's directory, "." for the root
	test bool
	ast  *ast.File
	text string
}

// module returns the directory of the module that f is in, "." for the core.
func (f goFile) module(modules []string) string { return moduleOf(f.dir, modules) }

func moduleOf(dir string, modules []string) string {
	home := "."
	for _, m := range modules {
		if m != "." && (dir == m || strings.HasPrefix(dir, m+"/")) && len(m) > len(home) {
			home = m
		}
	}
	return home
}

// imports returns the paths that f imports.
func (f goFile) imports() (all []string) {
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		all = append(all, p)
	}
	return all
}

// ours returns a path as a directory of this workspace.
func ours(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// workspace returns all Go files of the workspace, and the modules' directories.
func workspace(t *testing.T) (files []goFile, modules []string) {
	t.Helper()
	w, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return w.files, w.modules
}

// parsed parses the workspace, once.
var parsed = sync.OnceValues(func() (w struct {
	fset    *token.FileSet
	files   []goFile
	modules []string
}, err error) {
	w.fset = token.NewFileSet()
	err = walk(func(name string) error {
		if path.Base(name) == "go.mod" {
			w.modules = append(w.modules, path.Dir(name))
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(w.fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		w.files = append(w.files, goFile{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), file, string(text)})
		return nil
	})
	return w, err
})

// walk calls visit for each file of the tree, but those in hidden directories and
// in testdata.
func walk(visit func(name string) error) error {
	return filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		return visit(filepath.ToSlash(name))
	})
}

// documents returns all Markdown files of the repository.
func documents(t *testing.T) (files []string) {
	t.Helper()
	err := walk(func(name string) error {
		if strings.HasSuffix(name, ".md") {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
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
