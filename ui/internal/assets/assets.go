// Assets bundles what is in src and npm, by esbuild, to the files that the pages of package ui load.
//
//	go run ./ui/internal/assets          write the files
//	go run ./ui/internal/assets -diff    report which files would change, and write nothing
//
// It is run in the root of the repository. The exit code is 1 if -diff finds a change.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	diff := flag.Bool("diff", false, "report which files would change, and write nothing")
	flag.Parse()
	if err := run(filepath.FromSlash("ui"), *diff); err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

// run makes the files of the module in dir, or compares them with those that are there.
func run(dir string, diff bool) error {
	files, err := bundle(filepath.Join(dir, "internal", "assets", "src"))
	if err != nil {
		return err
	}
	var errs []error
	for name, data := range files {
		target := filepath.Join(dir, "internal", "pages", "static", name)
		if !diff {
			errs = append(errs, os.WriteFile(target, data, 0o666))
			continue
		}
		if old, err := os.ReadFile(target); err != nil {
			errs = append(errs, err)
		} else if !bytes.Equal(old, data) {
			errs = append(errs, fmt.Errorf("%s is not what its sources make; run go run ./ui/internal/assets", target))
		}
	}
	return errors.Join(errs...)
}

// bundle returns the files by their names.
func bundle(src string) (map[string][]byte, error) {
	dir, err := filepath.Abs(src)
	if err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{"app.js", "app.css"}, Outdir: "out", Bundle: true,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Format: api.FormatIIFE, Target: api.ES2022, LegalComments: api.LegalCommentsNone,
		Banner: map[string]string{"js": notice, "css": notice},
	})
	var errs []error
	for _, e := range r.Errors {
		at := ""
		if e.Location != nil {
			at = fmt.Sprintf("%s:%d: ", e.Location.File, e.Location.Line)
		}
		errs = append(errs, errors.New(at+e.Text))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	files := make(map[string][]byte)
	for _, f := range r.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	return files, nil
}

// notice is at the begin of each file.
const notice = "/* Made by go run ./ui/internal/assets; with uPlot 1.6.32 (MIT) and idiomorph 0.8.0 (0BSD), see NOTICES. */"
