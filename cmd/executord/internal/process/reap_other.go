//go:build !linux

package process

// Adopt does nothing: only Linux lets a program adopt orphans. They go to init.
func (s *Supervisor) Adopt() (stop func()) { return func() {} }

// EndStrays ends nothing, since nothing was adopted.
func (s *Supervisor) EndStrays() []Stray { return nil }

func (s *Supervisor) killStrays() bool { return false }

// groupDead is not known.
func groupDead(group int) bool { return false }
