//go:build unix

package main

import (
	"path/filepath"
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

// The script of a shell is for that, and asks executord what a command line is completed by.
func TestCompletionScripts(t *testing.T) {
	for shell, begin := range map[string]string{
		"bash": "complete -o default -F __start_executord executord", "zsh": "compdef _executord executord", "fish": "complete -c executord ",
	} {
		script, err := here("completion", shell)
		if err != nil || !strings.Contains(script, "\n"+begin) && !strings.Contains(script, "    "+begin) || !strings.Contains(script, " __complete ") {
			t.Errorf("%s: %v, %.300s", shell, err, script)
		}
	}
}
