package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// A job with sql runs its statements on the database that its environment names, and fails with what the server says.
func TestStatementIsJob(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t (a, b); insert into t values (1, 'x'), (2, null)"); err != nil {
		t.Fatal(err)
	}
	job := func(text string) string {
		return "[[job]]\nname = 'a'\nschedule = '@reboot'\nsql = \"" + text + "\"\ndsn = '$SHOP'\nenv = { SHOP = '" + path + "' }\n"
	}
	p := startTOML(t, job("delete from t where a = 1"))
	p.until("rows changed: 1", "stream", "stdout")
	p.until("run ended", "outcome", "ok")
	p = startTOML(t, job("select * from t"))
	p.until("a\tb", "stream", "stdout")
	p.until("2\tNULL", "stream", "stdout")
	p.until("run ended", "outcome", "ok")
	p = startTOML(t, job("select * from nothing"))
	p.until("run ended", "outcome", "failed", "exit", 1)
}

// On PostgreSQL statements are one transaction, and each is answered.
func TestStatementOnPostgres(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	stdout, stderr, code := output(t, "create table t (a int, b text); insert into t values (1, E'x\\ty'), (2, null); select * from t order by a; select 1 as c where false",
		"sql", dsn)
	want := "CREATE TABLE\nINSERT 0 2\na\tb\n1\tx\\ty\n2\tNULL\n(no rows)\n"
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("exit code %d: %s\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	_, stderr, code = output(t, "insert into t values (3); select 1/0", "sql", dsn)
	if code != exitMistake || stderr != "executord: division by zero (22012)\n" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if stdout, _, _ = output(t, "select count(*) from t", "sql", dsn); !strings.HasSuffix(stdout, "\n2\n") {
		t.Errorf("the statement before the failed one has stayed: %s", stdout)
	}
}

// A database that is not there, a variable that is not set, and no statement are mistakes without passwords.
func TestStatementRefuses(t *testing.T) {
	for _, test := range []struct{ dsn, text, want string }{
		{"/no/such.db", "select 1", "database /no/such.db does not exist"},
		{"$NO_SUCH_NAME", "select 1", "the variable NO_SUCH_NAME is not set"},
		{"postgres://me:geheim@127.0.0.1:1/x?connect_timeout=1", "select 1", "failed to connect to "},
		{"postgres://me:geheim@127.0.0.1:1/x?sslmode=what", "select 1", "cannot parse "},
		{"x", " ", "the input has no statement"},
	} {
		_, stderr, code := output(t, test.text, "sql", test.dsn)
		if code != exitMistake || !strings.HasPrefix(stderr, "executord: "+test.want) || strings.Contains(stderr, "geheim") {
			t.Errorf("%s: exit code %d: %s", test.dsn, code, stderr)
		}
	}
}
