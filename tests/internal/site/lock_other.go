//go:build !unix

package site

// lock does nothing: on other systems the caller runs one at a time.
func lock(string) error { return nil }
