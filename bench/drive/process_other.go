//go:build !linux

package drive

import "time"

// usage is supported on Linux only.
func usage() (wakeups int, cpu time.Duration, ok bool) { return 0, 0, false }

func status(string) (float64, bool) { return 0, false }
