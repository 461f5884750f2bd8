//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package stores

import "syscall"

// noFollow has a file not be opened through a link.
const noFollow = syscall.O_NOFOLLOW
