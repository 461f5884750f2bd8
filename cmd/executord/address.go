package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
)

const (
	// socketScheme begins the address of a Unix socket.
	socketScheme = "unix:"

	// shortestToken is how many characters a token has at least. It is documented.
	shortestToken = 16

	// longestToken is how many bytes of a token file are read.
	longestToken = 4 << 10
)

// opCause returns what the system says of an address.
func opCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// readToken returns what a token file has, without blanks around it.
func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("--token-file %s: %w", name, complaint.Cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestToken))
	if err != nil {
		return "", fmt.Errorf("--token-file %s: %w", name, complaint.Cause(err))
	}
	token := strings.TrimSpace(string(data))
	if len(token) < shortestToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("--token-file %s: a token is one word of %d characters or more, as head -c 24 /dev/urandom | base64 prints it",
			name, shortestToken)
	}
	return token, nil
}
