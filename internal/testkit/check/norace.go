//go:build !race

package check

// Race reports whether the race detector is on, which makes a test several times as slow.
const Race = false
