//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onEachStore runs a test on a file and on PostgreSQL, beside all others: most of its time it waits.
func onEachStore(t *testing.T, test func(t *testing.T, store string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, newStoreFile(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); test(t, database(t)) })
}

// newStoreFile returns the name of a store that is not there yet.
func newStoreFile(t *testing.T) string { return filepath.Join(t.TempDir(), "jobs.db") }

// rows opens the database of a store, for what no command does.
func rows(t *testing.T, store string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(store, "postgres:") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// asked runs one of the commands that visit a store, which has to succeed, and
// returns the objects that it prints.
func asked(t *testing.T, store string, args ...string) []map[string]any {
	t.Helper()
	stdout, stderr, code := output(t, "", append(args, "--store", store, "--json")...)
	if code != 0 || stderr != "" {
		t.Fatalf("%q: exit code %d, stderr %q", args, code, stderr)
	}
	var all []map[string]any
	for in := json.NewDecoder(strings.NewReader(stdout)); in.More(); {
		var one map[string]any
		if err := in.Decode(&one); err != nil {
			t.Fatalf("%q prints %q: %v", args, stdout, err)
		}
		all = append(all, one)
	}
	return all
}

// wantAnswer runs one of the commands that act on a store, and wants what it says.
func wantAnswer(t *testing.T, store string, code int, want string, args ...string) {
	t.Helper()
	stdout, stderr, got := output(t, "", append(args, "--store", store)...)
	if all := stdout + stderr; got != code || !strings.HasPrefix(all, want) ||
		strings.Count(all, "\n") > 1 && !strings.Contains(want, "\n") {
		t.Errorf("%q: exit code %d, %q; want %d, %q", args, got, all, code, want)
	}
}

// jobNamed returns what jobs says of a job.
func jobNamed(t *testing.T, store, name string) map[string]any {
	t.Helper()
	for _, j := range asked(t, store, "jobs", "--all") {
		if j["job"] == name {
			return j
		}
	}
	t.Fatalf("%s is not in the store", name)
	return nil
}

// untilState waits until jobs says that a job is in a state. What the daemon does
// to a store others only get to know by asking.
func untilState(t *testing.T, store, name, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got := jobNamed(t, store, name)["state"]
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %v, and does not come to be %s", name, got, want)
		}
	}
}

// longEnough is the lease of a daemon that is to be killed before the lease ends. One
// that loses it, as may be on a busy machine, releases its runs: then none is lost.
const longEnough = "8s"

// end ends a daemon in order, which has to succeed.
func (p *process) end() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.t.Errorf("exit code %d", code)
	}
}

// starts returns the times at which the runs of a job were due that were started.
func (p *process) starts(job string) []time.Time {
	var all []time.Time
	for _, l := range p.log {
		if l.is("run started", "job", job) {
			all = append(all, instant(p.t, l, "due"))
		}
	}
	return all
}

// counted returns the sum of the counts in the lines that are so.
func (p *process) counted(msg string, attrs ...any) int {
	n := 0
	for _, l := range p.log {
		if l.is(msg, attrs...) {
			n += int(l["count"].(float64))
		}
	}
	return n
}

// jobsIn returns the names of the jobs that the lines of JSON are about, sorted.
func jobsIn(t *testing.T, text string) (names []string) {
	t.Helper()
	for in := json.NewDecoder(strings.NewReader(text)); in.More(); {
		var one struct{ Job string }
		if err := in.Decode(&one); err != nil {
			t.Fatal(err)
		}
		names = append(names, one.Job)
	}
	slices.Sort(names)
	return names
}
