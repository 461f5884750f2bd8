// Packages makes in dist what executord is installed from:
//
//	go run ./tests/packages man FILE                             the page for man(1), from docs/executord.md
//	go run ./tests/packages [-version v0.1.0] linux/amd64 ...    a .deb and a .rpm for each
//
// The programs are those in dist, which make dist has built of a published version, or with -build are built from the
// tree.
//
// What is in the packages is in packaging/nfpm.yaml. They are made by nfpm, which is built at a fixed version when it
// is needed first, and is no dependency of any module here. Two builds of one program are equal: the times of files are
// that of the commit, or of SOURCE_DATE_EPOCH.
package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nfpm makes the packages. Versions from 2.46 on need modules that not all proxies have.
const nfpm, nfpmVersion = "github.com/goreleaser/nfpm/v2/cmd/nfpm", "v2.45.2"

// formats are those of the packages, which are the endings of their names, too.
var formats = []string{"deb", "rpm"}

func main() {
	version := flag.String("version", "v0.0.0-dev", "the version of the packages")
	fromTree := flag.Bool("build", false, "build the programs from the tree")
	flag.Parse()
	if err := execute(".", "dist", *version, *fromTree, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// execute makes what the arguments ask for: the page for man, or packages of the programs in a directory, which with
// fromTree are built before.
func execute(tree, dir, version string, fromTree bool, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "man":
		return writeMan(tree, args[1], version)
	case len(args) == 0 || args[0] == "man":
		return errors.New("nothing to make: want man with the name of a file, or systems such as linux/amd64")
	}
	if fromTree {
		if err := buildPrograms(tree, dir, args); err != nil {
			return err
		}
	}
	_, err := build(tree, dir, version, args)
	return err
}

func writeMan(tree, name, version string) error {
	manual, err := os.ReadFile(filepath.Join(tree, "docs", "executord.md"))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(manPage(string(manual), version)), 0o644)
}

// build makes the packages of the programs in a directory, and returns their names.
func build(tree, dir, version string, systems []string) (names []string, err error) {
	for _, system := range systems {
		if !strings.HasPrefix(system, "linux/") {
			return nil, fmt.Errorf("%s: there are packages for linux only, as linux/amd64", system)
		}
		if _, err := os.Stat(filepath.Join(dir, program(system))); err != nil {
			return nil, fmt.Errorf("%w; build it by make dist, or with -build", err)
		}
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	made, err := commitTime(tree)
	if err != nil {
		return nil, err
	}
	stage, err := os.MkdirTemp("", "packages")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(stage)
	tool, err := nfpmTool()
	if err != nil {
		return nil, err
	}
	if err := stageShared(tree, dir, stage, version); err != nil {
		return nil, err
	}
	for _, system := range systems {
		arch := strings.TrimPrefix(system, "linux/")
		if err := copyFile(filepath.Join(dir, program(system)), filepath.Join(stage, "executord")); err != nil {
			return nil, err
		}
		if err := setTimes(stage, made); err != nil {
			return nil, err
		}
		for _, format := range formats {
			name := fmt.Sprintf("executord_%s_%s.%s", strings.TrimPrefix(version, "v"), arch, format)
			cmd := exec.Command(tool, "package", "--config", "packaging/nfpm.yaml", "--packager", format,
				"--target", filepath.Join(dir, name))
			cmd.Dir = tree
			cmd.Env = append(os.Environ(), "ARCH="+arch, "VERSION="+version, "STAGE="+stage,
				"SOURCE_DATE_EPOCH="+strconv.FormatInt(made.Unix(), 10))
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", name, err, out)
			}
			names = append(names, name)
		}
	}
	return names, addSums(dir, names)
}

// nfpmTool returns the path of nfpm, which it builds once for all trees, as scripts/lint does with its tools.
func nfpmTool() (string, error) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(strings.TrimSpace(string(cache)), "executor-ci", "nfpm-"+nfpmVersion)
	tool := filepath.Join(dir, "nfpm")
	if _, err := os.Stat(tool); err == nil {
		return tool, nil
	}
	cmd := exec.Command("go", "install", nfpm+"@"+nfpmVersion)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("nfpm %s cannot be built: %w\n%s", nfpmVersion, err, out)
	}
	return tool, nil
}

// buildPrograms builds executord from the tree, static and without paths of this machine.
func buildPrograms(tree, dir string, systems []string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, system := range systems {
		names = append(names, program(system))
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", filepath.Join(dir, program(system)), "./cmd/executord")
		cmd.Dir = tree
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+goos, "GOARCH="+goarch)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", system, err, out)
		}
	}
	return addSums(dir, names)
}

// program returns what a release calls the program for a system.
func program(system string) string { return "executord-" + strings.ReplaceAll(system, "/", "-") }

// commitTime returns the time of files in the packages.
func commitTime(tree string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		cmd := exec.Command("git", "log", "-1", "--format=%ct")
		cmd.Dir = tree
		out, err := cmd.Output()
		if err != nil {
			return time.Time{}, errors.New("this is no working tree of git: set SOURCE_DATE_EPOCH to the seconds since 1970 that files are dated by")
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), err
}

// stageShared makes the files that packages of all systems have.
func stageShared(tree, dir, stage, version string) error {
	page := filepath.Join(stage, "executord.1")
	if err := writeMan(tree, page, version); err != nil {
		return err
	}
	changes := filepath.Join(stage, "changelog")
	if err := errors.Join(copyFile(filepath.Join(tree, "CHANGELOG.md"), changes), compress(page), compress(changes)); err != nil {
		return err
	}
	runs := filepath.Join(dir, program(runtime.GOOS+"/"+runtime.GOARCH))
	if _, err := os.Stat(runs); err != nil {
		runs = filepath.Join(stage, "executord")
		cmd := exec.Command("go", "build", "-o", runs, "./cmd/executord")
		cmd.Dir = tree
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := exec.Command(runs, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("executord completion %s: %w", shell, err)
		}
		if err := os.WriteFile(filepath.Join(stage, "completion."+shell), out, 0o644); err != nil {
			return err
		}
	}
	license, err := os.ReadFile(filepath.Join(tree, "LICENSE"))
	if err != nil {
		return err
	}
	notices, err := os.ReadFile(filepath.Join(dir, "NOTICES"))
	if errors.Is(err, fs.ErrNotExist) {
		notices, err = []byte("executord has parts of other works: go version -m /usr/bin/executord lists them.\n"), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(stage, "copyright"), slices.Concat(license, []byte("\n"), notices), 0o644)
}

// compress replaces a file by one that is compressed, without its name and time.
func compress(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := os.Create(name + ".gz")
	if err != nil {
		return err
	}
	defer out.Close()
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	return errors.Join(z.Close(), os.Remove(name))
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

func setTimes(dir string, at time.Time) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.Chtimes(filepath.Join(dir, e.Name()), at, at))
	}
	return err
}
