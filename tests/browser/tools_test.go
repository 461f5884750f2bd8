package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// need returns what find finds, and skips the test without it, or fails where CI is set.
func need[T any](t *testing.T, find func() (T, error)) T {
	t.Helper()
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("a test with a browser: set EXECUTOR_LONG=1")
	}
	found, err := find()
	switch {
	case err == nil:
	case errors.Is(err, errMissing) && os.Getenv("CI") == "":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return found
}

var errMissing = errors.New("missing")

// chromium returns the path of a browser.
func chromium() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: chromium-headless-shell, as Debian's package is called", errMissing)
}

// checkers returns the directory of the modules that testdata/package.json names.
var checkers = sync.OnceValues(func() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%w: npm, as Debian's package is called", errMissing)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("%w: go env GOCACHE: %w", errMissing, err)
	}
	sum := sha256.New()
	files := make(map[string][]byte)
	for _, name := range []string{"package.json", "package-lock.json"} {
		if files[name], err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
			return "", err
		}
		sum.Write(files[name])
	}
	home := filepath.Join(strings.TrimSpace(string(cache)), "executor-ci", "browser-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	modules := filepath.Join(home, "node_modules")
	if complete(modules) {
		return modules, nil
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o777); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), "browser-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), text, 0o666); err != nil {
			return "", err
		}
	}
	install := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = fresh
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: npm ci: %w\n%s", errMissing, err, out)
	}
	if err := os.RemoveAll(home); err != nil { // of which a cleaner of caches has left a part
		return "", err
	}
	if err := os.Rename(fresh, home); err != nil && !complete(modules) { // no other process was faster
		return "", err
	}
	return modules, nil
})

// axeFile and vnuFile are the files of the modules that are used.
const axeFile, vnuFile = "axe-core/axe.min.js", "vnu-jar/build/dist/vnu.jar"

// complete reports whether modules are there with all that is used of them.
func complete(modules string) bool {
	for _, name := range []string{axeFile, vnuFile} {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			return false
		}
	}
	return true
}

// axe returns the script of the accessibility checker.
func axe() (string, error) {
	modules, err := checkers()
	if err != nil {
		return "", err
	}
	script, err := os.ReadFile(filepath.Join(modules, axeFile))
	return string(script), err
}

// vnu returns the command that checks HTML, as a program and its first arguments.
func vnu() ([]string, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("%w: default-jdk-headless, as Debian's package is called", errMissing)
	}
	modules, err := checkers()
	if err != nil {
		return nil, err
	}
	return []string{java, "-Xss4m", "-jar", filepath.Join(modules, vnuFile)}, nil
}
