package repo

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// starts are the functions of the core that start a goroutine, by a go statement
// or an AfterFunc, with its owner, which stops it and waits for it.
var starts = map[string]string{
	"engine.start":           "the engine; a worker",
	"engine.work":            "the engine; goes on as a worker after a Goexit",
	"engine.setReaperLocked": "the engine; dismisses idle workers, stopped by Tidy",
	"executor.init":          "the group, or loop over Map; ends what waits when the context ends, stopped by Wait, or the end of the loop",
	"ctxgroup.Add":           "the tasks that wait; ends when their contexts are watched",
	"ctxgroup.addFirst":      "the submitter's context; stopped when no future waits that has it",
	"task.WithCancel":        "the pool's context; stopped when the body has returned",
	"alarm.New":              "the alarm; its timer, stopped by Close",
	"alarm.newWaker":         "the waker; its run ends when the descriptor is closed",
}

// awake are the test files of the core that sleep in real time, with the reason.
var awake = map[string]string{}

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
			name := f.ast.Name.Name
			if fn, ok := decl.(*ast.FuncDecl); ok {
				name += "." + fn.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				_, statement := n.(*ast.GoStmt)
				call, ok := n.(*ast.CallExpr)
				if statement || ok && (isCall(call, "time", "AfterFunc") || isCall(call, "context", "AfterFunc")) {
					delete(stale, name)
					if starts[name] == "" {
						t.Errorf("%s: %s starts a goroutine; have its owner start it, or add the function to starts in tests/repo/owners_test.go, with what stops it and waits for it", f.name, name)
					}
				}
				return true
			})
		}
	}
	for name, owner := range stale {
		t.Errorf("starts in tests/repo/owners_test.go has %q (%s), which starts nothing; remove it", name, owner)
	}
}

// Tests of the core sleep in virtual time only.
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
			t.Errorf("%s sleeps in real time; wait for what it waits for, or run it in a bubble of testing/synctest, or move it to tests/realtime", f.name)
		}
	}
	for name := range stale {
		t.Errorf("awake in tests/repo/owners_test.go has %s, which does not sleep; remove it", name)
	}
}

// calls reports whether the file calls a function of the package.
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
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := fn.X.(*ast.Ident)
	return ok && x.Name == pkg && fn.Sel.Name == name
}
