package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/anystore"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// newAnyStore returns the command for the stores of any program.
func newAnyStore() *cobra.Command {
	return anystore.Command(anystore.Host{
		Flag: func(cmd *cobra.Command) func(bool) (durable.Store, string, error) {
			flag := newStoreFlag(cmd, "the store: a file, postgres://... or etcd://...")
			return func(create bool) (durable.Store, string, error) {
				if flag.name() == "" {
					return nil, "", fmt.Errorf("%s needs a store: %s, or set %s", cmd.CommandPath(), stores.Hint, environ.StoreVariable)
				}
				store, shown, err := stores.Open(context.Background(), flag.name(), stores.Options{Create: create, Wait: databaseWait})
				if err != nil {
					err = &exitError{exitMistake, err.Error()}
				}
				return store, shown, err
			}
		},
		Mistake: func(err error) error { return &exitError{exitMistake, err.Error()} },
		Quiet:   errQuiet,
		Who:     client.WhoAmI,
	})
}

// errQuiet is the error of a command that has said all.
var errQuiet = &exitError{exitMistake, ""}
