package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/durable"
)

// storeFlag is the flag --store, and what stands for it: in the environment, or the flags of a member of a cluster.
type storeFlag struct {
	cmd    *cobra.Command
	member *stores.Cluster // nil for commands that are no members
}

func newStoreFlag(cmd *cobra.Command, usage string) storeFlag {
	cmd.Flags().String("store", "", usage+"; the default is in "+environ.StoreVariable)
	return storeFlag{cmd: cmd}
}

// newMemberFlags returns the flags of a member of a cluster.
func newMemberFlags(cmd *cobra.Command) *stores.Cluster {
	c := new(stores.Cluster)
	flags := cmd.Flags()
	flags.StringSliceVar(&c.Hosts, "cluster", nil, "the members of a cluster, HOST,HOST,HOST or HOST:PORT,...: the same on each, this machine one of them")
	flags.StringVar(&c.Data, "data", "", "a directory for the data of this member of --cluster")
	flags.StringVar(&c.Self, "self", "", "which of --cluster is this member; the default is the one that is an address of this machine")
	return c
}

// checkMember checks the flags of a member of a cluster.
func checkMember(flags *pflag.FlagSet, c *stores.Cluster) error {
	switch {
	case !flags.Changed("cluster") && (flags.Changed("data") || flags.Changed("self")):
		return errors.New("--data and --self are for a member of a cluster: add --cluster HOST,HOST,HOST")
	case !flags.Changed("cluster"):
		return nil
	case len(c.Hosts) == 0:
		return errors.New("--cluster is empty: give it the members, HOST,HOST,HOST")
	case c.Data == "":
		return errors.New("--cluster needs --data DIR, the directory for the data of this member; a program that is none names " +
			"the cluster by --store " + c.Shown())
	}
	_, err := stores.ParseCluster(c.Name())
	return err
}

// name returns the store of the command line or the environment, "" for none.
func (f storeFlag) name() string {
	if f.member != nil && f.cmd.Flags().Changed("cluster") {
		return f.member.Name()
	}
	if flag := f.cmd.Flags().Lookup("store"); flag.Changed {
		return flag.Value.String()
	}
	return os.Getenv(environ.StoreVariable)
}

// checkNamed refuses an empty name, as of a script whose variable is not set.
// Run without a store, jobs that many daemons were to share would be run by each.
func (f storeFlag) checkNamed() error {
	switch flags := f.cmd.Flags(); {
	case f.member != nil && flags.Changed("store") && flags.Changed("cluster"):
		return errors.New("--cluster is a store, and --store another one: leave one of them out")
	case f.name() == "" && flags.Changed("store"):
		return fmt.Errorf("--store is empty: %s, or leave it out", stores.Hint)
	case f.member != nil:
		return checkMember(flags, f.member)
	}
	return nil
}

// databaseWait is how long a daemon waits at its start, and a command, for a server that does not answer. A test shortens
// it.
var databaseWait = 30 * time.Second

// visit opens a store that is there, and calls fn with it.
func (f storeFlag) visit(fn func(context.Context, client.Client) error) error {
	name := f.name()
	if name == "" {
		return fmt.Errorf("%s needs a store: %s, or set %s", f.cmd.Name(), stores.Hint, environ.StoreVariable)
	}
	store, shown, err := stores.Open(context.Background(), name, stores.Options{Wait: databaseWait})
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
