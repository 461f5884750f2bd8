//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const completedTab = "# name: backup\n30 2 * * * true\n# name: bake\n@hourly true\n@daily a-sync\n@weekly b-sync; a-sync\n# name: sync\n@monthly true\n"

// completions returns what a command line is completed by, without descriptions, and whether the shell may complete
// names of files.
func completions(t *testing.T, line string) (names string, files bool) {
	t.Helper()
	out, err := here(append([]string{"__complete"}, strings.Split(line, " ")...)...)
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	list, directive, _ := strings.Cut("\n"+out, "\n:")
	for one := range strings.Lines(list[min(1, len(list)):]) {
		name, _, _ := strings.Cut(strings.TrimSuffix(one, "\n"), "\t")
		names += name + " "
	}
	return strings.TrimSpace(names), strings.TrimSpace(directive) == "0"
}

// The names of jobs are those of the file on the command line, or of the store, and none is offered twice; --set is
// completed by the parameters of the job, and by the values that it may have. Where
// there is nothing to ask, there are none, and no complaint. Names of files are completed where files are meant alone.
func TestCompletionOfArguments(t *testing.T) {
	t.Parallel()
	tab, store, at := write(t, "tab", completedTab), newStoreFile(t), "unix:"+filepath.Join(t.TempDir(), "s")
	channels := write(t, "jobs.toml", "[notify.ops]\nmail = \"root\"\n\n[notify.pager]\ncommand = [\"true\"]\n"+
		"[[job]]\nname = 'report'\nschedule = '@daily'\ncommand = 'true'\nparameters = { DAY = 'today', REGION = { default = 'eu', values = ['eu', 'us'] } }\n")
	p := startFile(t, tab, channels, "--store", store, "--namespace", "n", "--listen", at)
	p.until("job scheduled", "job", "report")
	const all = "a-sync b-sync backup bake report sync"
	set := "run-now --store " + store + " report --set "
	for _, c := range []struct {
		line, want string
		files      bool
	}{
		{"run ", "", true},
		{"run " + tab + " ", "", true},
		{"check --store ", "", true},
		{"run --log ", "auto short text json", false},
		{"run --drain-timeout ", "", false},
		{"next ", "", true},
		{"next " + tab + " ", "backup bake a-sync b-sync sync", false},
		{"next " + tab + " bake ", "backup a-sync b-sync sync", false},
		{"next " + write(t, "tab", "a mistake") + " ", "", false},
		{"next /nowhere ", "", false},
		{"pause --store " + store + " ", all, false},
		{"run-now --store " + store + " sync ", strings.TrimSuffix(all, " sync"), false},
		{"pause --store /nowhere ", "", false},
		{"runs --at " + at + " ", all, false},
		{"logs --at " + at + " ", all, false},
		{"logs --at " + at + " bake ", "", false},
		{"logs --at unix:/nowhere ", "", false},
		{set, "DAY= REGION=", false},
		{set + "REGION=", "REGION=eu REGION=us", false},
		{set + "DAY=", "DAY=today", false},
		{set + "NONE=", "", false},
		{"run-now --store " + store + " --set ", "", false},
		{"run-now --store " + store + " none --set ", "", false},
		{"notify test ", "", true},
		{"notify test " + channels + " ", "ops pager", false},
		{"explain ", "", false},
		{"completion ", "bash zsh fish", false},
	} {
		if got, files := completions(t, c.line); got != c.want || files != c.files {
			t.Errorf("%s\n got %q, files %v\nwant %q, files %v", c.line, got, files, c.want, c.files)
		}
	}
	p.end()
}

// The scripts complete in their shells commands, flags and names of jobs.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\n%s=1 GORACE=atexit_sleep_ms=0 exec '%s' \"$@\"\n", mainVariable, os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "executord"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	tab := write(t, "tab", completedTab)
	const bashFunctions = "/usr/share/bash-completion/bash_completion"
	for shell, script := range map[string]string{
		// What the tab key does: readline sets these variables, and calls the function. compopt works under readline
		// alone.
		"bash": "source " + bashFunctions + `; source <(executord completion bash); compopt() { :; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=37 COMP_KEY=9
read -ra COMP_WORDS <<<"$1"; [[ $1 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__start_executord; printf '%s\n' "${COMPREPLY[@]}"`,
		// The function of a completion fills an array, of which _describe shows what fits the word.
		"zsh": `compdef() { :; }; source <(executord completion zsh)
_describe() { local a; for a in $completions; do [[ $a != ${words[CURRENT]}* ]] || print -r -- ${a%%:*}; done }
words=(${(s: :)1}); [[ $1 != *' ' ]] || words+=(''); CURRENT=$#words
_executord`,
		"fish": `executord completion fish | source; complete -C $argv[1] | string replace -r '\t.*' ''`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			if _, err := os.Stat(bashFunctions); shell == "bash" && err != nil {
				t.Skip("the package bash-completion is missing:", err)
			}
			for line, want := range map[string]string{
				"executord pa":                       "pause",
				"executord run --drain":              "--drain-timeout",
				"executord next " + tab + " ba":      "backup bake",
				"executord next " + tab + " backup ": "bake a-sync b-sync sync",
			} {
				args := []string{"-c", script, shell, line}
				if shell == "fish" {
					args = []string{"--no-config", "-c", script, line}
				}
				cmd := exec.Command(path, args...)
				cmd.ExtraFiles = lifeline(t)
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				got := strings.Fields(string(out))
				if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(strings.Fields(want)))) {
					t.Errorf("%q: got %q, want %q, error %v", line, got, want, err)
				}
			}
		})
	}
}
