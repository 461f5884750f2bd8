//go:build !linux

package drive

import "time"

// spent is known on Linux only.
func spent() (wakeups int, cpu time.Duration, ok bool) { return 0, 0, false }

func status(string) (float64, bool) { return 0, false }
