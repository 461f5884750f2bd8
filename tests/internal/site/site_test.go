package site

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
)

// A zip has the files of its module that git has or would add, those of no other
// module, and the license.
func TestZip(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod":                  "module github.com/executor-go/executor\n",
		"LICENSE":                 "free",
		".gitignore":              "/ignored.go\n",
		"a.go":                    "package executor\n",
		"ignored.go":              "package executor\n",
		"removed.go":              "package executor\n",
		"internal/a/testdata/b.c": "b",
		"durable/go.mod":          "module github.com/executor-go/executor/durable\nrequire github.com/executor-go/executor v0.2.0\n",
		"durable/d.go":            "package durable\n",
		"otel/go.mod":             "module github.com/executor-go/executor/otel\nrequire github.com/executor-go/executor v0.2.0\n",
		"otel/o.go":               "package execotel\n",
		"durable/otel/go.mod": "module github.com/executor-go/executor/durable/otel\n" +
			"require github.com/executor-go/executor v0.2.0\nrequire github.com/executor-go/executor/durable v0.10.0\n",
		"durable/otel/j.go": "package durableotel\n",
		"durable/etcd/go.mod": "module github.com/executor-go/executor/durable/etcd\n" +
			"require github.com/executor-go/executor v0.2.0\nrequire github.com/executor-go/executor/durable v0.10.0\n",
		"durable/etcd/e.go": "package etcd\n",
		"cmd/executord/go.mod": "module github.com/executor-go/executor/cmd/executord\n" +
			"require github.com/executor-go/executor v0.2.0\nrequire github.com/executor-go/executor/durable v0.10.0\n",
		"cmd/executord/main.go": "package main\n",
		"ui/go.mod": "module github.com/executor-go/executor/ui\nrequire github.com/executor-go/executor v0.2.0\n" +
			"require github.com/executor-go/executor/durable v0.10.0\n",
		"ui/u.go":      "package ui\n",
		"bench/go.mod": "module github.com/executor-go/executor/bench\n",
		"bench/b.go":   "package bench\n",
	})
	for _, args := range [][]string{{"init", "-q"}, {"add", "removed.go", "a.go"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(root, "removed.go")); err != nil {
		t.Fatal(err)
	}

	mods, err := Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"github.com/executor-go/executor@v0.2.0":                ".gitignore LICENSE a.go go.mod internal/a/testdata/b.c",
		"github.com/executor-go/executor/durable@v0.10.0":       "LICENSE d.go go.mod",
		"github.com/executor-go/executor/otel@v0.10.0":          "LICENSE go.mod o.go",
		"github.com/executor-go/executor/durable/otel@v0.10.0":  "LICENSE go.mod j.go",
		"github.com/executor-go/executor/durable/etcd@v0.10.0":  "LICENSE e.go go.mod",
		"github.com/executor-go/executor/ui@v0.10.0":            "LICENSE go.mod u.go",
		"github.com/executor-go/executor/cmd/executord@v0.10.0": "LICENSE go.mod main.go",
	}
	for _, m := range mods {
		data, err := m.Zip()
		if err != nil {
			t.Errorf("%s: %v", m.Path, err)
			continue
		}
		prefix := m.Path + "@" + m.Version.Version
		if got := strings.Join(names(t, data, prefix+"/"), " "); got != want[prefix] {
			t.Errorf("the zip of %s has %s, want %s", prefix, got, want[prefix])
		}
		delete(want, prefix)
	}
	for m := range want {
		t.Errorf("there is no %s", m)
	}
}

// Modules that require a third one by different versions are not published.
func TestVersionsAgree(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod":               "module github.com/executor-go/executor\n",
		"durable/go.mod":       "module github.com/executor-go/executor/durable\nrequire github.com/executor-go/executor v0.1.0\n",
		"otel/go.mod":          "module github.com/executor-go/executor/otel\nrequire github.com/executor-go/executor v0.1.0\n",
		"durable/otel/go.mod":  "module github.com/executor-go/executor/durable/otel\nrequire github.com/executor-go/executor v0.1.0\n",
		"durable/etcd/go.mod":  "module github.com/executor-go/executor/durable/etcd\nrequire github.com/executor-go/executor v0.1.0\n",
		"ui/go.mod":            "module github.com/executor-go/executor/ui\n",
		"cmd/executord/go.mod": "module github.com/executor-go/executor/cmd/executord\nrequire github.com/executor-go/executor v0.2.0\n",
	})
	if _, err := Modules(root); err == nil || !strings.Contains(err.Error(), "make both the same") {
		t.Errorf("Modules: %v", err)
	}
}

// names returns the sorted names of the files in a zip, without the prefix.
func names(t *testing.T, data []byte, prefix string) (all []string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			t.Errorf("%s does not begin with %s", f.Name, prefix)
		}
		if content, err := f.Open(); err != nil {
			t.Error(err)
		} else if _, err := io.Copy(io.Discard, content); err != nil {
			t.Error(err)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// A module that imports an internal package of another fails with the next version of that, and one that uses what the
// other exports does not.
func TestUpgradeFindsInternalImports(t *testing.T) {
	t.Setenv("GOFLAGS", "-modcacherw") // so that the temporary directory can be removed
	t.Setenv("GOPROXY", "off")
	const core = "github.com/executor-go/executor"
	for name, uses := range map[string]string{"exported": core, "internal": core + "/internal/a"} {
		root := t.TempDir()
		write(t, root, map[string]string{
			"LICENSE":         "free",
			"go.mod":          "module " + core + "\n\ngo 1.26.0\n",
			"e.go":            "package executor\n\nimport \"" + core + "/internal/a\"\n\nfunc F() { a.F() }\n",
			"internal/a/a.go": "package a\n\nfunc F() {}\n",
			"ui/go.mod":       "module " + core + "/ui\n\ngo 1.26.0\n\nrequire " + core + " v0.1.0\n",
			"ui/u.go":         "package ui\n\nimport x \"" + uses + "\"\n\nfunc init() { x.F() }\n",
		})
		if out, err := exec.Command("git", "-C", root, "init", "-q").CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
		s, err := newSite(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		mods := []Module{
			{module.Version{Path: core, Version: "v0.1.0"}, ".", root},
			{module.Version{Path: core + "/ui", Version: "v0.1.0"}, "ui", root},
		}
		for _, m := range mods {
			if err := s.Publish(m); err != nil {
				t.Fatal(err)
			}
		}
		s.Serve()
		for _, m := range mods {
			if err := s.Test(m, true); err != nil {
				t.Errorf("%s: %s with the same version of the other: %v", name, m.Path, err)
			}
		}
		err = s.Upgrade(mods)
		if failed := err != nil && strings.Contains(err.Error(), "ui v0.1.0 fails with the next version"); failed != (name == "internal") {
			t.Errorf("%s: Upgrade: %v", name, err)
		}
	}
}

// The hashes that go.sum has of the last release are not those of the zips of this tree, which have the same version.
func TestDropHashes(t *testing.T) {
	root := t.TempDir()
	const third = "github.com/executor-go/other v1.0.0 h1:c=\n"
	write(t, root, map[string]string{
		"go.sum": "github.com/executor-go/executor v0.1.0 h1:a=\n" + third + "github.com/executor-go/executor/ui v0.1.0/go.mod h1:b=\n",
	})
	name := filepath.Join(root, "go.sum")
	if err := dropHashes(name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != third {
		t.Errorf("go.sum is %q, error %v", got, err)
	}
}

// write writes files, by their names below root.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
