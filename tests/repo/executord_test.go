package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The example job files, and those that the manual and other pages of executord show, have no
// mistakes and nothing to note. Of an example a newcomer sees a job run within
// seconds.
func TestJobFilesAreRight(t *testing.T) {
	executord := filepath.Join(t.TempDir(), "executord")
	command(t, "go", "build", "-o", executord, "./cmd/executord")
	examples, _ := filepath.Glob("examples/jobs.*")
	if len(examples) != 2 {
		t.Errorf("examples: %q", examples)
	}
	for _, example := range examples {
		table := checkJobs(t, executord, example)
		if jobs := regexp.MustCompile(`(?m)^[a-z-]+ +\d+ `).FindAllString(table, -1); len(jobs) < 3 {
			t.Errorf("%s has the jobs %q, want three or more", example, jobs)
		}
		if !regexp.MustCompile(` @every [1-3]s `).MatchString(table) {
			t.Errorf("%s: no job is due within seconds", example)
		}
	}
	block := regexp.MustCompile("(?ms)^```(crontab|toml)\n(.*?)^```$")
	for _, page := range []string{"docs/executord.md", "docs/tutorials/executord.md", "docs/how-to/docker.md", "docs/how-to/notify.md"} {
		shown := block.FindAllStringSubmatch(read(t, page), -1)
		for _, block := range shown {
			file := filepath.Join(t.TempDir(), "jobs."+block[1])
			if err := os.WriteFile(file, []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			checkJobs(t, executord, file)
		}
		if len(shown) == 0 {
			t.Errorf("%s shows no job files: are they read right?", page)
		}
	}
}

// checkJobs returns what executord check prints of a job file, which must have no
// mistake and nothing to note.
func checkJobs(t *testing.T, executord, file string) string {
	t.Helper()
	cmd := exec.Command(executord, "check", file)
	var notes strings.Builder
	cmd.Stderr = &notes
	table, err := cmd.Output()
	// The commands and directories of examples are missing here.
	missing := regexp.MustCompile(`(?m)^.*: note: .* cannot (?:run|be used) here and now: .*\n    .*\n    hint: .*\n`)
	if err != nil || missing.ReplaceAllString(notes.String(), "") != "" {
		t.Errorf("executord check %s: %v\n%s", file, err, notes.String())
	}
	return string(table)
}
