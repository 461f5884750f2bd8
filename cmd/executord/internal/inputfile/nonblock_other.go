//go:build !unix

package inputfile

// nonblock has a pipe opened without a wait for its writer.
const nonblock = 0
