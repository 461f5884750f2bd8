package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// storeFlag is the flag --store, and what stands for it in the environment.
type storeFlag struct{ cmd *cobra.Command }

func newStoreFlag(cmd *cobra.Command, usage string) storeFlag {
	cmd.Flags().String("store", "", usage+"; the default is in "+environ.StoreVariable)
	return storeFlag{cmd}
}

// name returns the store of the command line or the environment, "" for none.
func (f storeFlag) name() string {
	if flag := f.cmd.Flags().Lookup("store"); flag.Changed {
		return flag.Value.String()
	}
	return os.Getenv(environ.StoreVariable)
}

// checkNamed refuses an empty name, as of a script whose variable is not set.
// Run without a store, jobs that many daemons were to share would be run by each.
func (f storeFlag) checkNamed() error {
	if f.name() == "" && f.cmd.Flags().Changed("store") {
		return fmt.Errorf("--store is empty: %s, or leave it out", stores.Hint)
	}
	return nil
}

// databaseWait is how long a daemon waits at its start for a server that does not
// answer. A test shortens it.
var databaseWait = 30 * time.Second

// visit opens a store that is there, and calls fn with it.
func (f storeFlag) visit(fn func(context.Context, client.Client) error) error {
	name := f.name()
	if name == "" {
		return fmt.Errorf("%s needs a store: %s, or set %s", f.cmd.Name(), stores.Hint, environ.StoreVariable)
	}
	store, shown, err := stores.Open(name, stores.Options{Wait: databaseWait})
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
	defer cancel()
	err = fn(ctx, client.Client{Store: store, Jobs: jobs, Shown: shown})
	var exit *exitError
	var missing *client.MissingError
	switch {
	case err == nil, errors.As(err, &exit), errors.As(err, &missing):
		return err
	}
	return &exitError{exitMistake, stores.Explain(shown, err).Error()}
}

func newNamespaceFlag(cmd *cobra.Command, usage string) *string {
	name := new(string)
	cmd.Flags().Var((*canonical)(name), "namespace", usage)
	return name
}

// canonical is the value of a flag that is a name.
type canonical string

func (c *canonical) String() string { return string(*c) }
func (c *canonical) Type() string   { return "string" }

func (c *canonical) Set(name string) error {
	*c = canonical(job.CanonicalName(name))
	return nil
}

func checkNamespace(name string) error {
	if name != "" && !catalog.ValidNamespace(name) {
		return fmt.Errorf("--namespace %q: %s", name, catalog.NamespaceHint)
	}
	return nil
}
