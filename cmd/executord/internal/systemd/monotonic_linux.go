package systemd

import "golang.org/x/sys/unix"

// monotonic returns what CLOCK_MONOTONIC shows, in microseconds.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0 // no such time: the manager ignores it
	}
	return t.Nano() / 1000
}
