//go:build unix

package main

import (
	"errors"
	"strings"
	"testing"
)

// migrate makes the tables of a store, which the commands can visit then, and says so again when there is nothing to
// do. What migrate --sql prints is what has to be done, and nothing once that was done: it changes nothing itself.
func TestMigrateMakesStore(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		if strings.HasPrefix(store, "postgres:") {
			script, err := here("migrate", "--sql", "--store", store)
			if err != nil || !strings.Contains(script, "create table executor_job") {
				t.Fatalf("%v, %q", err, script)
			}
			if _, err := here("jobs", "--store", store); err == nil {
				t.Error("it made the store")
			}
			if _, err := rows(t, store+"&default_query_exec_mode=simple_protocol").Exec(script); err != nil {
				t.Fatal(err)
			}
			if again, err := here("migrate", "--sql", "--store", store); again != "" || err != nil {
				t.Errorf("afterwards: %v, %q", err, again)
			}
		}
		for range 2 {
			if stdout, err := here("migrate", "--store", store); err != nil || !strings.HasSuffix(stdout, ": up to date\n") {
				t.Errorf("%v, %q", err, stdout)
			}
		}
		asked(t, store, "jobs")
	})
}

// migrate says what is wrong with a database, and does not show its password.
func TestMigrateRefusesUnverifiedServer(t *testing.T) {
	for _, args := range [][]string{{"migrate"}, {"migrate", "--sql"}, {"jobs"}} {
		stdout, err := here(append(args, "--store", "postgres://app:secret@db.invalid/app")...)
		if exit := new(exitError); !errors.As(err, &exit) || exit.code != exitMistake || !strings.HasPrefix(exit.text, "the store postgres://app@db.invalid/app: sslmode is not set") || stdout != "" {
			t.Errorf("%q: %v, %q", args, err, stdout)
		}
	}
}
