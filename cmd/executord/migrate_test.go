//go:build unix

package main

import (
	"database/sql"
	"strings"
	"testing"
)

// migrate makes the tables of a store, which the commands can visit then, and says so again when there is nothing to
// do.
func TestMigrateMakesStore(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		if _, _, code := output(t, "", "jobs", "--store", store); code != exitMistake {
			t.Errorf("before: exit code %d", code)
		}
		for range 2 {
			stdout, stderr, code := output(t, "", "migrate", "--store", store)
			if code != exitOK || !strings.HasSuffix(stdout, ": up to date\n") || stderr != "" {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
		}
		asked(t, store, "jobs")
	})
}

// What migrate --sql prints is what has to be done, and nothing once that was done. It changes nothing itself.
func TestMigrateSQL(t *testing.T) {
	store := database(t)
	script, stderr, code := output(t, "", "migrate", "--sql", "--store", store)
	if code != exitOK || !strings.Contains(script, "create table executor_job") || stderr != "" {
		t.Fatalf("exit code %d, %q, %q", code, script, stderr)
	}
	if _, _, code := output(t, "", "jobs", "--store", store); code != exitMistake {
		t.Errorf("it made the store: exit code %d", code)
	}
	db, err := sql.Open("pgx", store+"&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	asked(t, store, "jobs")
	if stdout, stderr, code := output(t, "", "migrate", "--sql", "--store", store); stdout+stderr != "" || code != exitOK {
		t.Errorf("afterwards: exit code %d, %q, %q", code, stdout, stderr)
	}
}

// Migrate names what it was not asked for, or cannot do.
func TestMigrateMistakes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, "migrate needs a store"},
		{"--store=", exitUsage, "--store is empty"},
		{"--sql --store=jobs.db", exitUsage, "--sql is for PostgreSQL"},
		{"--sql --store=postgres://app:secret@db.invalid/app", exitMistake, "sslmode"},
		{"more", exitUsage, `migrate takes no arguments, but got "more"`},
	} {
		stdout, stderr, code := output(t, "", append([]string{"migrate"}, strings.Fields(test.args)...)...)
		if code != test.code || !strings.Contains(stderr, test.want) || stdout != "" || strings.Contains(stderr, "secret") {
			t.Errorf("%q: exit code %d, %q, %q", test.args, code, stdout, stderr)
		}
	}
}
