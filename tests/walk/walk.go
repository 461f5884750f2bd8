// Command walk counts what a warm call of the library does: how many functions it runs, how often it calls one, how
// many locks it takes, and how many objects it allocates. It prints a table.
//
//	go run ./tests/walk             all paths
//	go run ./tests/walk submit      one
//
// It reports, and holds nothing: a number here is a hint where to look, and no goal. What a program does once,
// scripts/walks counts.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	module = "github.com/executor-go/executor"
	times  = 2000
)

// paths are those of package paths, in the order of the table.
var paths = []string{
	"go", "submit", "group8", "map8", "share", "keyed", "retry", "schedule and cancel", "periodic run",
}

func main() {
	if len(os.Args) > 1 {
		paths = os.Args[1:]
	}
	if err := report(os.Stdout, paths, len(os.Args) > 1); err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

// report prints the table. With details it prints the calls of each function too.
func report(w io.Writer, paths []string, details bool) error {
	dir, err := os.MkdirTemp("", "walk")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "paths")
	build := []string{"build", "-cover", "-covermode=atomic", "-coverpkg=" + module + "," + module + "/internal/...,./tests/walk/paths",
		"-o", program, "./tests/walk/paths"}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(build, " "), err, out)
	}
	fmt.Fprintln(w, "| a warm walk of | functions | calls | engine locks | task locks | allocations |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|")
	for _, path := range paths {
		counts, allocations, err := walk(program, path, filepath.Join(dir, strings.ReplaceAll(path, " ", "-")))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		t := sum(counts)
		fmt.Fprintf(w, "| %s | %d | %.0f | %.1f | %.1f | %.1f |\n", path, t.functions, t.calls, t.engineLocks, t.taskLocks,
			allocations)
		if details {
			for _, f := range sorted(counts) {
				fmt.Fprintf(w, "%9.2f  %s\n", counts[f], f)
			}
		}
	}
	return nil
}

// walk runs the program, and returns how often a walk calls each function, and how many objects it allocates.
func walk(program, path, dir string) (counts map[string]float64, allocations float64, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(program, path, strconv.Itoa(times), dir)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+filepath.Dir(dir)) // what it writes when it ends
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, err
	}
	if allocations, err = strconv.ParseFloat(string(bytes.TrimSpace(out)), 64); err != nil {
		return nil, 0, err
	}
	text := filepath.Join(dir, "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+text).CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("go tool covdata: %w\n%s", err, out)
	}
	profile, err := os.Open(text)
	if err != nil {
		return nil, 0, err
	}
	defer profile.Close()
	counts, err = calls(profile)
	return counts, allocations, err
}

// calls reads a profile: the count of the first block of a function is how often it was called. One that was called in
// less than a tenth of the walks is not on the path.
func calls(profile io.Reader) (map[string]float64, error) {
	counts := make(map[string]float64)
	functions := make(map[string]map[int]string) // by file and the line and column where the body begins
	lines := bufio.NewScanner(profile)
	for lines.Scan() {
		var line, column, n, statements int
		place, rest, ok := strings.Cut(lines.Text(), ":")
		if !ok || place == "mode" {
			continue
		}
		if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ",", " "), "%d.%d", &line, &column); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		fields := strings.Fields(rest)
		if _, err := fmt.Sscanf(strings.Join(fields[1:], " "), "%d %d", &statements, &n); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		if functions[place] == nil {
			var err error
			if functions[place], err = bodies(strings.TrimPrefix(place, module+"/")); err != nil {
				return nil, err
			}
		}
		if name := functions[place][line<<12|column]; name != "" && n > times/10 {
			counts[name] += float64(n) / times
		}
	}
	return counts, lines.Err()
}

// bodies returns the functions of a file, by the place where the first block of each begins.
func bodies(file string) (map[int]string, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	named := make(map[int]string)
	name := ""
	for _, decl := range tree.Decls {
		name = ""
		ast.Inspect(decl, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch f := n.(type) {
			case *ast.FuncDecl:
				body, name = f.Body, tree.Name.Name+"."+receiver(f)+f.Name.Name
			case *ast.FuncLit:
				body = f.Body
			}
			if body != nil {
				at := set.Position(body.Lbrace)
				called := name
				if n != decl {
					called = fmt.Sprintf("%s: function at line %d", cmp.Or(name, tree.Name.Name), at.Line)
				}
				named[at.Line<<12|at.Column] = called
			}
			return true
		})
	}
	return named, nil
}

// receiver returns the type of a method, and a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name + "."
		default:
			return ""
		}
	}
}

type total struct {
	functions                     int
	calls, engineLocks, taskLocks float64
}

func sum(counts map[string]float64) (t total) {
	for f, n := range counts {
		t.functions++
		t.calls += n
		switch f {
		case "spinlock.Mutex.Lock":
			t.engineLocks += n
		case "task.word.lock":
			t.taskLocks += n
		}
	}
	return t
}

func sorted(counts map[string]float64) []string {
	names := make([]string, 0, len(counts))
	for f := range counts {
		names = append(names, f)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return names
}
