// Dist builds executord for release into the directory dist:
//
//	go run ./tests/dist                          for the most common systems
//	go run ./tests/dist linux/amd64 darwin/arm64 for these
//
// There is a program for each system, made without cgo and without the paths of this
// machine, so that two builds of one commit by one version of Go are equal. Beside them
// are SHA256SUMS, NOTICES, which has the licenses of all that is in the programs, and a
// bill of materials for each in the form of CycloneDX.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// common are the systems for which executord is built unless others are named.
var common = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "freebsd/amd64"}

func main() {
	systems := os.Args[1:]
	if len(systems) == 0 {
		systems = common
	}
	if err := build(".", "dist", systems); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// build builds executord of the tree into a directory.
func build(tree, dir string, systems []string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	modules := make(map[string]string) // to their version
	var sums strings.Builder
	for _, system := range systems {
		name, err := buildFor(tree, dir, system)
		if err != nil {
			return err
		}
		program := filepath.Join(dir, name)
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			modules[m.Path] = m.Version
		}
		data, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		if err := os.WriteFile(program+".cdx.json", bill(info, name, sum), 0o644); err != nil {
			return err
		}
	}
	notices, err := notices(tree, slices.Sorted(maps.Keys(modules)))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "NOTICES"), notices, 0o644),
		os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644))
}

// buildFor builds the program for one system, and returns its name.
func buildFor(tree, dir, system string) (name string, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return "", fmt.Errorf("%q is no system: write it as linux/amd64", system)
	}
	name = "executord-" + goos + "-" + goarch
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-o", filepath.Join(dir, name), "./cmd/executord")
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", system, err, out)
	}
	return name, nil
}

// component is a part of a bill of materials.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

// bill returns the bill of materials of a program: the modules that are in it, and the version of Go.
func bill(info *buildinfo.BuildInfo, name, sum string) []byte {
	parts := []component{{Type: "platform", Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		parts = append(parts, component{Type: "library", Name: m.Path, Version: m.Version, PURL: purl(m)})
	}
	program := component{Type: "application", Name: name, Version: info.Main.Version, PURL: purl(&info.Main),
		Hashes: []hash{{"SHA-256", sum}}}
	out, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": program},
		"components": parts,
	}, "", "  ")
	if err != nil {
		panic(err) // of texts
	}
	return append(out, '\n')
}

func purl(m *debug.Module) string { return "pkg:golang/" + m.Path + "@" + m.Version }

// notices returns the licenses of Go and of the modules, each once.
func notices(tree string, modules []string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("executord has parts of the following works.\n")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if err := addLicenses(&b, "Go", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, path := range modules {
		cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path)
		cmd.Dir = tree
		dir, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		root := strings.TrimSpace(string(dir))
		if found, _ := licenses(root); len(found) == 0 && strings.HasPrefix(path, "github.com/executor-go/executor") {
			root = tree // a module in the tree has the license of that
		}
		if err := addLicenses(&b, path, root); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// licenses returns the files of a directory that have the terms of a work.
func licenses(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		for _, prefix := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE"} {
			if strings.HasPrefix(upper, prefix) && e.Type().IsRegular() {
				names = append(names, e.Name())
			}
		}
	}
	return names, err
}

// addLicenses writes the terms of a work. A work without any is an error: it could not be given away.
func addLicenses(b *bytes.Buffer, work, dir string) error {
	names, err := licenses(dir)
	if err == nil && len(names) == 0 {
		err = errors.New("it has no license")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", work, err)
	}
	fmt.Fprintf(b, "\n%s\n%s\n", work, strings.Repeat("=", len(work)))
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n%s:\n\n%s\n", name, bytes.TrimSpace(text))
	}
	return nil
}
