// Bench measures executor, its rivals in Go and the JDK side by side in one
// run, with a database too, and writes what it finds:
//
//	go run ./bench            everything, five rounds: the better part of an hour
//	go run ./bench -quick     smaller, one round: under two minutes
//	go run ./bench -run cancel -rounds 9
//
// It prints a table, and writes bench/results/latest.json, the charts bench/results/*.svg,
// docs/benchmarks.md, and the table in README.md; with -run, which measures a part, it only
// prints. With -render it writes the charts and documents anew from latest.json.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/executor-go/executor/bench/jdk"
	"github.com/executor-go/executor/bench/postgres"
	"github.com/executor-go/executor/bench/report"
	"github.com/executor-go/executor/bench/round"
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
	seed          uint64
	root, child   string
	profile       string
}

func parse() flags {
	var f flags
	flag.BoolVar(&f.quick, "quick", os.Getenv("QUICK") == "1", "smaller sizes and one round; also by QUICK=1")
	flag.BoolVar(&f.render, "render", false, "measure nothing, write the documents from latest.json")
	flag.IntVar(&f.rounds, "rounds", 0, "how often to run everything; 0 means 5, or 1 if quick")
	flag.StringVar(&f.only, "run", "", "a regular expression: only workloads that match")
	flag.StringVar(&f.on, "on", "", "a regular expression: only subjects that match")
	flag.Uint64Var(&f.seed, "seed", 1, "of the order within the rounds")
	flag.StringVar(&f.root, "root", "", "the directory of the repository; default: found from the present one")
	flag.StringVar(&f.child, "child", "", "run one workload on one subject, \"execute/8 pond\", and print the bare result; the program calls itself so")
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
	place, err := report.Locate(f.root)
	if err != nil {
		return err
	}
	if f.render {
		return place.Render(os.Stdout)
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
		fmt.Fprintln(os.Stderr, "bench: no usable java on the PATH, so the JDK is left out:", err)
	} else {
		defer java.Close()
		runner.Java, javaVersion = java, java.Version
	}
	wanted := func(c round.Cell) bool {
		return only.MatchString(c.Workload.Name) && on.MatchString(c.Subject.ID)
	}
	postgresVersion := ""
	if slices.ContainsFunc(round.Cells(f.quick, wanted), func(c round.Cell) bool { return c.Subject.Postgres }) {
		if server, err := postgres.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: no usable PostgreSQL, so all that is kept in one is left out:", err)
		} else {
			defer server.Close()
			runner.Postgres, postgresVersion = server, server.Version
		}
	}
	cells := round.Cells(f.quick, func(c round.Cell) bool { return wanted(c) && runner.Can(c.Subject) })
	if len(cells) == 0 {
		return fmt.Errorf("no workload matches -run %q -on %q", f.only, f.on)
	}

	started := time.Now()
	samples, rounds, failed := runner.Run(ctx, cells, f.rounds, f.seed)
	if rounds == 0 {
		return ctx.Err() // interrupted; after a complete round there is something to report
	}
	r := report.New(samples, report.Setting{
		Date: started.UTC().Truncate(time.Second), Took: time.Since(started).Round(time.Second),
		Rounds: rounds, Seed: f.seed, Quick: f.quick, Java: javaVersion, Postgres: postgresVersion,
	}.Here(context.WithoutCancel(ctx), place))
	for _, err := range failed {
		r.Failed = append(r.Failed, err.Error())
	}
	if f.only != "" || f.on != "" {
		r.Print(os.Stdout)
	} else if err := place.Save(r); err != nil {
		return err
	} else if err := place.Render(os.Stdout); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d runs failed; the table lacks them", len(failed))
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
