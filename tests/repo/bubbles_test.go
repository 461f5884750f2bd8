package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"
)

// A test in a bubble that sleeps, and shares a variable with the functions that it starts, calls synctest.Wait:
// sleeping orders nothing, and reading the variable then is a data race that the detector reports in one of many runs.
func TestBubblesWaitBeforeTheyRead(t *testing.T) {
	files, _ := workspace(t)
	w, _ := parsed()
	for _, f := range files {
		if !f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isCall(call, "synctest", "Test") || len(call.Args) != 2 {
				return true
			}
			bubble, ok := call.Args[1].(*ast.FuncLit)
			if !ok || !directly(bubble, "time", "Sleep") || directly(bubble, "synctest", "Wait") {
				return true
			}
			for _, v := range sharedVariables(bubble.Body) {
				t.Errorf("%s: a function of the bubble and its body share %s; call synctest.Wait after the time.Sleep", w.fset.Position(v.Pos()), v.Name)
			}
			return true
		})
	}
}

// TestSharedVariables is the test of the judge.
func TestSharedVariables(t *testing.T) {
	for src, want := range map[string][]string{
		"n := 0; go func() { n++ }(); sleep(); print(n)":             {"n"},
		"n := 0; go func() { n = 1 }(); sleep(); print(n)":           {"n"},
		"var n []int; go func() { n[0] = 1 }(); sleep(); print(n)":   {"n"},
		"var n struct{ a int }; go func() { n.a++ }(); print(n.a)":   {"n"},
		"n := 0; go func() { print(n) }(); sleep(); n = 1":           {"n"},
		"n := 0; n = 1; go func() { print(n) }()":                    nil,
		"n := 0; go func() { print(n) }(); print(n)":                 nil,
		"n := 0; go func() { n := 1; n++; print(n) }(); print(n)":    nil,
		"n := 0; go func() { n++; print(n) }()":                      nil,
		"n := 0; go func(n int) { n++ }(n); print(n)":                nil,
		"n, m := 0, 0; go func() { n++; m++ }(); print(m); print(n)": {"n", "m"},
	} {
		var got []string
		for _, v := range sharedVariables(parseBody(t, src)) {
			got = append(got, v.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// directly reports whether the body of the function calls a function of the package, not counting functions in it.
func directly(fn *ast.FuncLit, pkg, name string) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isCall(call, pkg, name) {
			found = true
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return found
}

// sharedVariables returns the variables of the body that a function in it writes and the body reads afterwards, or the
// other way round, in the order of their declarations.
func sharedVariables(body *ast.BlockStmt) []*ast.Ident {
	type uses struct {
		name              *ast.Ident
		from              token.Pos // of the first function that uses it
		written, assigned bool      // by a function, by the body afterwards
		inner, outer      bool      // used by a function, by the body afterwards
	}
	all := map[token.Pos]*uses{}
	var visit func(n ast.Node, inside bool)
	use := func(id *ast.Ident, inside, write bool) {
		if id.Obj == nil || id.Obj.Kind != ast.Var || id.Obj.Pos() < body.Pos() || id.Obj.Pos() > body.End() {
			return
		}
		u := all[id.Obj.Pos()]
		switch {
		case u == nil:
			all[id.Obj.Pos()] = &uses{name: id} // its declaration comes first
		case inside:
			if u.from == 0 {
				u.from = id.Pos()
			}
			u.inner, u.written = true, u.written || write
		case u.from != 0:
			u.outer, u.assigned = true, u.assigned || write
		}
	}
	// target is the variable that an assignment to the expression changes.
	target := func(e ast.Expr) *ast.Ident {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.Ident:
				return x
			default:
				return nil
			}
		}
	}
	visit = func(n ast.Node, inside bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				if !inside {
					visit(n.Body, true)
					return false
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					if id := target(e); id != nil {
						use(id, inside, true)
					}
				}
			case *ast.IncDecStmt:
				if id := target(n.X); id != nil {
					use(id, inside, true)
				}
			case *ast.Ident:
				use(n, inside, false)
			}
			return true
		})
	}
	visit(body, false)
	var shared []*ast.Ident
	for _, pos := range slices.Sorted(maps.Keys(all)) {
		if u := all[pos]; u.outer && u.inner && (u.written || u.assigned) {
			shared = append(shared, u.name)
		}
	}
	return shared
}

// parseBody parses the statements of a function.
func parseBody(t *testing.T, src string) *ast.BlockStmt {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() {"+src+"}", 0)
	if err != nil {
		t.Fatal(err)
	}
	return file.Decls[0].(*ast.FuncDecl).Body
}
