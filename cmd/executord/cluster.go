package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
	"github.com/executor-go/executor/durable/etcd"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Look after the daemons of run --cluster",
		Long: strings.TrimSpace(`
cluster looks after the members of a cluster, which are the daemons that run
with --cluster. But for restore and certificates, --store names the cluster:
etcd://HOST,HOST,HOST, with the members of --cluster or some of them, and
?certificates=DIR behind them if they have certificates.`),
		Example: strings.Trim(`
  executord cluster certificates certs 10.0.0.1 10.0.0.2 10.0.0.3
  executord cluster status --store etcd://10.0.0.1,10.0.0.2,10.0.0.3?certificates=certs
  executord cluster replace 10.0.0.3 10.0.0.4
  executord cluster backup jobs.snapshot`, "\n"),
	}
	complaint.OnlyCommands(cmd)
	cmd.AddCommand(newClusterStatus(), newClusterReplace(), newClusterBackup(), newClusterRestore(), newClusterCertificates())
	return cmd
}

// newClusterFlag returns the flag --store of commands for clusters.
func newClusterFlag(cmd *cobra.Command) storeFlag {
	return newStoreFlag(cmd, "the cluster, etcd://HOST,HOST,HOST")
}

// cluster returns the cluster that the flag names, and how it is reached.
func (f storeFlag) cluster() (c stores.Cluster, of etcd.Client, err error) {
	if f.name() == "" {
		return c, of, fmt.Errorf("%s needs a cluster: %s, or set %s", f.cmd.CommandPath(), stores.ClusterHint, environ.StoreVariable)
	}
	if c, err = stores.ParseCluster(f.name()); err == nil {
		of, err = c.Client()
		printNotes(os.Stderr, exposure.Notes(c.Exposed()))
	}
	if err != nil {
		err = &exitError{exitMistake, err.Error()}
	}
	return c, of, err
}

// dial opens the store of the cluster that the flag names, for up to patience, and calls fn with it.
func (f storeFlag) dial(patience time.Duration, fn func(context.Context, *etcd.Store) error) error {
	if _, _, err := f.cluster(); err != nil {
		return err
	}
	opened, shown, err := stores.Open(context.Background(), f.name(), stores.Options{Wait: databaseWait})
	if err != nil {
		return &exitError{exitMistake, err.Error()}
	}
	defer opened.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := fn(ctx, opened.(*etcd.Store)); err != nil {
		return &exitError{exitMistake, stores.Explain(shown, err).Error()}
	}
	return nil
}

func newClusterStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the members: who leads, space, clocks",
		Long: strings.TrimSpace(`
status asks each member how it is. It needs no majority of them.

States
  leads     commits what the others have agreed to
  follows   is there
  learns    was put in the place of another one, and gets what it lacks; it
            has no vote yet
  away      does not answer

SPACE is what the database of the member uses, of what it may; when it is full,
nothing can be written. CLOCK is by how much its clock is ahead of that of this
machine. The exit code is 1 if a majority is missing, so that nothing runs.`),
		Args:              complaint.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	store := newClusterFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each member")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, of, err := store.cluster()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), min(databaseWait, 2*stores.Silence))
		defer cancel()
		members, err := etcd.Members(ctx, of)
		if err != nil {
			return &exitError{exitMistake, fmt.Sprintf("the store %s: none of its members answers: %v", c.Shown(), complaint.Cause(err))}
		}
		led := false
		var all []clusterMember
		for _, m := range members {
			all = append(all, showMember(m))
			led = led || m.Leads
		}
		if *asJSON {
			err = job.WriteJSON(cmd.OutOrStdout(), all)
		} else {
			err = memberTable(all).Fit(terminal.Width(cmd.OutOrStdout())).Write(cmd.OutOrStdout())
			fmt.Fprintln(os.Stderr, stores.Quorum(members))
		}
		if err == nil && !led {
			err = errQuiet
		}
		return err
	}
	return cmd
}

// clusterMember is a member as status shows it.
type clusterMember struct {
	Member string  `json:"member"`
	State  string  `json:"state"`
	Etcd   string  `json:"etcd,omitempty"`
	Used   int64   `json:"used,omitempty"`  // bytes
	Quota  int64   `json:"quota,omitempty"` // bytes
	Ahead  float64 `json:"ahead"`           // seconds
	Error  string  `json:"error,omitempty"`
}

func showMember(m etcd.MemberInfo) clusterMember {
	of := clusterMember{m.Address, "follows", m.Version, m.Used, m.Quota, m.Ahead.Seconds(), ""}
	switch {
	case m.Error != nil:
		of.State, of.Error = "away", m.Error.Error()
	case m.Leads:
		of.State = "leads"
	case m.Learner:
		of.State = "learns"
	}
	return of
}

func memberTable(all []clusterMember) *terminal.Table {
	t := new(terminal.Table)
	t.Add("MEMBER", "STATE", "ETCD", "SPACE", "CLOCK", "")
	for _, m := range all {
		if m.Error != "" {
			t.Add(m.Member, m.State, "-", "-", "-", job.Printable(m.Error))
			continue
		}
		t.Add(m.Member, m.State, m.Etcd, fmt.Sprintf("%d of %d MiB", m.Used>>20, m.Quota>>20),
			fmt.Sprintf("%+.3fs", m.Ahead), "")
	}
	return t
}

func newClusterReplace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replace OLD NEW",
		Short: "Put a machine in the place of one that is lost",
		Long: strings.TrimSpace(`
replace removes the member OLD, which is lost for good, from the cluster, and
makes room for NEW, which may be the same if only its disk is lost. A majority of
the members must be there. Then start executord run --cluster on NEW, with NEW
in the place of OLD, and an empty --data: it gets what the others have. Change
--cluster of the others before their next start.`),
		Example: "  executord cluster replace 10.0.0.3 10.0.0.4 --store etcd://10.0.0.1,10.0.0.2",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("replace needs two members: the one that is lost, and the one for its place")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	store := newClusterFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return store.dial(stores.Patience, func(ctx context.Context, s *etcd.Store) error {
			if err := s.Replace(ctx, args[0], args[1]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: removed; start executord run --cluster on %s, with an empty --data\n", args[0], args[1])
			return nil
		})
	}
	return cmd
}

// longCopy bounds how long a backup takes.
const longCopy = time.Hour

func newClusterBackup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that the cluster has to a file",
		Long: strings.TrimSpace(`
backup writes all that the cluster has at one moment to FILE, which must not be
there yet. Only its owner may read it: the commands of the jobs, their variables
and output are in it. Keep it elsewhere: see executord cluster restore.`),
		Example: "  executord cluster backup /backup/jobs.snapshot --store etcd://10.0.0.1,10.0.0.2,10.0.0.3",
		Args:    oneArgument("FILE"),
	}
	store := newClusterFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return store.dial(longCopy, func(ctx context.Context, s *etcd.Store) error {
			size, err := writeNew(args[0], func(w io.Writer) error { return s.Backup(ctx, w) })
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes\n", args[0], size)
			}
			return err
		})
	}
	return cmd
}

// writeNew has fn write a file that is not there yet, which is there when all of it is on the disk.
func writeNew(name string, fn func(io.Writer) error) (size int64, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, errThere(name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp") // that others may not read
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // nothing, if all is well
	err = fn(f)
	if info, failed := f.Stat(); failed == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), name) // unlike a rename, it replaces nothing
	}
	if errors.Is(err, fs.ErrExist) {
		err = errThere(name)
	}
	return size, err
}

func errThere(name string) error { return fmt.Errorf("%s is there already: name another file", name) }

func newClusterRestore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make the data of a member from a backup",
		Long: strings.TrimSpace(`
restore makes --data of this member from a FILE of executord cluster backup. End
all members, run it on each machine with the same FILE and --cluster, and start
executord run --cluster there. The jobs are as they were: what has ended since
the backup runs again.`),
		Example: "  executord cluster restore /backup/jobs.snapshot --cluster 10.0.0.1,10.0.0.2,10.0.0.3 --data /var/lib/executord",
		Args:    oneArgument("FILE"),
	}
	member := newMemberFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(member.Hosts) == 0 {
			return errors.New("restore needs --cluster HOST,HOST,HOST and --data DIR, as executord run has them")
		}
		if err := checkMember(cmd.Flags(), member); err != nil {
			return err
		}
		c, err := stores.ParseCluster(member.Name())
		if err != nil {
			return err
		}
		m, err := c.Member(nil)
		if err == nil {
			err = etcd.Restore(m, args[0])
		}
		if err != nil {
			return &exitError{exitMistake, stores.Explain(c.Shown(), err).Error()}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: restored; when it is so on each machine, start executord run --cluster there\n", c.Data)
		return nil
	}
	return cmd
}

func newClusterCertificates() *cobra.Command {
	return &cobra.Command{
		Use:   "certificates DIR HOST...",
		Short: "Make certificates for members and other machines",
		Long: strings.TrimSpace(`
certificates makes DIR with an authority, ca.crt and ca.key, unless it is there,
and HOST.crt and HOST.key for each HOST, the address or name by which others
reach a machine, without a port. They are valid for ten years. Copy ca.crt, and
the .crt and .key of the machine, to the directory certificates in --data of each
member; other machines name a directory with them in the URL of --store:
etcd://HOST,HOST,HOST?certificates=DIR. Keep ca.key elsewhere: whoever has
it, or one of the other keys, can have commands run.`),
		Example: "  executord cluster certificates certs 10.0.0.1 10.0.0.2 10.0.0.3 laptop.example",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("certificates needs a directory, and the hosts")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := etcd.Certificates(args[0], args[1:]...); err != nil {
				return &exitError{exitMistake, strings.TrimPrefix(err.Error(), "durable/etcd: ")}
			}
			for _, host := range args[1:] {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: copy %s, %s and %s to it\n", host, filepath.Join(args[0], "ca.crt"),
					filepath.Join(args[0], host+".crt"), filepath.Join(args[0], host+".key"))
			}
			return nil
		},
	}
}

// oneArgument wants one argument.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s needs one %s", cmd.Name(), what)
		}
		return nil
	}
}
