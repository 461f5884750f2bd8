//go:build unix

package site

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// locked stays open, and with it the lock held, until the process ends.
var locked *os.File

// lock keeps other runs out of a directory until this process ends, and waits
// while one is there.
func lock(dir string) (err error) {
	if locked, err = os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return err
	}
	err = syscall.Flock(int(locked.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		fmt.Println("waiting for another run to end, which has", dir)
		err = syscall.Flock(int(locked.Fd()), syscall.LOCK_EX)
	}
	return err
}
