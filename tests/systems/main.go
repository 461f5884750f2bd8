// Systems vets packages, and their tests, as other systems build them.
//
//	go run ./tests/systems windows/amd64,linux/386 PACKAGE...
//
// It finds what go vet does, and checks types from source.
// Go vet compiles for each system all that the packages import, which takes minutes.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: systems GOOS/GOARCH,... PACKAGE...")
		os.Exit(2)
	}
	for system := range strings.SplitSeq(os.Args[1], ",") {
		fmt.Printf("   %s\n", system)
		if err := check(".", system, os.Args[2:]...); err != nil {
			fmt.Fprintf(os.Stderr, "systems: %s:\n%v\n", system, err)
			os.Exit(1)
		}
	}
}

// check vets the packages that the directory knows by the patterns, and their tests, for a system GOOS/GOARCH.
func check(dir, system string, patterns ...string) error {
	goos, goarch, _ := strings.Cut(system, "/")
	pkgs, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		return err
	}
	var errs []error
	for pkg := range packages.Postorder(pkgs) {
		for _, err := range pkg.Errors {
			errs = append(errs, err)
		}
	}
	if len(pkgs) == 0 {
		errs = append(errs, fmt.Errorf("no packages match %q", patterns))
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	graph, err := checker.Analyze(vet.Suite, pkgs, nil)
	if err != nil {
		return err
	}
	for _, action := range graph.Roots {
		errs = append(errs, action.Err)
		for _, d := range action.Diagnostics {
			errs = append(errs, fmt.Errorf("%v: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return errors.Join(errs...)
}
