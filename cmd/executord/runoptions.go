package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/systemd"
)

// keptBytes is how much of the output of all ended runs is in memory at most. It is documented.
const keptBytes = 64 << 20

// mostKept is how many KiB of the begin, and of the end, of what a run writes are kept at most.
const mostKept = 1 << 10

// defaultGrace is how long a run may take to end after SIGTERM.
const defaultGrace = 10 * time.Second

// runOptions is the command line of run.
type runOptions struct {
	files        sources
	watch        bool
	log          *choice
	drainTimeout time.Duration
	killAfter    time.Duration
	store        storeFlag
	namespace    *string
	lease        time.Duration
	maxOutput    int
	keepOutput   int
	keepRuns     int
	keepFor      time.Duration
	machine      job.Machine // that the flags describe
	flags        machineFlags
	listen       listenOptions
	hadJobs      bool // the files that were read last
	reading      reading
	inUse        inUse
	service      *systemd.Manager // nil if none has started the daemon
}

func newRunOptions(cmd *cobra.Command) *runOptions {
	o := &runOptions{files: newSources(cmd), log: &choice{"auto", []string{"auto", "short", "text", "json"}}}
	flags := cmd.Flags()
	flags.BoolVar(&o.watch, "watch", false, "read the files again when they have changed, as on SIGHUP")
	flags.Var(o.log, "log", "how the log is written; auto is short on a terminal and json elsewhere")
	flags.DurationVar(&o.drainTimeout, "drain-timeout", 0, "how long the runs in progress may take after the first signal; 0 means no limit")
	flags.DurationVar(&o.killAfter, "kill-after", defaultGrace, "how long a run may take to end after SIGTERM, before it is killed")
	flags.IntVar(&o.maxOutput, "max-output", 64, "how many MiB of the log the lines of one run may take; 0 means no limit")
	flags.IntVar(&o.keepOutput, "keep-output", 64, "how many KiB of the beginning and of the end of the output of a run are kept")
	flags.IntVar(&o.keepRuns, "keep-runs", 100, "for how many ended runs of each job the output is kept")
	flags.DurationVar(&o.keepFor, "keep-for", 7*24*time.Hour, "how long the output of ended runs is kept")
	flags.StringVar(&o.listen.address, "listen", "", "show jobs, runs, output and figures at an address such as 127.0.0.1:8384, or unix:/run/executord.sock")
	flags.StringVar(&o.listen.tokenFile, "token-file", "", "a file with the token that a request to --listen needs, or with NAME ROLE TOKEN on each line; roles are view and operate")
	flags.StringVar(&o.listen.tlsCert, "tls-cert", "", "a file with the certificate of --listen, which then speaks TLS; it is read again when it changes")
	flags.StringVar(&o.listen.tlsKey, "tls-key", "", "a file with the private key of --tls-cert")
	flags.StringArrayVar(&o.listen.proxies, "trusted-proxy", nil, "the address of a proxy before --listen, or of a network of proxies, whose X-Forwarded-For counts; may be repeated")
	flags.BoolVar(&o.listen.actions, "actions", false, "allow actions on the web page: run, pause, resume and cancel jobs, end runs; needs --token-file, or a Unix socket")
	o.store = newStoreFlag(cmd, "keep the jobs in a file, which is created if missing, in postgres://user@host/database, or in etcd://host,host,host")
	o.store.member = newMemberFlags(cmd)
	o.namespace = newNamespaceFlag(cmd, "the namespace of these jobs in the store; the default is the name of FILE without its ending")
	o.flags = newMachineFlags(cmd)
	flags.DurationVar(&o.lease, "lease", 5*time.Second, "how long after a daemon's last sign of life other daemons take over its runs, 1s to 8760h")
	return o
}

// validate checks what can be checked without opening anything. It sets the
// namespace if the command line does not.
func (o *runOptions) validate() error {
	if o.drainTimeout < 0 || o.killAfter < 0 {
		return fmt.Errorf("--drain-timeout and --kill-after cannot be negative")
	}
	if o.maxOutput < 0 || o.maxOutput > 1<<20 {
		return fmt.Errorf("--max-output %d: it must be 0 to %d", o.maxOutput, 1<<20)
	}
	if o.keepOutput < 1 || o.keepOutput > mostKept || o.keepRuns < 1 || o.keepRuns > 10_000 || o.keepFor <= 0 {
		return fmt.Errorf("--keep-output must be 1 to %d, --keep-runs 1 to 10000, --keep-for more than 0", mostKept)
	}
	if once := o.files.once(); once != "" && o.watch {
		return fmt.Errorf("--watch: %s can be read only once", once)
	}
	if err := o.listen.validate(); err != nil {
		return err
	}
	if err := o.store.checkNamed(); err != nil {
		return err
	}
	var err error
	if o.machine, err = o.flags.machine(); err != nil {
		return err
	}
	if !o.stored() {
		if flags := o.store.cmd.Flags(); flags.Changed("namespace") || flags.Changed("lease") {
			return fmt.Errorf("--namespace and --lease are for jobs in a store: %s", stores.Hint)
		}
		return nil
	}
	if o.lease < time.Second || o.lease > daemon.LongestLease {
		return fmt.Errorf("--lease %v: it must be 1s to %v", o.lease, daemon.LongestLease)
	}
	if *o.namespace == "" {
		if *o.namespace = o.files.namespace(); *o.namespace == "" {
			return fmt.Errorf("the namespace of the jobs cannot be taken from the name %s: set --namespace; %s", o.files, catalog.NamespaceHint)
		}
	}
	return checkNamespace(*o.namespace)
}

// stored reports whether the jobs are kept in a store that outlives the daemon.
func (o *runOptions) stored() bool { return o.store.name() != "" }
