// Mutants breaks the code on purpose, in one place at a time, and runs the tests
// on each broken copy. A mutant that no test notices is a test that is missing.
//
// The mutants are data: core.go, durable.go, executord.go and ui.go. Each brings back a
// bug that this project once had, or that users of its rivals reported. A rule that
// the ordinary tests hold needs no mutant: a mutant has to follow each change of the
// text that it breaks.
//
//	go run ./tests/mutants               all
//	go run ./tests/mutants -only heap    those whose file or description has "heap"
//
// Each is applied by an overlay, so that the tree stays as it is. The tests are
// those of the file's directory, or of the packages that judge what is in it, or
// those of them that a mutant names; what they need, such as a database, must be
// there.
//
// The exit code is 1 if a mutant survives, and 2 if one cannot be made or -only
// chooses none.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	only := flag.String("only", "", "make the mutants whose file or description contains this")
	jobs := flag.Int("j", 2, "mutants to run at the same time")
	skip := flag.String("skip", "", "tests to leave out, as a regular expression")
	flag.Parse()

	var chosen []mutant
	for _, m := range all() {
		if strings.Contains(m.file+" "+m.what, *only) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		fmt.Fprintf(os.Stderr, "mutants: no file or description contains %q\n", *only)
		os.Exit(2)
	}
	// Before anything runs, which takes long.
	if errs := unfit(".", chosen); len(errs) > 0 {
		for _, err := range errs {
			fmt.Fprintln(os.Stderr, err)
		}
		fmt.Fprintf(os.Stderr, "mutants: %d cannot be made; see above\n", len(errs))
		os.Exit(2)
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := run(chosen, runner{temp: temp, skip: *skip, patience: make(map[string]time.Duration)}, *jobs)
	os.RemoveAll(temp)
	os.Exit(code)
}

// all returns the mutants in the order of the table.
func all() []mutant {
	return slices.Concat(coreMutants, durableMutants, executordMutants, uiMutants)
}

// run makes and tests the mutants, prints a line for each, and returns the exit
// code.
func run(ms []mutant, r runner, jobs int) int {
	if !r.sound(ms) {
		return 2
	}
	verdicts := make([]verdict, len(ms))
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				verdicts[i] = r.try(i, ms[i])
				fmt.Printf("%3d  %-36s %-72s %s\n", i+1, ms[i].file, ms[i].what, verdicts[i])
			}
		})
	}
	for i := range ms {
		next <- i
	}
	close(next)
	wg.Wait()

	failed, survived := 0, 0
	for i, v := range verdicts {
		switch {
		case v.err != nil:
			failed++
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", ms[i].file, ms[i].what, v.err)
		case v.by == "":
			survived++
		}
	}
	fmt.Printf("mutants: made %d, killed %d, survived %d\n", len(ms)-failed, len(ms)-failed-survived, survived)
	switch {
	case failed > 0:
		return 2
	case survived > 0:
		return 1
	}
	return 0
}
