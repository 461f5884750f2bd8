package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/executor-go/executor/tests/internal/site"
)

const daemonPath = site.CorePath + "/cmd/executord"

// common are the systems for which executord is built unless others are named.
const common = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,freebsd/amd64,windows/amd64"

// fromPublished builds the files of a release that is published, with the notes from the tree.
func fromPublished(ctx context.Context, tree, dir, version string, systems []string) error {
	notes, err := notesOf(tree, version, true)
	if err != nil {
		return err
	}
	cache, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	env := append(os.Environ(), "GOWORK=off", "GOMODCACHE="+strings.TrimSpace(string(cache)))
	if err := files(ctx, env, tree, dir, version, systems); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "notes.md"), []byte(notes), 0o644)
}

// files builds executord as it is published into a directory: for each system a program, made
// without cgo and without the paths of this machine, so that two builds of a version by one
// version of Go are equal. Beside them are a bill of materials for each in the form of CycloneDX,
// NOTICES, which has the licenses of all that is in the programs, the image, of which the tree
// has what is beside the program, and SHA256SUMS.
func files(ctx context.Context, env []string, tree, dir, version string, systems []string) error {
	gopath, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(gopath)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	write := func(name string, data []byte, mode os.FileMode) (sum string, err error) {
		sum = fmt.Sprintf("%x", sha256.Sum256(data))
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		return sum, os.WriteFile(filepath.Join(dir, name), data, mode)
	}
	modules := make(map[string]*debug.Module) // by path
	for _, system := range systems {
		name, data, err := program(ctx, env, gopath, version, system)
		if err != nil {
			return err
		}
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, m := range append(info.Deps, &info.Main) {
			modules[m.Path] = m
		}
		sum, err := write(name, data, 0o755)
		if err != nil {
			return err
		}
		if _, err := write(name+".cdx.json", bill(info, name, sum), 0o644); err != nil {
			return err
		}
	}
	text, err := notices(ctx, env, gopath, modules)
	if err != nil {
		return err
	}
	if _, err := write("NOTICES", text, 0o644); err != nil {
		return err
	}
	if slices.ContainsFunc(systems, func(s string) bool { return strings.HasPrefix(s, "linux/") }) {
		data, err := image(tree, dir, version, systems)
		if err != nil {
			return err
		}
		if _, err := write(imageName, data, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// program returns executord for one system, as go install makes it, and its name.
func program(ctx context.Context, env []string, gopath, version, system string) (name string, data []byte, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return "", nil, fmt.Errorf("%q is not a system: write it as linux/amd64", system)
	}
	cmd := exec.CommandContext(ctx, "go", "install", "-trimpath", "-ldflags=-s -w -buildid=", daemonPath+"@"+version)
	cmd.Dir = gopath
	cmd.Env = append(slices.Clone(env), "CGO_ENABLED=0", "GOFLAGS=", "GOPATH="+gopath, "GOOS="+goos, "GOARCH="+goarch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%s: %w\n%s", system, err, out)
	}
	bin := filepath.Join(gopath, "bin")
	if goos != runtime.GOOS || goarch != runtime.GOARCH {
		bin = filepath.Join(bin, goos+"_"+goarch)
	}
	suffix := ""
	if goos == "windows" {
		suffix = ".exe"
	}
	data, err = os.ReadFile(filepath.Join(bin, "executord"+suffix))
	return "executord-" + goos + "-" + goarch + suffix, data, err
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
func notices(ctx context.Context, env []string, dir string, modules map[string]*debug.Module) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("executord has parts of the following works.\n")
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if err := addLicenses(&b, "Go", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		args = append(args, path+"@"+modules[path].Version)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return b.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		if err := addLicenses(&b, m.Path, m.Dir); err != nil {
			return nil, err
		}
	}
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
