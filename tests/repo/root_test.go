package repo

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The files of the root package can be read one after the other, in the order that architecture.md has: none uses what
// a later one declares.
func TestRootReadsOneWay(t *testing.T) {
	_, section, found := strings.Cut(read(t, "docs/design/architecture.md"), "\n## The root, file by file\n")
	if !found {
		t.Fatal("architecture.md has no order of the root's files")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var order []string
	for _, m := range regexp.MustCompile("`([a-z_]+\\.go)`").FindAllStringSubmatch(section, -1) {
		order = append(order, m[1])
	}
	for file, used := range usesOfRoot(t) {
		at := slices.Index(order, file)
		if at < 0 {
			t.Errorf("%s is not in the order of architecture.md", file)
		}
		for other, name := range used {
			if slices.Index(order, other) > at {
				t.Errorf("%s uses %s of %s, which comes later; move it to where it belongs, or change the order", file, name, other)
			}
		}
	}
}

// usesOfRoot returns the files of the root package, and for each the others that declare what it uses, with one name of
// that.
func usesOfRoot(t *testing.T) map[string]map[string]string {
	w, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	uses := make(map[string]map[string]string)
	for _, f := range w.files {
		if f.dir == "." && !f.test && f.name != "doc.go" {
			files = append(files, f.ast)
			uses[f.name] = make(map[string]string)
		}
	}
	build.Default.GOROOT = strings.TrimSpace(command(t, "go", "env", "GOROOT")) // a test with -trimpath does not know it
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: importer.ForCompiler(w.fset, "source", nil)}
	pkg, err := config.Check(modulePath, w.fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	for id, used := range info.Uses {
		if used.Pkg() != pkg || !used.Pos().IsValid() {
			continue
		}
		from, to := w.fset.Position(id.Pos()).Filename, w.fset.Position(used.Pos()).Filename
		if from != to {
			uses[from][to] = used.Name()
		}
	}
	return uses
}
