package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// copyTree makes a copy of the sources, without their history.
func copyTree(t *testing.T) string {
	t.Helper()
	root := filepath.Join("..", "..")
	to := t.TempDir()
	list := exec.Command("git", "ls-files")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skip("this is no working tree of git:", err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// Two builds of the same sources, in two directories, are equal, and what lies beside the program is of it.
func TestBuildIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds executord twice")
	}
	system := runtime.GOOS + "/" + runtime.GOARCH
	name := "executord-" + runtime.GOOS + "-" + runtime.GOARCH
	var first string
	for i := range 2 {
		dir := t.TempDir()
		if err := build(copyTree(t), dir, []string{system}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = dir
			continue
		}
		for _, file := range []string{name, name + ".cdx.json", "SHA256SUMS", "NOTICES"} {
			a, errA := os.ReadFile(filepath.Join(first, file))
			b, errB := os.ReadFile(filepath.Join(dir, file))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: two builds differ, or have none: %v, %v", file, errA, errB)
			}
		}
	}

	out, err := exec.Command(filepath.Join(first, name), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "executord ") {
		t.Errorf("it says %q, error %v", out, err)
	}
	program, _ := os.ReadFile(filepath.Join(first, name))
	if wd, _ := os.Getwd(); bytes.Contains(program, []byte(filepath.Dir(filepath.Dir(wd)))) {
		t.Error("a path of this machine is in the program")
	}
	notices, _ := os.ReadFile(filepath.Join(first, "NOTICES"))
	data, _ := os.ReadFile(filepath.Join(first, name+".cdx.json"))
	var bill struct{ Components []component }
	if err := json.Unmarshal(data, &bill); err != nil || len(bill.Components) < 10 {
		t.Fatalf("%d components, error %v", len(bill.Components), err)
	}
	for _, c := range bill.Components[1:] {
		if c.PURL == "" || !bytes.Contains(notices, []byte("\n"+c.Name+"\n=")) {
			t.Errorf("no license of %+v", c)
		}
	}
}

// A system that is none is an error.
func TestBuildNamesWrongSystem(t *testing.T) {
	if err := build("../..", t.TempDir(), []string{"linux"}); err == nil || !strings.Contains(err.Error(), `"linux" is no system`) {
		t.Errorf("error %v", err)
	}
}
