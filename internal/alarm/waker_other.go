//go:build !linux

package alarm

import "time"

// waker has no descriptor on this system: there never is one.
type waker struct{ bell chan struct{} }

func newWaker(*time.Timer) *waker { return nil }
func (*waker) set(time.Duration)  {}
func (*waker) stop()              {}
func (*waker) close()             {}
