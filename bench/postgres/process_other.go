//go:build !linux

package postgres

import "os/exec"

// Elsewhere the server runs as this user, and Close ends it.
func dieWithParent(*exec.Cmd)   {}
func runAs(*exec.Cmd, int, int) {}
