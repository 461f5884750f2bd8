//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package stores

const noFollow = 0
