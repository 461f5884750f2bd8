//go:build !linux

package process

// CloseOnExec does nothing: who starts the program decides what its commands inherit.
func CloseOnExec() {}
