// Api writes what the public packages export to the directory api, a file for each
// package and a line for each declaration, so that each change of it is seen in
// review.
//
//	go run ./tests/api           write the files
//	go run ./tests/api -check    print what would change, and write nothing
//
// The exit code is 1 if -check finds a change.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/executor-go/executor/tests/internal/load"
)

func main() {
	check := flag.Bool("check", false, "print what would change, and write nothing")
	flag.Parse()
	files, err := listings(".")
	if err == nil && *check {
		err = compare("api", files)
	} else if err == nil {
		err = write("api", files)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "api: %v\n", err)
		os.Exit(1)
	}
}

// patterns choose the packages of the modules that are published. A command, an
// internal package and one of tests is not public.
var patterns = []string{"./...", "./durable/...", "./otel/...", "./durable/otel/...", "./durable/etcd/...", "./ui/..."}

// listings returns the text of each file, by its name, of the tree at root.
func listings(root string) (map[string]string, error) {
	program, err := load.List(root, patterns...)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)
	for dir, pkg := range program.Packages {
		if slices.Contains(strings.Split(dir, "/"), "internal") || pkg.Name == "main" {
			continue
		}
		lines, err := exported(program, pkg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pkg.ImportPath, err)
		}
		name := strings.ReplaceAll(dir, "/", "-")
		if dir == "." {
			name = pkg.Name
		}
		files[name+".txt"] = strings.Join(lines, "\n") + "\n"
	}
	return files, nil
}

// write makes dir have the files, and no other listing.
func write(dir string, files map[string]string) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	errs := []error{os.MkdirAll(dir, 0o777)}
	for _, name := range old {
		if _, ok := files[filepath.Base(name)]; !ok {
			errs = append(errs, os.Remove(name))
		}
	}
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return errors.Join(errs...)
}

// compare returns an error that has the lines by which dir differs from the files.
func compare(dir string, files map[string]string) error {
	names := slices.Collect(maps.Keys(files))
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		names = append(names, filepath.Base(name))
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range slices.Compact(names) {
		was, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, line := range difference(string(was), files[name]) {
			fmt.Fprintf(&b, "\n%s: %s", filepath.Join(dir, name), line)
		}
	}
	if b.Len() > 0 {
		return fmt.Errorf("what is exported has changed; if that is meant, run make api, and write it into CHANGELOG.md:%s", b.String())
	}
	return nil
}

// difference returns the lines that only one of the texts has, each with a sign
// before it, sorted by line. Both are sorted.
func difference(was, is string) (lines []string) {
	old, now := slices.Collect(strings.Lines(was)), slices.Collect(strings.Lines(is))
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0] < now[0]:
			lines = append(lines, "-"+strings.TrimSpace(old[0]))
			old = old[1:]
		case len(old) == 0 || now[0] < old[0]:
			lines = append(lines, "+"+strings.TrimSpace(now[0]))
			now = now[1:]
		default:
			old, now = old[1:], now[1:]
		}
	}
	return lines
}
