// Package tree runs tests at the root of the repository.
package tree

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Main is the body of a TestMain. It changes to the root of the repository, two
// directories up, and runs the tests of m.
//
// It also keeps go test from caching the result, which depends on files of other
// modules: go test watches those of the test's own module only. A result is not
// cached if the log of the files that the test has read is missing.
func Main(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if log := flag.Lookup("test.testlogfile"); log != nil && log.Value.String() != "" {
		os.Remove(log.Value.String())
	}
	os.Exit(code)
}
