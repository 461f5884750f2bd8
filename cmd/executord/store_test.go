//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/stores"
)

// A store that may not be read or made is refused, with what to do; one that may be read alone is shown, and not changed.
func TestStoreRefusesWithoutRights(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := write(t, "tab", "# name: job\n@daily true\n")
	store, readable, missing := filepath.Join(dir, "jobs.db"), newStoreFile(t), filepath.Join(dir, "new.db")
	_, err := here("migrate", "--store", readable)
	for _, err := range []error{err, os.WriteFile(store, nil, 0), os.Chmod(dir, 0o555), os.Chmod(readable, 0o400)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	const owner = ": run executord as its owner\n"
	tests := []struct {
		args  []string
		store string
		code  int
		want  string
	}{
		{[]string{"run", file}, store, 1, "executord: the store " + store + ": it may not be read, or the directory it is in" + owner},
		{[]string{"run", file}, missing, 1, "executord: the store " + missing + " cannot be created: executord may not create a file in the directory " + dir +
			": run it as the owner of that, or name a file in another\n"},
		{[]string{"jobs"}, readable, 0, "no jobs\n"},
		{[]string{"run", file}, readable, 1, "executord: the store " + readable + ": it cannot be written, or the directory it is in" + owner},
	}
	var lines [][]string
	for _, test := range tests {
		lines = append(lines, append(test.args, "--store", test.store))
	}
	_, answers := inTurn(t, withoutPowers(t, executord(t)), lines)
	for i, a := range answers {
		if a.said != tests[i].want || a.code != tests[i].code {
			t.Errorf("%q: %+v, want %s", lines[i], a, tests[i].want)
		}
	}
}

// visited opens a database as a command does, or as a daemon, and returns what is said of it.
func visited(t *testing.T, name string, create bool) string {
	t.Helper()
	opened, _, err := stores.Open(t.Context(), name, stores.Options{Create: create, Wait: databaseWait})
	if err != nil {
		return err.Error()
	}
	opened.Close()
	return ""
}

// A database that is not there, or has no tables, is an error without the password. A server that is named first and says
// nothing does not keep a command from the next.
func TestStoreHidesPassword(t *testing.T) {
	t.Parallel()
	name := database(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	behind := strings.Replace(name, "@", fmt.Sprintf("@127.0.0.1:%d,", silent.Addr().(*net.TCPAddr).Port), 1)
	for _, test := range []struct {
		store  string
		create bool
		want   string
	}{
		{strings.Replace(name, "/postgres?", "/nobody?", 1), true, `database "nobody" does not exist`},
		{name, false, "has no executord tables; run executord migrate"},
		{behind, false, "has no executord tables"},
	} {
		got := visited(t, test.store, test.create)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.store, got, test.want)
		}
		hides(t, test.store, got)
	}
}

// Tables that belong to somebody else are refused, be they tables or views, and nothing is written to them; those of
// a role that the user belongs to are not.
func TestStoreRefusesForeignTables(t *testing.T) {
	t.Parallel()
	name := database(t)
	if got := visited(t, name, true); got != "" {
		t.Fatal(got)
	}
	schema, db := name[strings.LastIndex(name, "=")+1:], rows(t, name)
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
	want := func(create bool, want string) {
		t.Helper()
		if got := visited(t, asApp, create); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	belongs := " belongs to " + attacker + ", who could choose the commands that are run"
	want(false, "") // those of the superuser
	exec("alter table executor_job owner to " + attacker)
	want(true, "the table executor_job"+belongs)
	want(false, "the table executor_job"+belongs)
	exec("alter table executor_job owner to postgres")
	exec("alter table executor_run owner to " + attacker)
	want(false, "the table executor_run"+belongs)
	exec("grant " + attacker + " to " + app)
	want(false, "") // those of a role of the user
}
