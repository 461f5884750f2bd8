package main

import (
	"bytes"
	"fmt"
	"regexp"
)

// table is where the table goes.
const table = "docs/mutants.md"

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

// document gives the table, of which so many mutants were kept from the one before.
func document(ms []mutant, verdicts []verdict, kept int) []byte {
	var b bytes.Buffer
	killed := 0
	for _, v := range verdicts {
		if v.by != "" {
			killed++
		}
	}
	again := ""
	if kept > 0 {
		again = " Those of files\nthat have changed since the last whole run were made again."
	}
	fmt.Fprintf(&b, `# Mutants

What the tests notice. The code was broken on purpose in %d places, in one at a time, and the short tests of the package, or
of those that judge it, or those that the mutant names, were run on each; **%d of %d** were noticed. Beside each is the test that was the first to fail; "hangs" and
"deadlock" say that it did not come to its end, "data race" that the race detector saw it.

This file is written by `+"`make mutants`"+`, which fails if a mutant survives. The mutations are data, in `+"`tests/mutants`"+`.%s

| no. | file | what is broken | noticed by |
|---:|---|---|---|
`, len(ms), killed, len(ms), again)
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

var written = regexp.MustCompile("(?m)^\\| \\d+ \\| `(.+?)` \\| (.+) \\| (?:\\*\\*nobody\\*\\*|`(.+?)`(?: \\((.+)\\))?) \\|$")

// parse reads what document has written.
func parse(text []byte) map[place]verdict {
	had := make(map[place]verdict)
	for _, m := range written.FindAllSubmatch(text, -1) {
		had[place{string(m[1]), string(m[2])}] = verdict{by: string(m[3]), how: string(m[4])}
	}
	return had
}
