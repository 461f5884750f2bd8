// Bench measures executor, its rivals in Go and the JDK side by side, in one run:
//
//	go run ./bench                             everything, five rounds: about an hour
//	go run ./bench -quick                      smaller, one round: under two minutes
//	go run ./bench -run cancel -rounds 9       the workloads that match
//	go run ./bench -targets -against HEAD~10   what the targets compare, and an older revision
//
// It prints a table, and writes bench/results/latest.json, the charts bench/results/*.svg,
// docs/benchmarks.md, and the table in README.md. With -run, -on, -targets or -against it
// only prints. With -render it measures nothing and writes the charts and documents from
// latest.json.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/executor-go/executor/bench/jdk"
	"github.com/executor-go/executor/bench/postgres"
	"github.com/executor-go/executor/bench/report"
	"github.com/executor-go/executor/bench/round"
	"github.com/executor-go/executor/bench/subject"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type flags struct {
	quick, render bool
	rounds        int
	only, on      string
	against       string
	targets       bool
	seed          uint64
	root, child   string
	profile       string
}

func parse() flags {
	var f flags
	flag.BoolVar(&f.quick, "quick", os.Getenv("QUICK") == "1",
		"smaller sizes and one round; the default if QUICK=1 is set")
	flag.BoolVar(&f.render, "render", false, "measure nothing; write the charts and the page from latest.json")
	flag.IntVar(&f.rounds, "rounds", 0, "number of rounds; 0 means 5, or 1 if quick")
	flag.StringVar(&f.only, "run", "", "only workloads that match this regular expression")
	flag.StringVar(&f.on, "on", "", "only subjects that match this regular expression")
	flag.BoolVar(&f.targets, "targets", false, "only what the targets compare")
	flag.StringVar(&f.against, "against", "",
		"also measure the executor of this git revision, or of the tree in this directory, in the same rounds")
	flag.Uint64Var(&f.seed, "seed", 1, "seed of the order in the rounds")
	flag.StringVar(&f.root, "root", "", "directory of the repository; default: the one around the working directory")
	flag.StringVar(&f.child, "child", "",
		"run one workload on one subject, \"execute/8 pond\", and print the bare result; for child processes")
	flag.StringVar(&f.profile, "cpuprofile", "", "with -child: write a CPU profile to this file")
	flag.Parse()
	if f.rounds == 0 {
		f.rounds = 5
		if f.quick {
			f.rounds = 1
		}
	}
	return f
}

func run() error {
	f := parse()
	if f.child != "" {
		return child(f)
	}
	repository, err := report.Locate(f.root)
	if err != nil {
		return err
	}
	if f.render {
		return repository.Render(os.Stdout)
	}
	only, err := regexp.Compile(f.only)
	if err != nil {
		return err
	}
	on, err := regexp.Compile(f.on)
	if err != nil {
		return err
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	runner := round.Runner{Self: self, Quick: f.quick, Log: os.Stderr}
	javaVersion := ""
	if java, err := jdk.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: no usable java on the PATH, so without the JDK:", err)
	} else {
		defer java.Close()
		runner.Java, javaVersion = java, java.Version
	}
	if f.against != "" {
		if runner.Base, err = round.BuildBase(ctx, string(repository), f.against); err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Dir(runner.Base))
	}
	wanted := func(c round.Cell) bool {
		return only.MatchString(c.Workload.Name) && on.MatchString(c.Subject.ID) && (!f.targets || report.InTargets(c))
	}
	postgresVersion := ""
	if slices.ContainsFunc(round.Cells(f.quick, wanted), func(c round.Cell) bool { return c.Subject.Postgres }) {
		if server, err := postgres.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: no usable PostgreSQL, so without the subjects that need it:", err)
		} else {
			defer server.Close()
			runner.Postgres, postgresVersion = server, server.Version
		}
	}
	for _, s := range subject.All() {
		if s.Missing != nil && on.MatchString(s.ID) {
			if err := s.Missing(); err != nil {
				fmt.Fprintf(os.Stderr, "bench: without %s: %v\n", s.Title, err)
			}
		}
	}
	cells := round.Cells(f.quick, func(c round.Cell) bool { return wanted(c) && runner.Can(c.Subject) })
	if len(cells) == 0 {
		return fmt.Errorf("no workload matches -run %q -on %q", f.only, f.on)
	}

	started := time.Now()
	samples, rounds, failed := runner.Run(ctx, cells, f.rounds, f.seed)
	if rounds == 0 {
		return ctx.Err() // interrupted before the first round was complete
	}
	r := report.New(samples, report.Setting{
		Date: started.UTC().Truncate(time.Second), Took: time.Since(started).Round(time.Second),
		Rounds: rounds, Seed: f.seed, Quick: f.quick, Java: javaVersion, Postgres: postgresVersion,
	}.Here(context.WithoutCancel(ctx), repository))
	for _, err := range failed {
		r.Failed = append(r.Failed, err.Error())
	}
	if f.only != "" || f.on != "" || f.targets || f.against != "" {
		r.Print(os.Stdout)
	} else if err := repository.Save(r); err != nil {
		return err
	} else if err := repository.Render(os.Stdout); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d runs failed and are missing in the tables", len(failed))
	}
	return nil
}

func child(f flags) error {
	if f.profile != "" {
		file, err := os.Create(f.profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	return round.Child(f.child, f.quick)
}
