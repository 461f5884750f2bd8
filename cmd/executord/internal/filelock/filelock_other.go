//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"os"
)

// Alone has no lock here.
func Alone(*os.File) error { return errors.ErrUnsupported }

// Share has no lock here: nobody has the file alone either.
func Share(*os.File) error { return nil }

// TryShare has no lock here.
func TryShare(*os.File) error { return errors.ErrUnsupported }
