//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All commands refuse it, before they send anything.
func TestStoreRefusesUnverifiedServer(t *testing.T) {
	t.Parallel()
	tab := write(t, "tab", "# name: a\n@daily true\n")
	for _, args := range [][]string{{"run", tab}, {"jobs"}, {"cancel", "a"}} {
		_, stderr, code := output(t, "", append(args, "--store", "postgres://me:"+password+"@192.0.2.1/x")...)
		if code != exitMistake || !strings.Contains(stderr, "executord: the store postgres://me@192.0.2.1/x: sslmode is not set") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
}

// Tables that belong to somebody else are refused, be they tables or views, and nothing is written to them; those of
// a role that the user belongs to are not.
func TestStoreRefusesForeignTables(t *testing.T) {
	t.Parallel()
	name := database(t)
	tab := write(t, "tab", "# name: a\n@daily true\n")
	p := startFile(t, tab, "--store", name)
	p.until("job scheduled")
	p.end()

	schema := name[strings.LastIndex(name, "=")+1:]
	db, err := sql.Open("pgx", name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	app, attacker := schema+"_app", schema+"_attacker"
	for _, role := range []string{app, attacker} {
		exec("drop role if exists " + role)
		exec("create role " + role + " login")
		exec("grant all on schema " + schema + " to " + role)
	}
	t.Cleanup(func() {
		for _, role := range []string{app, attacker} {
			db.Exec("drop owned by " + role + "; drop role " + role)
		}
	})
	exec("grant all on all tables in schema " + schema + " to public")
	exec("grant all on all sequences in schema " + schema + " to public")
	asApp := strings.Replace(name, "postgres:"+password, app+":"+password, 1)
	if _, stderr, code := output(t, "", "jobs", "--store", asApp); code != exitOK {
		t.Errorf("tables of the superuser: exit code %d, %s", code, stderr)
	}
	exec("alter table executor_job owner to " + attacker)
	for _, args := range [][]string{{"run", tab}, {"jobs"}} {
		_, stderr, code := output(t, "", append(args, "--store", asApp)...)
		want := fmt.Sprintf("the table executor_job belongs to %s, who could choose the commands that are run", attacker)
		if code != exitMistake || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
	exec("alter table executor_job owner to postgres")
	exec("alter table executor_run owner to " + attacker)
	if _, stderr, code := output(t, "", "notices", "--store", asApp); code != exitMistake || !strings.Contains(stderr, "the table executor_run belongs to "+attacker) {
		t.Errorf("runs of another: exit code %d, %s", code, stderr)
	}
	exec("grant " + attacker + " to " + app)
	if _, stderr, code := output(t, "", "jobs", "--store", asApp); code != exitOK {
		t.Errorf("tables of a role of the user: exit code %d, %s", code, stderr)
	}
}

// A log that somebody else has put beside a store is refused: SQLite would take it for a part of the store.
func TestStoreRefusesPlantedLog(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	t.Parallel()
	tab := write(t, "tab", "# name: a\n@daily true\n")
	store := newStoreFile(t)
	p := startFile(t, tab, "--store", store)
	p.until("job scheduled")
	p.end()
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		planted := store + suffix
		if err := os.WriteFile(planted, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := output(t, "", "jobs", "--store", store); code != exitOK {
			t.Errorf("%s of root: exit code %d, %s", suffix, code, stderr)
		}
		os.WriteFile(planted, nil, 0o600)
		if err := os.Chown(planted, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"run", tab}, {"jobs"}} {
			_, stderr, code := output(t, "", append(args, "--store", store)...)
			want := "the file " + planted + " beside it belongs to user 4711, and would change what is in it"
			if code != exitMistake || !strings.Contains(stderr, want) {
				t.Errorf("%q, %s: exit code %d, %q", args, suffix, code, stderr)
			}
		}
		os.Remove(planted)
		if err := os.Symlink("/etc/hostname", planted); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := output(t, "", "jobs", "--store", store); code != exitMistake || !strings.Contains(stderr, " is not a file") {
			t.Errorf("%s is a link: exit code %d, %q", suffix, code, stderr)
		}
		os.Remove(planted)
	}
}

// A store is not made where a link points to that somebody may have put there.
func TestStoreFollowsNoDanglingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, target := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "elsewhere")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := output(t, "", "run", write(t, "tab", "@daily true\n"), "--store", link)
	if code != exitMistake || !strings.Contains(stderr, "it is a link to a file that is not there") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("the file was made")
	}
}
