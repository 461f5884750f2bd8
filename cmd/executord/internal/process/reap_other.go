//go:build !linux

package process

import "syscall"

// An enclosure is there on Linux alone.
type enclosure struct{}

func (*enclosure) put(*syscall.SysProcAttr) {}

// Adopt does nothing: only Linux lets a program adopt orphans. They go to init.
func (s *Supervisor) Adopt() (stop func()) { return func() {} }

// EndStrays ends nothing, since nothing was adopted.
func (s *Supervisor) EndStrays() (ended, survivors []Stray) { return nil, nil }

func (s *Supervisor) killStrays() bool { return false }

func (s *Supervisor) reapLocked() {}

func (s *Supervisor) childless() bool { return true }

// groupDead is not known.
func groupDead(group int) bool { return false }
