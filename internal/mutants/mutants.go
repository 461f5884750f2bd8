// Mutants breaks the code on purpose, in one place at a time, and runs the tests
// on what comes of it. A mutant that no test notices is a test that is missing.
//
// The mutations are data, in the files named after what they break. Each is
// applied by an overlay, so that the tree stays as it is. The table of all of
// them, each with the test that noticed it first, goes to docs/mutants.md.
//
//	go run ./internal/mutants               all, and write the table
//	go run ./internal/mutants -only heap    those whose file or text has "heap"
//
// It exits with 1 if a mutant survives, and with 2 if one can't be made or -only
// chooses none.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

func main() {
	only := flag.String("only", "", "make the mutants whose file or description contains this, and write no table")
	jobs := flag.Int("j", 2, "mutants to run at the same time")
	skip := flag.String("skip", "", "tests to leave out, as a regular expression")
	flag.Parse()

	var chosen []mutant
	for _, m := range all() {
		if strings.Contains(m.file+" "+m.what, *only) {
			chosen = append(chosen, m)
		}
	}
	// Before anything runs: a text that is gone is to be mended first.
	broken := 0
	for _, m := range all() {
		if _, err := m.apply("."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			broken++
		}
	}
	if broken > 0 {
		fmt.Fprintf(os.Stderr, "mutants: %d can't be made; see above\n", broken)
		os.Exit(2)
	}

	if len(chosen) == 0 {
		fmt.Fprintf(os.Stderr, "mutants: no file or description contains %q\n", *only)
		os.Exit(2)
	}

	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := run(chosen, runner{temp: temp, skip: *skip}, *jobs, *only == "")
	os.RemoveAll(temp)
	os.Exit(code)
}

// all gives the mutants in the order of the table.
func all() []mutant {
	return slices.Concat(taskMutants, poolMutants, gateMutants, exitMutants, workerMutants, rejectMutants,
		scheduledMutants, heapMutants, newsMutants, structureMutants, queueMutants, cronMutants)
}

// run makes the mutants, tests them, and tells; it returns the exit code.
func run(ms []mutant, r runner, jobs int, table bool) int {
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
				fmt.Println(line(i, ms[i], verdicts[i]))
			}
		})
	}
	for i := range ms {
		next <- i
	}
	close(next)
	wg.Wait()

	killed, failed := 0, 0
	for i, v := range verdicts {
		switch {
		case v.err != nil:
			failed++
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", ms[i].file, ms[i].what, v.err)
		case v.by != "":
			killed++
		}
	}
	fmt.Printf("mutants: made %d, killed %d, survived %d\n", len(ms)-failed, killed, len(ms)-failed-killed)
	if failed > 0 {
		return 2
	}
	if table {
		if err := os.WriteFile("docs/mutants.md", document(ms, verdicts, killed), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	if killed < len(ms) {
		return 1
	}
	return 0
}
