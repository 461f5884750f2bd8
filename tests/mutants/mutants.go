// Mutants breaks the code on purpose, in one place at a time, and runs the tests
// on what comes of it. A mutant that no test notices is a test that is missing.
//
// The mutations are data, in the files named after what they break. Each is
// applied by an overlay, so that the tree stays as it is. The table of all of
// them, each with the test that noticed it first, goes to docs/mutants.md.
//
//	go run ./tests/mutants               all, and write the table
//	go run ./tests/mutants -only heap    those whose file or text has "heap"
//	go run ./tests/mutants -keep         those that the table does not have, and add them to it
//
// With -only as well, -keep makes what either chooses. The tests are those of the
// file's directory, or of the packages that judge what is in it, or those of them that
// a mutant names; what they need, such as a database, must be there.
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
	"time"
)

func main() {
	only := flag.String("only", "", "make the mutants whose file or description contains this, and write no table")
	keep := flag.Bool("keep", false, "make what -only chooses and what the table does not have, and keep what it says of the others")
	jobs := flag.Int("j", 2, "mutants to run at the same time")
	skip := flag.String("skip", "", "tests to leave out, as a regular expression")
	flag.Parse()

	// Before anything runs: what can't be made is to be mended first.
	if errs := unfit(".", all()); len(errs) > 0 {
		for _, err := range errs {
			fmt.Fprintln(os.Stderr, err)
		}
		fmt.Fprintf(os.Stderr, "mutants: %d can't be made; see above\n", len(errs))
		os.Exit(2)
	}

	had := make(map[place]verdict)
	if *keep {
		text, err := os.ReadFile(table)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		had = parse(text)
	}
	var chosen []mutant
	found := false
	for _, m := range all() {
		named := strings.Contains(m.file+" "+m.what, *only)
		found = found || named
		if named && *only != "" {
			delete(had, m.place())
		}
		if named || *keep {
			chosen = append(chosen, m)
		}
	}
	if !found {
		fmt.Fprintf(os.Stderr, "mutants: no file or description contains %q\n", *only)
		os.Exit(2)
	}

	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	r := runner{temp: temp, skip: *skip, patience: make(map[string]time.Duration)}
	code := run(chosen, had, r, *jobs, *keep || *only == "")
	os.RemoveAll(temp)
	os.Exit(code)
}

// all gives the mutants in the order of the table.
func all() []mutant {
	return slices.Concat(taskMutants, poolMutants, gateMutants, textMutants, workerMutants, rejectMutants,
		scheduledMutants, heapMutants, newsMutants, structureMutants, queueMutants, cronMutants,
		durableNodeMutants, durableLeaseMutants, durableRunMutants, durableCallMutants, durablePauseMutants, durableTxMutants, rulesMutants, memoryMutants,
		sqliteMutants, postgresMutants,
		executordFileMutants, executordProcessMutants, executordRunMutants, executordStoreMutants)
}

// run makes the mutants of which had says nothing, tests them, and tells; it
// returns the exit code.
func run(ms []mutant, had map[place]verdict, r runner, jobs int, write bool) int {
	verdicts := make([]verdict, len(ms))
	var made []int
	for i, m := range ms {
		if v, ok := had[m.place()]; ok {
			verdicts[i] = v
		} else {
			made = append(made, i)
		}
	}
	if !r.sound(ms, made) {
		return 2
	}
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
	for _, i := range made {
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
	kept := len(ms) - len(made)
	fmt.Printf("mutants: made %d, kept %d, killed %d, survived %d\n", len(made)-failed, kept, len(ms)-failed-survived, survived)
	if failed > 0 {
		return 2
	}
	if write {
		if err := os.WriteFile(table, document(ms, verdicts, kept), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	if survived > 0 {
		return 1
	}
	return 0
}
