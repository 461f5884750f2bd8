package check

import "testing"

// Brief reports whether a test with many cases of one kind is to run some of them only:
// with -short, and with the race detector, which finds nothing more in the others.
func Brief() bool { return testing.Short() || Race }
