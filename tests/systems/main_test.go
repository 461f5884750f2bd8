package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a system does not build, or vet finds there alone, is an error of that system, in tests too.
func TestCheckFindsMistakesOfASystem(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"m.go":              "package m\n\nvar Many int = 1 << 40\n\nvar _ = perhaps\n",
		"perhaps.go":        "//go:build !darwin\n\npackage m\n\nfunc perhaps() {}\n",
		"m_windows_test.go": "package m\n\nfunc same(i int) {\n\ti = i\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{
		"linux/amd64":   "",
		"linux/386":     "m.go:3:16: cannot use 1 << 40",
		"darwin/arm64":  "m.go:5:9: undefined: perhaps",
		"windows/amd64": "m_windows_test.go:4:2: self-assignment of i",
		"windows/none":  "none",
	} {
		err := check(dir, system, "./...")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", system, err, want)
		}
	}
	if err := check(dir, "linux/amd64", "./none/..."); err == nil {
		t.Error("no package is no error")
	}
}
