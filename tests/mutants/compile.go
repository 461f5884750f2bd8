package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
)

// compiler reports in a moment whether a mutant compiles. Its tests would show it
// too, but take long.
//
// It checks the function bodies of the broken file only, so it misses a mutant
// that breaks another file by removing a name which that file needs.
type compiler struct {
	fset     *token.FileSet
	importer types.Importer
	packages map[string]*source // by directory, from the root of the repository
}

// source is a package as it is listed.
type source struct {
	ImportPath string
	Dir        string
	Export     string // the file with its export data
	GoFiles    []string

	shells map[string]*ast.File // its files without the bodies of functions, by name, once they are needed
}

// newCompiler compiles the repository at root, for the export data that its
// packages import of each other.
func newCompiler(root string) (*compiler, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "work")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	c := &compiler{fset: token.NewFileSet(), packages: make(map[string]*source)}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var s source
		if err := d.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[s.ImportPath] = s.Export
		if dir, err := filepath.Rel(root, s.Dir); err == nil && filepath.IsLocal(dir) {
			c.packages[filepath.ToSlash(dir)] = &s
		}
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c, nil
}

// unfit returns the reasons why mutants cannot be made of the repository at
// root: a text that is gone, or one that does not compile.
func unfit(root string, ms []mutant) []error {
	c, err := newCompiler(root)
	if err != nil {
		return []error{err}
	}
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
func (c *compiler) check(m mutant, text string) error {
	name := path.Base(m.file)
	s := c.packages[path.Dir(m.file)]
	if s == nil || !slices.Contains(s.GoFiles, name) {
		return nil // not of this system, or no Go
	}
	if err := c.parse(s); err != nil {
		return err
	}
	broken, err := parser.ParseFile(c.fset, m.file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range s.GoFiles {
		files = append(files, s.shells[name])
	}
	files[slices.Index(s.GoFiles, name)] = broken
	var errs []error
	config := types.Config{Importer: c.importer, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && c.fset.File(e.Pos) == c.fset.File(broken.FileStart) {
			errs = append(errs, err)
		}
	}}
	config.Check(s.ImportPath, c.fset, files, nil) // Error has got what it returns
	return errors.Join(errs...)
}

// parse reads the files of a package, unless that has been done.
func (c *compiler) parse(s *source) error {
	if s.shells != nil {
		return nil
	}
	shells := make(map[string]*ast.File)
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
		shells[name] = f
	}
	s.shells = shells
	return nil
}
