package repo

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// orders are the packages whose files have an order, with the section of architecture.md that says it.
var orders = map[string]string{
	".":                     "The root, file by file",
	"durable/internal/node": "A node, file by file",
}

// The files of some packages can be read one after the other, in the order that architecture.md has: none uses what a
// later one declares.
func TestFilesReadOneWay(t *testing.T) {
	w, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(command(t, "go", "env", "GOROOT")) // a test with -trimpath does not know it
	imports := importer.ForCompiler(w.fset, "source", nil)
	for dir, title := range orders {
		_, section, found := strings.Cut(read(t, "docs/design/architecture.md"), "\n## "+title+"\n")
		if !found {
			t.Fatalf("architecture.md has no section %q", title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var order []string
		for _, m := range regexp.MustCompile("`([a-z_]+\\.go)`").FindAllStringSubmatch(section, -1) {
			order = append(order, m[1])
		}
		uses := usesOf(t, dir, imports)
		for _, file := range order {
			if uses[file] == nil {
				t.Errorf("architecture.md has %s, which is no file of %s", file, dir)
			}
		}
		for file, used := range uses {
			at := slices.Index(order, file)
			if at < 0 {
				t.Errorf("%s of %s is not in the order of architecture.md", file, dir)
			}
			for other, name := range used {
				if slices.Index(order, other) > at {
					t.Errorf("%s of %s uses %s of %s, which comes later; move it to where it belongs, or change the order", file, dir, name, other)
				}
			}
		}
	}
}

// usesOf returns the files of the package in dir, and for each the others that declare what it uses, with one name of
// that.
func usesOf(t *testing.T, dir string, imports types.Importer) map[string]map[string]string {
	w, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	uses := make(map[string]map[string]string)
	for _, f := range w.files {
		if name := path.Base(f.name); f.dir == dir && !f.test && name != "doc.go" {
			files = append(files, f.ast)
			uses[name] = make(map[string]string)
		}
	}
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: imports}
	pkg, err := config.Check(path.Join(modulePath, dir), w.fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	for id, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() {
			continue
		}
		from, to := path.Base(w.fset.Position(id.Pos()).Filename), path.Base(w.fset.Position(used.Pos()).Filename)
		if from != to {
			uses[from][to] = used.Name()
		}
	}
	return uses
}
