package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/anystore"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/durable"
)

// newAnyStore returns the command for the stores of any program.
func newAnyStore() *cobra.Command {
	return anystore.Command(anystore.Host{
		Flag: func(cmd *cobra.Command) func(bool) (durable.Store, string, error) {
			flag := newStoreFlag(cmd, "the store: a file, or postgres://...")
			return func(create bool) (durable.Store, string, error) {
				if flag.name() == "" {
					return nil, "", fmt.Errorf("%s needs a store: %s, or set %s", cmd.CommandPath(), storeHint, daemon.StoreVariable)
				}
				store, shown, err := openStore(flag.name(), create)
				if err != nil {
					err = &exitError{exitMistake, err.Error()}
				}
				return store, shown, err
			}
		},
		Table: func(w io.Writer, rows [][]string) error {
			t := new(table)
			for _, row := range rows {
				t.add(row...)
			}
			return t.fit(terminalWidth(w)).write(w)
		},
		Width:   terminalWidth,
		Explain: explainStore,
		Mistake: func(err error) error { return &exitError{exitMistake, err.Error()} },
		Quiet:   errQuiet,
		Who:     whoAmI,
	})
}

// errQuiet is the error of a command that has said all.
var errQuiet = &exitError{exitMistake, ""}
