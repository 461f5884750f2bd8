//go:build !linux

package alarm

import "time"

// waker does not exist on this system: newWaker returns nil.
type waker struct{}

func newWaker(*time.Timer, func()) *waker { return nil }
func (*waker) set(time.Duration)          {}
func (*waker) stop()                      {}
func (*waker) close()                     {}
