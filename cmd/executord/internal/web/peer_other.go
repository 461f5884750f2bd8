//go:build !linux

package web

import "net"

// userOf returns who is at the other end of a Unix socket; that is known on Linux alone.
func userOf(net.Conn) string { return "" }
