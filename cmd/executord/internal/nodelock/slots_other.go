//go:build !linux

package nodelock

// slots are of Linux: elsewhere locks of parts of a file belong to processes, and end with any file of theirs that is
// closed.
type slots struct{}

func openSlots(string) *slots   { return nil }
func (s *slots) take(string)    {}
func (s *slots) dead() []string { return nil }
func (s *slots) forget()        {}
func (s *slots) close()         {}
