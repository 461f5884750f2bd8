//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Alone locks a file, unless another process has a lock on it: then the error is ErrTaken. Another error says that there
// are no such locks on the file.
func Alone(f *os.File) error { return lock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// Share has a lock on a file that others may have, too, in place of that of Alone, if this process has it. It waits for
// one who has it alone. On a file system without locks it returns nil: nobody has the file alone there either.
func Share(f *os.File) error {
	err := lock(f, syscall.LOCK_SH)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil
	}
	return err
}

// TryShare is Share, but does not wait: then the error is ErrTaken.
func TryShare(f *os.File) error { return lock(f, syscall.LOCK_SH|syscall.LOCK_NB) }

func lock(f *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrTaken
		default:
			return err
		}
	}
}
