package main

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

	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

// It is known of each module of the workspace whether it gets a tag.
func TestModulesAreListed(t *testing.T) {
	if err := unlisted("."); err != nil {
		t.Error(err)
	}
}

// A zip has the files of its module that git has or would add, those of no other
// module, and the license.
func TestZip(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
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
		"cmd/executord/go.mod": "module github.com/executor-go/executor/cmd/executord\n" +
			"require github.com/executor-go/executor v0.2.0\nrequire github.com/executor-go/executor/durable v0.10.0\n",
		"cmd/executord/main.go": "package main\n",
		"ui/go.mod": "module github.com/executor-go/executor/ui\nrequire github.com/executor-go/executor v0.2.0\n" +
			"require github.com/executor-go/executor/durable v0.10.0\n",
		"ui/u.go":      "package ui\n",
		"bench/go.mod": "module github.com/executor-go/executor/bench\n",
		"bench/b.go":   "package bench\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "removed.go", "a.go"}} {
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(root, "removed.go")); err != nil {
		t.Fatal(err)
	}

	mods, err := modules(root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"github.com/executor-go/executor@v0.2.0":                ".gitignore LICENSE a.go go.mod internal/a/testdata/b.c",
		"github.com/executor-go/executor/durable@v0.10.0":       "LICENSE d.go go.mod",
		"github.com/executor-go/executor/otel@v0.10.0":          "LICENSE go.mod o.go",
		"github.com/executor-go/executor/durable/otel@v0.10.0":  "LICENSE go.mod j.go",
		"github.com/executor-go/executor/ui@v0.10.0":            "LICENSE go.mod u.go",
		"github.com/executor-go/executor/cmd/executord@v0.10.0": "LICENSE go.mod main.go",
	}
	for _, m := range mods {
		data, err := m.zip()
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
	for dir, text := range map[string]string{
		".":             "module github.com/executor-go/executor\n",
		"durable":       "module github.com/executor-go/executor/durable\nrequire github.com/executor-go/executor v0.1.0\n",
		"otel":          "module github.com/executor-go/executor/otel\nrequire github.com/executor-go/executor v0.1.0\n",
		"durable/otel":  "module github.com/executor-go/executor/durable/otel\nrequire github.com/executor-go/executor v0.1.0\n",
		"ui":            "module github.com/executor-go/executor/ui\n",
		"cmd/executord": "module github.com/executor-go/executor/cmd/executord\nrequire github.com/executor-go/executor v0.2.0\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "go.mod"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := modules(root); err == nil || !strings.Contains(err.Error(), "make both the same") {
		t.Errorf("modules: %v", err)
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
