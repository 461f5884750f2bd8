package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// ErrMissing is the error on a machine without PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed: no initdb in the path or in /usr/lib/postgresql, and EXECUTOR_PGBIN is not set; on Debian: apt-get install postgresql")

// binaries returns the directory of initdb: the one that was asked for, else that
// in the path, else that of the newest version installed, by a pattern.
func binaries(installed string) (string, error) {
	if dir := os.Getenv("EXECUTOR_PGBIN"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			return "", fmt.Errorf("EXECUTOR_PGBIN: %w", err) // never another version instead
		}
		return dir, nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob(installed)
	best, newest := "", 0
	for _, path := range found {
		dir := filepath.Dir(path)
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && v > newest {
			best, newest = dir, v
		}
	}
	if best == "" {
		return "", ErrMissing
	}
	return best, nil
}
