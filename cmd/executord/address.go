package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
)

// socketScheme begins the address of a Unix socket.
const socketScheme = "unix:"

// opCause returns what the system says of an address.
func opCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// readTokens returns the tokens of a file, for a daemon.
func readTokens(name string) (roles.Tokens, error) {
	return readTokenFile(name, roles.Parse)
}

// readToken returns the token of a file, for who asks a daemon.
func readToken(name string) (string, error) {
	return readTokenFile(name, roles.Only)
}

func readTokenFile[T any](name string, parse func([]byte) (T, error)) (value T, err error) {
	data, err := inputfile.Read(name, roles.MaxSize)
	if err == nil {
		value, err = parse(data)
	}
	if err != nil {
		return value, fmt.Errorf("--token-file %s: %w", name, complaint.Cause(err))
	}
	return value, nil
}
