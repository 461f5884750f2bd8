package ui_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An arrow is from a package to those that it imports.
type arrow struct {
	dir     string
	imports []string
}

// arrows are the packages of which the pages are made, and which others of the module each imports. Each imports those
// before it only.
var arrows = []arrow{
	{"page", nil},
	{"internal/address", []string{"page"}},
	{"internal/source", []string{"internal/address"}},
	{"internal/poolview", []string{"page"}},
	{"internal/figures", []string{"internal/poolview", "page"}},
	{"internal/act", []string{"internal/address", "internal/figures", "internal/poolview", "internal/source", "page"}},
	{"internal/pages", []string{
		"internal/act", "internal/address", "internal/figures", "internal/poolview", "internal/source", "page",
	}},
	{"debug", []string{"internal/poolview", "page"}},
	{".", []string{"internal/act", "internal/address", "internal/figures", "internal/pages", "internal/source", "page"}},
}

// The arrows between the parts of ui go one way, and there are no others.
func TestArrows(t *testing.T) {
	const module = "github.com/executor-go/executor/ui"
	for i, a := range arrows {
		for _, to := range a.imports {
			if !slices.ContainsFunc(arrows[:i], func(b arrow) bool { return b.dir == to }) {
				t.Errorf("%s may import %s, which does not come before it", a.dir, to)
			}
		}
		files, err := filepath.Glob(filepath.Join(a.dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", a.dir, len(files), err)
		}
		used := make(map[string]bool)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				to, ours := strings.CutPrefix(path, module)
				if !ours {
					continue
				}
				if to = strings.TrimPrefix(to, "/"); to == "" {
					to = "."
				}
				if used[to] = true; !slices.Contains(a.imports, to) {
					t.Errorf("%s imports %s", file, to)
				}
			}
		}
		for _, to := range a.imports {
			if !used[to] {
				t.Errorf("%s does not import %s any more: delete the arrow", a.dir, to)
			}
		}
	}
}
