package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// minPatience bounds the tests of a package on one mutant, if they do not take
	// long by themselves. One that hangs is killed by it.
	minPatience = 40 * time.Second

	// soundPatience bounds them on the code as it is, where they are to pass.
	soundPatience = 10 * time.Minute
)

// runner tests mutants.
type runner struct {
	temp string // a directory of its own
	skip string // tests to leave out

	patience map[string]time.Duration // by package, since sound has measured it
}

// verdict is what became of a mutant.
type verdict struct {
	by  string // the first test that failed; "" if none did
	how string // how, if not by failing
	err error  // it could not be made
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

// sound reports whether the tests of the mutants pass on the code as it is:
// otherwise they would kill every mutant. It notes how long they take.
func (r runner) sound(ms []mutant) bool {
	var pkgs []string
	for _, m := range ms {
		for _, pkg := range m.pkgs() {
			if !slices.Contains(pkgs, pkg) {
				pkgs = append(pkgs, pkg)
			}
		}
	}
	for _, pkg := range pkgs {
		begun := time.Now()
		r.patience[pkg] = soundPatience
		out, err := r.test(pkg, tests(pkg, ms), "", false)
		r.patience[pkg] = max(minPatience, 3*time.Since(begun))
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutants: the tests of %s fail on the code as it is (%v); fix that first:\n%s\n", pkg, judge(out).by, tail(out))
			return false
		}
	}
	return true
}

// tests returns the tests of a package that judge the mutants, as a regular
// expression; "" is all.
func tests(pkg string, ms []mutant) string {
	var named []string
	for _, m := range ms {
		if slices.Contains(m.pkgs(), pkg) {
			if m.test == "" {
				return ""
			}
			named = append(named, m.test)
		}
	}
	return strings.Join(named, "|")
}

// try makes a mutant and tests it. i is its number.
func (r runner) try(i int, m mutant) verdict {
	text, err := m.apply(".")
	if err != nil {
		return verdict{err: err}
	}
	dir := filepath.Join(r.temp, fmt.Sprint(i))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return verdict{err: err}
	}
	broken := filepath.Join(dir, filepath.Base(m.file))
	whole, err := filepath.Abs(m.file)
	if err != nil {
		return verdict{err: err}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{whole: broken}})
	if err != nil {
		return verdict{err: err}
	}
	plan := filepath.Join(dir, "overlay.json")
	if err := errors.Join(os.WriteFile(broken, []byte(text), 0o644), os.WriteFile(plan, overlay, 0o644)); err != nil {
		return verdict{err: err}
	}
	for _, pkg := range m.pkgs() {
		out, err := r.test(pkg, m.test, plan, m.race)
		switch {
		case err == nil:
		case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
			return verdict{err: fmt.Errorf("does not compile:\n%s", tail(out))}
		default:
			return judge(out)
		}
	}
	return verdict{}
}

// test runs tests of a package, all if named is "", and returns their output.
// Where CI is set a test that lacks what it needs fails: one that is skipped would
// notice nothing.
func (r runner) test(pkg, named, overlay string, race bool) (string, error) {
	patience := max(minPatience, r.patience[pkg])
	args := []string{"test", "-vet=off", "-count=1", "-failfast", "-v", "-timeout=" + patience.String()}
	if r.skip != "" {
		args = append(args, "-skip="+r.skip)
	}
	if named != "" {
		args = append(args, "-run="+named)
	}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	if race {
		args = append(args, "-race")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience) // for go itself
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "CI=true")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	within  = regexp.MustCompile(`(?m)^    --- FAIL: (\S+)`)
	begun   = regexp.MustCompile(`(?m)^=== (?:RUN|CONT) +(\S+)`)
)

// judge finds in the output of a failed run the first test that failed, and how it
// failed.
func judge(out string) verdict {
	var v verdict
	if m := failure.FindStringSubmatchIndex(out); m != nil {
		v.by = out[m[2]:m[3]]
		if sub := within.FindStringSubmatch(out); sub != nil && strings.HasPrefix(sub[1], v.by+"/") {
			v.by = sub[1]
		}
	} else if all := begun.FindAllStringSubmatch(out, -1); len(all) > 0 {
		v.by, _, _ = strings.Cut(all[len(all)-1][1], "/") // it took the process with it
	} else {
		v.by = "the tests' start"
	}
	switch {
	case strings.Contains(out, "panic: test timed out"):
		v.how = "hangs"
	case strings.Contains(out, "deadlock:"):
		v.how = "deadlock"
	case strings.Contains(out, "WARNING: DATA RACE"):
		v.how = "data race"
	case strings.Contains(out, "fatal error:"), strings.Contains(out, "\npanic: "):
		v.how = "panic"
	}
	return v
}

// tail returns the end of an output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
