//go:build unix

package stores

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// password is to be found in the URL of a database, and nowhere else.
const password = "Tr0ub4dor%233"

// opened opens a store as a daemon does, or as a command that visits it, and returns what is said of it.
func opened(t *testing.T, name string, daemon bool) string {
	t.Helper()
	o := Options{Wait: 50 * time.Millisecond}
	store, _, err := Open(t.Context(), name, o)
	if daemon {
		store, _, _, err = OpenForNode(t.Context(), name, o)
	}
	if err != nil {
		return err.Error()
	}
	store.Close()
	return ""
}

// A store that cannot be used is an error that says why, and is left as it is. Only a daemon makes one. What may be a
// password is not in it.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, fifo, dangling := file("tab", "@daily true\n"), filepath.Join(dir, "fifo"), filepath.Join(dir, "dangling.db")
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec("create table mine (x)")
	for _, err := range []error{err, syscall.Mkfifo(fifo, 0o600), os.Symlink(filepath.Join(dir, "elsewhere"), dangling)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const (
		visit, daemon = false, true
		unread        = "the store's URL cannot be read: "
		character     = "a character such as % # / ? @ in the password is written as %25 %23"
		unknown       = "the store looks like a URL of an unknown kind: name a file"
		kind          = "the store is neither a file, a PostgreSQL database nor a cluster: name a file"
		pair          = "the store looks like the key=value form of a database's name: write it as a URL"
		none          = "store % does not exist; check the name, or create it with executord run --store"
		me            = "the store postgres://me@127.0.0.1:1/x: "
	)
	for _, test := range []struct {
		daemon      bool
		store, want string // % is the store
	}{
		{visit, filepath.Join(dir, "none.db"), none},
		{visit, file("empty.db", ""), "the store % is empty: no daemon has used it"},
		{visit, foreign, "% is not a store: it is an SQLite file that no daemon has used"},
		{visit, text, "% is not a store: it is not an SQLite file"},
		{daemon, text, "% is not a store: it is not an SQLite file"},
		{visit, dir, "the store % is a directory: name a file in it"},
		{daemon, dir, "the store % is a directory: name a file in it"},
		{daemon, dir + "/no/jobs.db", "the store % cannot be created: the directory " + dir + "/no does not exist"},
		{daemon, dangling, "the store % cannot be created: it is a link to a file that is not there"},
		{visit, fifo, "the store % is neither a file nor a directory"},
		{daemon, fifo, "the store % is neither a file nor a directory"},
		{daemon, "/dev/null", "the store % is neither a file nor a directory"},
		{daemon, "", "the name of the store is empty: name a file"},
		{daemon, "mysql://me:" + password + "@db/x", kind},
		{daemon, ":memory:", kind},
		{daemon, "file:jobs.db", kind},
		{daemon, "host=db password=" + password, pair},
		{daemon, "host=/tmp password=" + password, pair},
		{daemon, "postgres://me:a#b/c@db/x", unread + "the port must be a number; if what is in its place belongs to the password, " + character},
		{daemon, "postgres://me:a%zz@db/x", unread + character},
		{daemon, "postgres://me:" + password + "@db:notaport/x", unread + "the port must be a number; "},
		{visit, "postgres://me:1/" + password + "@127.0.0.1:1/x", unread + character},
		{visit, "postgres://me:1@" + password + "@127.0.0.1:1/x", unread + character},
		{visit, "postgres://me:1?" + password + "@127.0.0.1:1/x", unread + character},
		{daemon, "postgres:/me:" + password + "@db/x", unknown},
		{daemon, "postgres//me:" + password + "@db/x", unknown},
		{visit, "postgresql:me:" + password + "@db/x", unknown},
		{visit, "me:" + password + "@db/x", unknown},
		{visit, "postgres:/db/x?user=me&password=" + password, unknown},
		{visit, "db/x?sslmode=require&sslpassword=" + password, unknown},
		{visit, "./x?password=y.db", none},
		{visit, "./me:x@db.db", none},
		{visit, dir + "/me:x@db.db", none},
		{visit, "backup-12:00.db", none},
		{visit, dir + "/a=b c.db", none},
		{visit, "./a=b c.db", none},
		{daemon, "postgres://me:" + password + "@127.0.0.1:1/x", me},
		{visit, "postgres://me:" + password + "@127.0.0.1:1/x", me},
		{daemon, "postgres://me:" + password + "@127.0.0.1:1/x?sslmode=funny", me},
		{daemon, "postgres://me:old@127.0.0.1:1/x?password=" + password + "&connect_timeout=never", me},
		{visit, "postgres://me@127.0.0.1:1,127.0.0.1:2/x?password=" + password + "&sslmode=funny", "the store postgres://me@127.0.0.1:1,127.0.0.1:2/x: "},
	} {
		got, want := opened(t, test.store, test.daemon), strings.Replace(test.want, "% ", test.store+" ", 1)
		if strings.HasPrefix(test.want, unread) {
			want = test.want
		}
		plain, _ := url.PathUnescape(password)
		if !strings.HasPrefix(got, want) || strings.Contains(got, password) || strings.Contains(got, plain) {
			t.Errorf("%s, by a daemon: %v: %q, want %q", test.store, test.daemon, got, want)
		}
	}
	for _, name := range []string{"none.db", "no", "elsewhere"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	tables := 0
	if err := db.QueryRow("select count(*) from sqlite_master").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("the foreign file has %d tables now, error %v", tables, err)
	}
}

// Only its user may read or write a store that a daemon makes.
func TestOpenForNodeMakesPrivateFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "jobs.db")
	store, _, _, err := OpenForNode(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, suffix := range []string{"", "-wal", "-shm", nodesSuffix} {
		if info, err := os.Stat(name + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("jobs.db%s: %v, %v", suffix, info, err)
		}
	}
}

// A log that somebody else has put beside a store is refused: SQLite would take it for a part of the store.
func TestOpenRefusesPlantedLog(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	name := filepath.Join(t.TempDir(), "jobs.db")
	if got := opened(t, name, true); got != "" {
		t.Fatal(got)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal", nodesSuffix} {
		planted := name + suffix
		os.WriteFile(planted, nil, 0o600)
		if got := opened(t, name, false); got != "" {
			t.Errorf("%s of root: %s", suffix, got)
		}
		os.WriteFile(planted, nil, 0o600)
		if err := os.Chown(planted, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("the store %s: the file %s beside it belongs to user 4711, and would change what is in it", name, planted)
		for _, daemon := range []bool{true, false} {
			if got := opened(t, name, daemon); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q", suffix, got)
			}
		}
		os.Remove(planted)
		if err := os.Symlink("/etc/hostname", planted); err != nil {
			t.Fatal(err)
		}
		if got := opened(t, name, true); !strings.Contains(got, planted+" beside it is not a file") {
			t.Errorf("%s is a link: %q", suffix, got)
		}
		os.Remove(planted)
	}
}
