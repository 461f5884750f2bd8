//go:build !linux

package alarm

import "time"

// waker has no descriptor on this system: there never is one.
type waker struct{}

func newWaker() *waker           { return nil }
func (*waker) set(time.Duration) {}
func (*waker) stop()             {}
func (*waker) close()            {}
