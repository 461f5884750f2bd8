//go:build !linux

package main

import "testing"

// database skips the test: servers are started on Linux only.
func database(t *testing.T) string {
	t.Skip("PostgreSQL is started on Linux only")
	return ""
}

func stopPostgres() {}
