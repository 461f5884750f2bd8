// Package load lists packages of the workspace and checks their types.
package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Program holds packages, and the export data of all that they import.
type Program struct {
	Fset     *token.FileSet
	Packages map[string]*Package // by directory relative to the root, with slashes

	importer types.Importer
}

// Package is one package as go list has it, without its tests.
type Package struct {
	Name       string
	ImportPath string
	Dir        string
	Export     string // the file with its export data
	GoFiles    []string
}

// List lists the packages of the patterns, and those of the same tree that they
// import. It compiles them all. root is the directory of the tree.
func List(root string, patterns ...string) (*Program, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=Name,ImportPath,Dir,Export,GoFiles"}, patterns...)...)
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
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	p := &Program{Fset: token.NewFileSet(), Packages: make(map[string]*Package)}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg Package
		if err := d.Decode(&pkg); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[pkg.ImportPath] = pkg.Export
		if dir, err := filepath.Rel(root, pkg.Dir); err == nil && filepath.IsLocal(dir) {
			p.Packages[filepath.ToSlash(dir)] = &pkg
		}
	}
	p.importer = importer.ForCompiler(p.Fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return p, nil
}

// Parse parses the files of a package.
func (p *Program) Parse(pkg *Package, mode parser.Mode) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(p.Fset, filepath.Join(pkg.Dir, name), nil, mode)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Check checks the types of a package with the files given. It fills info, which
// may be nil, and returns all errors.
func (p *Program) Check(pkg *Package, files []*ast.File, info *types.Info) (*types.Package, []error) {
	var errs []error
	config := types.Config{Importer: p.importer, Error: func(err error) { errs = append(errs, err) }}
	checked, err := config.Check(pkg.ImportPath, p.Fset, files, info)
	if err != nil && len(errs) == 0 {
		errs = append(errs, err)
	}
	return checked, errs
}
