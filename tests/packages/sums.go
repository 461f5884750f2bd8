package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// addSums brings the lines of files in SHA256SUMS up to date. Those of other files stay.
func addSums(dir string, names []string) error {
	list := filepath.Join(dir, "SHA256SUMS")
	data, err := os.ReadFile(list)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		_, name, _ := strings.Cut(line, "  ")
		return name == "" || slices.Contains(names, name)
	})
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s", sha256.Sum256(data), name))
	}
	return os.WriteFile(list, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
