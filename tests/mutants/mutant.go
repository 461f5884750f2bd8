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
	by   string // the package whose tests are to see it, if not those of the file's directory
	test string // those of its tests that are to, as a regular expression, if all of them take too long
}

// judges are the packages whose tests judge what is in a directory, where that is
// not the one of the directory alone: one after the other, until one notices.
var judges = map[string][]string{
	"cmd/executord/internal/daemon":  {"./cmd/executord/internal/daemon", "./cmd/executord"},
	"cmd/executord/internal/environ": {"./cmd/executord/internal/daemon", "./cmd/executord"},
	"cmd/executord/internal/stores":  {"./cmd/executord/internal/stores", "./cmd/executord"},
	"cmd/executord/internal/job":     {"./cmd/executord/internal/job", "./cmd/executord/internal/crontab", "./cmd/executord/internal/tomlfile"},
	"cmd/executord/internal/catalog": {"./cmd/executord/internal/catalog", "./cmd/executord"},
	"ui/page":                        {"./ui/page", "./ui"},
	"ui/internal/act":                {"./ui"},
	"durable/store/rows":             {"./durable/store/rows", "./durable/memory"},
	"durable/internal/sqlrow":        {"./durable/sqlite", "./durable/postgres"},
	"durable/internal/node":          {"./durable"},
	"durable/internal/storeclock":    {"./durable"},
	"durable/store/transition":       {"./durable/memory", "./durable/internal/model"},
	"durable/memory":                 {"./durable/memory", "./durable"},
	"durable/postgres":               {"./durable/postgres", "./durable/internal/model"},
	"durable/sqlite":                 {"./durable/sqlite", "./durable/internal/model"},
}

// pkgs returns the packages whose tests are run, in that order, as go test takes
// them.
func (m mutant) pkgs() []string {
	dir := path.Dir(m.file)
	switch {
	case m.by != "":
		return []string{m.by}
	case judges[dir] != nil:
		return judges[dir]
	}
	return []string{"./" + dir}
}

// apply returns the text of the broken file, of the repository at root.
func (m mutant) apply(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	text := string(b)
	switch n := strings.Count(text, m.old); {
	case n == 0:
		return "", fmt.Errorf("%s: %q: the text to replace is gone; bring the mutant up to date with the code, or delete it with what it broke:\n%s", m.file, m.what, m.old)
	case n > 1:
		return "", fmt.Errorf("%s: %q: the text to replace occurs %d times; add lines around it to its old and new text:\n%s", m.file, m.what, n, m.old)
	case m.new == m.old:
		return "", fmt.Errorf("%s: %q: changes nothing", m.file, m.what)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}
