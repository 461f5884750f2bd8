//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// hostile are forms in which somebody may name a database, most of them wrong, with a password at %s.
var hostile = []string{
	"postgres://me:%s@127.0.0.1:1/db", "postgresql://me:%s@127.0.0.1:1/db?sslmode=disable", "postgres://me:%s@127.0.0.1:1,127.0.0.1:2/db",
	"postgres://127.0.0.1:1/db?user=me&password=%s", "postgres://me@127.0.0.1:1/db?sslpassword=%s&password=%s", "postgres:///db?password=%s&host=/nosuch",
	"postgres:/me:%s@h/db", "postgres:me:%s@h/db", "postgres//me:%s@h/db", "//me:%s@h/db", "/me:%s@h/db", "/srv/me:%s@h/db", "./me:%s@h/db",
	"me:%s@h/db", "me:%s@h", "http://me:%s@h/db", "mysql://me:%s@tcp(h)/db", "POSTGRES://me:%s@h/db", "jdbc:postgresql://h/db?user=me&password=%s",
	"postgres://me:a@%s@h/db", "postgres://me:a/%s@h/db", "postgres://me:a?%s@h/db", "postgres://me:a#%s@h/db", "postgres://me:%%zz%s@h/db",
	"postgres://me:a:%s@h:1/db", "postgres://me:a %s@h/db", "postgres://me:%s@h:port/db", "postgres://me:%s@[::1/db", "postgres://me:%s@",
	"host=h password=%s dbname=x", "host=h password = %s", "host=h password='%s'", "host=h password='a %s' user=me", "password=%s", "PASSWORD=%s",
	"PGPASSWORD=%s", "passwd=%s", "user=me;password=%s", "file:x?password=%s", "jobs.db?password=%s", "\"postgres://me:%s@h/db\"",
	" postgres://me:%s@h/db", "postgres://me:%s@h/db\n", "\x1b[2Jpostgres://me:%s@h/db",
}

// No output has a password in it that was on the command line, wherever that was and in whatever form.
func TestHostileCommandLinesHideSecret(t *testing.T) {
	t.Parallel()
	tab := write(t, "tab", "# name: a\n@daily true\n")
	const secret = "hunter2"
	places := [][]string{
		{"%s"}, {"check", "%s"}, {"run", "%s"}, {"run", tab, "%s"}, {"run", tab, "--store", "%s"}, {"run", tab, "--store=%s"},
		{"run", tab, "--namespace", "%s"}, {"run", tab, "--lease", "%s"}, {"run", tab, "--log", "%s"}, {"run", tab, "--%s"},
		{"jobs", "--store", "%s"}, {"jobs", "--store", "nosuch.db", "%s"}, {"jobs", "--namespace", "%s"}, {"runs", "-n", "%s"},
		{"cancel", "%s"}, {"cancel", "a", "--store", "%s"}, {"help", "%s"}, {"version", "%s"}, {"check", tab, "--format", "%s"},
	}
	if os.Getenv("EXECUTOR_LONG") == "" {
		places = [][]string{{"check", "%s"}, {"run", tab, "--store", "%s"}, {"cancel", "%s"}}
	}
	var lines [][]string
	for _, form := range hostile {
		name := strings.ReplaceAll(strings.ReplaceAll(form, "%s", secret), "%%", "%")
		for _, place := range places {
			line := slices.Clone(place)
			for i, arg := range line {
				line[i] = strings.ReplaceAll(arg, "%s", name)
			}
			lines = append(lines, line)
		}
	}
	printed, answers := inTurn(t, executord(t), lines)
	if strings.Contains(printed, secret) {
		t.Errorf("printed: %q", printed)
	}
	for i, a := range answers {
		if a.code == exitOK || strings.Contains(a.said, secret) {
			t.Errorf("%q: exit code %d, %q", lines[i], a.code, a.said)
		}
		harmless(t, fmt.Sprintf("%q", lines[i]), strings.ReplaceAll(a.said, "\t", "")) // the driver's
	}
}
