//go:build !unix

package exposure

import "io/fs"

// writers finds no user: access control lists are not looked at.
func writers(fs.FileInfo, string) string { return "" }

// Refused refuses nothing.
func Refused(string, fs.FileInfo) string { return "" }

// Beside refuses nothing.
func Beside(string, fs.FileInfo, ...string) error { return nil }

// Directory refuses nothing.
func Directory(string, fs.FileInfo) error { return nil }
