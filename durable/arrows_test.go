package durable_test

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

// arrows are the packages of which durable is made, and which others of the module each imports. Each imports those
// before it only.
var arrows = []arrow{
	{"internal/argument", nil},
	{"internal/text", nil},
	{"internal/output", nil},
	{"internal/storeclock", nil},
	{"store", []string{"internal/argument"}},
	{"internal/timetable", []string{"internal/argument", "store"}},
	{"store/transition", []string{"store"}},
	{"internal/node", []string{"internal/argument", "internal/output", "internal/storeclock", "internal/text", "internal/timetable", "store"}},
	{"transfer", []string{"internal/argument", "store"}},
	{".", []string{"internal/argument", "internal/node", "internal/output", "internal/text", "internal/timetable", "store"}},
}

// The arrows between the parts of durable go one way, and there are no others.
func TestArrows(t *testing.T) {
	const module = "github.com/executor-go/executor/durable"
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
