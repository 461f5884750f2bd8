//go:build !linux

package pgtest

import "os/exec"

// Elsewhere the server runs as the user of the test, and Stop ends it.
func dieWithParent(*exec.Cmd)   {}
func runAs(*exec.Cmd, int, int) {}
