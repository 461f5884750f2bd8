package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"path"
	"slices"

	"github.com/executor-go/executor/tests/internal/load"
)

// compiler reports in a moment whether a mutant compiles. Its tests would show it
// too, but take long.
//
// It checks the function bodies of the broken file only, so it misses a mutant
// that breaks another file by removing a name which that file needs.
type compiler struct {
	*load.Program
	shells map[*load.Package][]*ast.File // their files, without the bodies of functions
}

// unfit returns the reasons why mutants cannot be made of the repository at
// root: a text that is gone, or one that does not compile.
func unfit(root string, ms []mutant) []error {
	var dirs []string
	for _, m := range ms {
		if dir := "./" + path.Dir(m.file); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	program, err := load.List(root, dirs...)
	if err != nil {
		return []error{err}
	}
	c := compiler{program, make(map[*load.Package][]*ast.File)}
	var errs []error
	for _, m := range ms {
		text, err := m.apply(root)
		if err == nil {
			if err = c.check(m, text); err != nil {
				err = fmt.Errorf("%s: %q does not compile: %w", m.file, m.what, err)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// check returns the reasons why a mutant with that text does not compile.
func (c compiler) check(m mutant, text string) error {
	pkg := c.Packages[path.Dir(m.file)]
	if pkg == nil || !slices.Contains(pkg.GoFiles, path.Base(m.file)) {
		return nil // not of this system, or no Go
	}
	shells, err := c.parse(pkg)
	if err != nil {
		return err
	}
	broken, err := parser.ParseFile(c.Fset, m.file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	files := slices.Clone(shells)
	files[slices.Index(pkg.GoFiles, path.Base(m.file))] = broken
	_, found := c.Check(pkg, files, nil)
	var errs []error
	for _, err := range found {
		var e types.Error
		if errors.As(err, &e) && c.Fset.File(e.Pos) == c.Fset.File(broken.FileStart) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// parse returns the files of a package without the bodies of their functions.
func (c compiler) parse(pkg *load.Package) ([]*ast.File, error) {
	if shells, ok := c.shells[pkg]; ok {
		return shells, nil
	}
	shells, err := c.Parse(pkg, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, f := range shells {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
	}
	c.shells[pkg] = shells
	return shells, nil
}
