//go:build !unix

package main

import "io/fs"

// writers finds no user: access control lists are not looked at.
func writers(fs.FileInfo) (reason string, hint [][]string) { return "", nil }

// writersTo is writers for a directory.
func writersTo(fs.FileInfo, bool) (reason string) { return "" }

// checkBeside refuses nothing.
func checkBeside(string, fs.FileInfo) error { return nil }

// nonblock has a pipe opened without a wait for its writer.
const nonblock = 0
