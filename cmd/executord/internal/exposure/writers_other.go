//go:build !unix

package exposure

import "io/fs"

// writers finds no user: access control lists are not looked at.
func writers(fs.FileInfo, string) (reason string, hint [][]string) { return "", nil }

// writersTo is writers for a directory.
func writersTo(fs.FileInfo, string, bool) (reason string) { return "" }
