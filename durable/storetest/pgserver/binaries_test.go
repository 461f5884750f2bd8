package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install makes a file that could be an initdb, and returns its directory.
func install(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "initdb"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bare has no binaries be in the environment.
func bare(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("EXECUTOR_PGBIN", "")
}

// Of several versions the newest is taken, by number, and what is no number is
// no version.
func TestNewestVersionIsTaken(t *testing.T) {
	bare(t)
	root := t.TempDir()
	for _, version := range []string{"9", "10", "8", "9.6", "local"} {
		install(t, filepath.Join(root, version, "bin"))
	}
	got, err := binaries(filepath.Join(root, "*/bin/initdb"))
	if want := filepath.Join(root, "10", "bin"); got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// Where there are no binaries, the error is ErrMissing and says what to install.
func TestNoBinaries(t *testing.T) {
	bare(t)
	_, err := binaries(filepath.Join(t.TempDir(), "*/bin/initdb"))
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("got %v", err)
	}
}

// Binaries that are asked for by EXECUTOR_PGBIN are taken whatever else there is.
func TestNamedBinariesAreTaken(t *testing.T) {
	root, named := t.TempDir(), install(t, t.TempDir())
	install(t, filepath.Join(root, "15", "bin"))
	t.Setenv("EXECUTOR_PGBIN", named)
	if got, err := binaries(filepath.Join(root, "*/bin/initdb")); got != named || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, named)
	}
}

// If they are not there no others take their place, nor is that a reason to skip
// a test.
func TestNamedBinariesAreNotThere(t *testing.T) {
	root := t.TempDir()
	install(t, filepath.Join(root, "15", "bin"))
	t.Setenv("EXECUTOR_PGBIN", t.TempDir())
	got, err := binaries(filepath.Join(root, "*/bin/initdb"))
	if err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "EXECUTOR_PGBIN") {
		t.Errorf("got %q, %v", got, err)
	}
}
