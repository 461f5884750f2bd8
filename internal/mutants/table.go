package main

import (
	"bytes"
	"fmt"
)

// line tells of one mutant on the terminal.
func line(i int, m mutant, v verdict) string {
	return fmt.Sprintf("%3d  %-28s %-60s %s", i+1, m.file, m.what, v)
}

func (v verdict) String() string {
	switch {
	case v.err != nil:
		return "NOT MADE"
	case v.by == "":
		return "SURVIVED"
	case v.how != "":
		return v.by + " (" + v.how + ")"
	}
	return v.by
}

// document gives docs/mutants.md.
func document(ms []mutant, verdicts []verdict, killed int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Mutants

What the tests notice. The code was broken on purpose in %d places, in one at a time, and the short tests of the package were
run on each; **%d of %d** were noticed. Beside each is the test that was the first to fail; "hangs" and "deadlock" say that it
did not come to its end, "data race" that the race detector saw it.

This file is written by `+"`make mutants`"+`, which fails if a mutant survives. The mutations are data, in `+"`internal/mutants`"+`.

| no. | file | what is broken | noticed by |
|---:|---|---|---|
`, len(ms), killed, len(ms))
	for i, m := range ms {
		v := verdicts[i]
		by := "**nobody**"
		if v.by != "" {
			by = "`" + v.by + "`"
			if v.how != "" {
				by += " (" + v.how + ")"
			}
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", i+1, m.file, m.what, by)
	}
	return b.Bytes()
}
