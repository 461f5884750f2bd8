package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mutant is one way to break the code.
type mutant struct {
	file string // from the root of the repository
	what string // what is broken, in a few words
	old  string // occurs once in file
	new  string // takes its place
	race bool   // only the race detector can see it
	by   string // the package whose tests are to see it, if not that of file
}

// pkg gives the package whose tests are run, as go test takes it.
func (m mutant) pkg() string {
	if m.by != "" {
		return m.by
	}
	return "./" + path.Dir(m.file)
}

// apply gives the text of the broken file, of the repository at root.
func (m mutant) apply(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	text := string(b)
	switch n := strings.Count(text, m.old); {
	case n == 0:
		return "", fmt.Errorf("%s: %q: the text to replace is gone; bring the mutation up to date with the code, or delete it with what it broke:\n%s", m.file, m.what, m.old)
	case n > 1:
		return "", fmt.Errorf("%s: %q: the text to replace occurs %d times; add lines around it to its old and new text:\n%s", m.file, m.what, n, m.old)
	case m.new == m.old:
		return "", fmt.Errorf("%s: %q: changes nothing", m.file, m.what)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}
