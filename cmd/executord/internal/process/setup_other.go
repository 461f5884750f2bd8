//go:build !linux

package process

import (
	"errors"
	"runtime"
)

// checkSystem returns what of a setup this system does not have.
func (s Setup) checkSystem() error {
	if s.Nice != nil || s.IO != 0 || len(s.Limits) > 0 {
		return errors.New("nice, ionice and rlimit work on Linux only; this is " + runtime.GOOS)
	}
	return nil
}

func (s Setup) apply() error { return s.checkSystem() }
