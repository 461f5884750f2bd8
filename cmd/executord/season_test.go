//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A due time that does not count runs nothing, and is in the log and in the history; run-now runs the job all the same.
func TestExcludedTimesRunNothing(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := start(t, "# name: a\n# except: mon-sun, 12-25\n@every 200ms true\n# name: rare\n# except: mon-sun\n@every 1h true\n# name: boot\n# until: 2020-12-31\n@reboot true\n", "--store", store)
	p.until("run excluded", "job", "boot", "reason", "it is after 2020-12-31")
	p.until("run excluded", "job", "a", "reason", "except mon-sun")
	if stdout, stderr, code := output(t, "", "runs", "a", "--store", store); code != 0 || !strings.Contains(stdout, "excluded") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if p.count("run started") > 0 {
		t.Error("a run was started")
	}
	if _, stderr, code := output(t, "", "run-now", "rare", "--store", store); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	p.until("run started", "job", "rare")
	p.end()
}

// check and next leave out what does not count, and check notes a file of exceptions that is not there.
func TestCheckLeavesOutExceptions(t *testing.T) {
	stdout, stderr, code := output(t, "CRON_TZ=UTC\n# except: 2027-01-02, 01-04..01-05, /no/such/holidays\n# until: 2027-01-07\n0 4 * * * true\n", "next", "-", "--from", "2027-01-01")
	want := `
DUE                             ZONE  JOB   NOTE
Fri 2027-01-01 04:00:00 +00:00  UTC   true
Sun 2027-01-03 04:00:00 +00:00  UTC   true
Wed 2027-01-06 04:00:00 +00:00  UTC   true
Thu 2027-01-07 04:00:00 +00:00  UTC   true
`
	if got := "\n" + stdout; got != want || code != 0 || stderr != "" {
		t.Errorf("exit code %d %s\ngot:%s\nwant:%s", code, stderr, got, want)
	}
	_, stderr, code = output(t, "# except: /no/such/holidays\n0 4 * * * true\n", "check", "-")
	if code != 0 || !strings.HasPrefix(stderr, "stdin:2: note: not all exceptions of true can be read: open /no/such/holidays: ") {
		t.Errorf("exit code %d %s", code, stderr)
	}
}
