//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package stores

import (
	"errors"
	"os"
	"syscall"
)

// noFollow has a file not be opened through a link.
const noFollow = syscall.O_NOFOLLOW

// lockAlone locks a file, unless another process has a lock on it, and reports whether it could.
func lockAlone(f *os.File) bool {
	return f != nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// share has a lock on a file that others may have, too. It waits for one who has it alone, which takes as long as to bury
// some nodes.
func share(f *os.File) error {
	if f == nil {
		return nil
	}
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); !errors.Is(err, syscall.EINTR) {
			return ignoreUnsupported(err)
		}
	}
}

// ignoreUnsupported returns nil for a file system without locks, on which nobody has the list alone either.
func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil
	}
	return err
}
