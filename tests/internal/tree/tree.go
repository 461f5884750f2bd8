// Package tree runs tests at the root of the repository.
package tree

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// uncached is a file in the directory of each package whose tests call Main.
const uncached = "testdata/uncached"

// Main is the body of a TestMain. It changes to the root of the repository, two
// directories up, and runs the tests of m.
//
// It keeps go test from caching their result, which depends on files outside of
// their module, which go test does not watch. It does watch the file uncached,
// and caches no result that depends on a file of the last two seconds.
func Main(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if _, err := os.Stat(uncached); err != nil {
		fmt.Fprintf(os.Stderr, "%v; a package whose tests call tree.Main needs such a file\n", err)
		return 1
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	now := time.Now()
	os.Chtimes(dir+"/"+uncached, now, now) // where the tree is read-only, nothing changes in it
	return code
}
