package repo

import (
	"go/ast"
	"go/parser"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/tests/internal/load"
)

// mostInKnot is how many files of the root may refer to each other in a circle,
// so that none of them can be read without the others.
const mostInKnot = 15

// The files of the root can be read in some order, but for a few.
func TestRootIsNoKnot(t *testing.T) {
	refers := references(t, ".")
	knot := largestKnot(refers)
	t.Logf("%d of %d files of the root are in the largest knot: %s", len(knot), len(refers), strings.Join(knot, " "))
	if len(knot) > mostInKnot {
		t.Errorf("the largest knot of the root has %d files, the most is %d; move what needs nothing of the others to a package, or turn references round", len(knot), mostInKnot)
	}
}

// The largest knot of a graph is found.
func TestLargestKnot(t *testing.T) {
	for _, c := range []struct{ graph, want string }{
		{"a>b b>c", "a"},
		{"a>b b>a c>a", "a b"},
		{"a>b b>a c>d d>e e>c b>c", "c d e"},
		{"a>b b>c c>d d>b", "b c d"},
		{"a>a", "a"},
	} {
		refers := make(map[string][]string)
		for edge := range strings.FieldsSeq(c.graph) {
			from, to, _ := strings.Cut(edge, ">")
			refers[from] = append(refers[from], to)
			refers[to] = append(refers[to], to)
		}
		if got := strings.Join(largestKnot(refers), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.graph, got, c.want)
		}
	}
}

// references returns for each file of the package in dir those whose declarations
// it uses, methods and fields included.
func references(t *testing.T, dir string) map[string][]string {
	t.Helper()
	program, err := load.List(".", "./"+dir)
	if err != nil {
		t.Fatal(err)
	}
	pkg := program.Packages[dir]
	files, err := program.Parse(pkg, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	checked, errs := program.Check(pkg, files, info)
	for _, err := range errs {
		t.Fatal(err)
	}
	refers := make(map[string][]string)
	for _, name := range pkg.GoFiles {
		refers[name] = nil
	}
	for id, object := range info.Uses {
		if object.Pkg() != checked || !object.Pos().IsValid() {
			continue
		}
		from := filepath.Base(program.Fset.Position(id.Pos()).Filename)
		to := filepath.Base(program.Fset.Position(object.Pos()).Filename)
		if from != to && !slices.Contains(refers[from], to) {
			refers[from] = append(refers[from], to)
		}
	}
	return refers
}

// largestKnot returns the largest set of nodes that reach each other, sorted; the
// first of several.
func largestKnot(refers map[string][]string) []string {
	reach := make(map[string]map[string]bool)
	for from := range refers {
		seen := map[string]bool{from: true}
		for todo := []string{from}; len(todo) > 0; {
			n := todo[0]
			todo = todo[1:]
			for _, to := range refers[n] {
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[from] = seen
	}
	var largest []string
	for a := range refers {
		var knot []string
		for b := range reach[a] {
			if reach[b][a] {
				knot = append(knot, b)
			}
		}
		slices.Sort(knot)
		if len(knot) > len(largest) || len(knot) == len(largest) && slices.Compare(knot, largest) < 0 {
			largest = knot
		}
	}
	return largest
}
