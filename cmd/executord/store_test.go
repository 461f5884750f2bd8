//go:build unix

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
)

// A store that cannot be used is an error that says why, and is left as it is.
// Only run makes one.
func TestStoreMustExist(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tab := file("tab", "@daily true\n")
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("create table mine (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()

	dangling := filepath.Join(dir, "dangling.db")
	if err := os.Symlink(filepath.Join(dir, "no", "x.db"), dangling); err != nil {
		t.Fatal(err)
	}

	jobs, run := []string{"jobs"}, []string{"run", tab}
	for _, test := range []struct {
		args  []string
		store string
		want  string // %s is the store
	}{
		{jobs, filepath.Join(dir, "none.db"), "store %s does not exist; check the name, or create it with executord run --store"},
		{[]string{"runs", "x"}, filepath.Join(dir, "none.db"), "store %s does not exist; check the name"},
		{[]string{"cancel", "x"}, filepath.Join(dir, "none.db"), "store %s does not exist; check the name"},
		{jobs, file("empty.db", ""), "the store %s is empty: no daemon has used it"},
		{jobs, foreign, "%s is not a store: it is an SQLite file that no daemon has used"},
		{jobs, tab, "%s is not a store: it is not an SQLite file"},
		{run, tab, "%s is not a store: it is not an SQLite file"},
		{jobs, dir, "the store %s is a directory: name a file in it"},
		{run, dir, "the store %s is a directory: name a file in it"},
		{run, dir + "/no/jobs.db", "the store %s cannot be created: the directory " + dir + "/no does not exist"},
		{run, "mysql://me:" + password + "@db/x", "the store is neither a file, a PostgreSQL database nor a cluster: name a file"},
		{run, ":memory:", "the store is neither a file, a PostgreSQL database nor a cluster: name a file"},
		{run, "file:jobs.db", "the store is neither a file, a PostgreSQL database nor a cluster: name a file"},
		{run, "host=db password=" + password, "the store looks like the key=value form of a database's name: write it as a URL"},
		{run, "postgres://me:a#b/c@db/x", "the store's URL cannot be read: the port must be a number; if what is in its place belongs to the password, a character such as %% # / ? @ in the password is written as %%25 %%23"},
		{run, "postgres://me:a%zz@db/x", "the store's URL cannot be read: a character such as %% # / ? @ in the password is written as %%25 %%23"},
		{run, "postgres://me:" + password + "@db:notaport/x", "the store's URL cannot be read: the port must be a number; if what is in its place belongs to the password, a character such as"},
		{run, "postgres://db:notaport/x", "the store's URL cannot be read: the port must be a number"},
		{run, "postgres:/me:" + password + "@db/x", "the store looks like a URL of an unknown kind: name a file"},
		{run, "postgres//me:" + password + "@db/x", "the store looks like a URL of an unknown kind: name a file"},
		{jobs, "postgresql:me:" + password + "@db/x", "the store looks like a URL of an unknown kind: name a file"},
		{jobs, "me:" + password + "@db/x", "the store looks like a URL of an unknown kind: name a file"},
		{jobs, "postgres:/db/x?user=me&password=" + password, "the store looks like a URL of an unknown kind: name a file"},
		{jobs, "db/x?sslmode=require&sslpassword=" + password, "the store looks like a URL of an unknown kind: name a file"},
		{jobs, "./x?password=y.db", "store %s does not exist; check the name"},
		{jobs, "./me:x@db.db", "store %s does not exist; check the name"},
		{jobs, dir + "/me:x@db.db", "store %s does not exist; check the name"},
		{jobs, "backup-12:00.db", "store %s does not exist; check the name"},
		{jobs, "postgres://me@127.0.0.1:1/x", "the store %s: "},
		{jobs, dir + "/a=b c.db", "store %s does not exist; check the name"},
		{jobs, "./a=b c.db", "store %s does not exist; check the name"},
		{run, "host=/tmp password=" + password, "the store looks like the key=value form of a database's name: write it as a URL"},
		{run, dangling, "the store %s cannot be created: it is a link to a file that is not there"},
	} {
		want := "executord: " + strings.ReplaceAll(strings.ReplaceAll(test.want, "%s", complaint.WithoutSecrets(test.store)), "%%", "%")
		_, stderr, code := output(t, "", append(test.args, "--store", test.store)...)
		if code != exitMistake || !strings.HasPrefix(stderr, want) || strings.Contains(stderr, password) {
			t.Errorf("%q on %s: exit code %d, %q; want %q", test.args, test.store, code, stderr, want)
		}
	}
	for _, name := range []string{"none.db", "no"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if db, err = sql.Open("sqlite", foreign); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := 0
	if err := db.QueryRow("select count(*) from sqlite_master").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("the foreign file has %d tables now, error %v", tables, err)
	}
}

// A directory that is there, but takes no files, is not said to be missing.
func TestStoreCannotBeCreated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	_, stderr, code := output(t, "", "run", write(t, "tab", "@daily true\n"), "--store", "/proc/x.db")
	if want := "executord: the store /proc/x.db cannot be created: no file can be created in the directory /proc\n"; code != exitMistake || stderr != want {
		t.Errorf("exit code %d, %q; want %q", code, stderr, want)
	}
}

// Without a store, the commands that need one say so, and the exit code is that
// of a wrong command line.
func TestStoreIsRequired(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"acts"}, {"jobs", "--store", ""}, {"runs", "--store", ""}} {
		if _, stderr, code := output(t, "", args...); code != exitUsage || !strings.Contains(stderr, "needs a store") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
	for _, args := range [][]string{
		{"run", "tab", "--store", ""},
		{"check", "tab", "--store", ""},
		{"run", "tab", "--namespace", "x"},
		{"run", "tab", "--lease", "10s"},
		{"run", "-", "--store", "x.db"},
		{"run", ".crontab", "--store", "x.db"},
		{"run", "tab", "--store", "x.db", "--namespace", "a/b"},
		{"run", "tab", "--store", "x.db", "--lease", "10ms"},
		{"run", "tab", "--store", "x.db", "--lease", "8761h"},
		{"runs", "--store", "x.db", "-n", "0"},
		{"cancel", "--store", "x.db"},
	} {
		if _, stderr, code := output(t, "", args...); code != exitUsage {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
}

// What is no regular file, and what goes by the number of a descriptor, has a
// name that the shell chose: no namespace is taken from it.
func TestRunNeedsNamespace(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "sh-np.Xq4z")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	regular, err := os.Open(write(t, "tab", "@daily true\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	for _, name := range []string{"/dev/stdin", "/dev/fd/0", "/dev/fd/4", "/dev/./fd/4", "/proc/self/fd/4", fifo} {
		// The directory of the store is not there: nothing is to run if it is not declined.
		cmd := executord(t, "run", name, "--store", filepath.Join(t.TempDir(), "no", "x.db"))
		cmd.ExtraFiles = append(cmd.ExtraFiles, regular) // 4
		var fail strings.Builder
		cmd.Stdin, cmd.Stderr = strings.NewReader("@daily true\n"), &fail
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(patience, func() { cmd.Process.Kill() }) // if it waits for a writer of the pipe
		cmd.Wait()
		stop.Stop()
		if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(fail.String(), "from the name "+name+": set --namespace") {
			t.Errorf("%s: exit code %d, %q", name, cmd.ProcessState.ExitCode(), &fail)
		}
	}
}

// A pipe or a device is no store, and no command waits for what it has to say.
func TestStoreRefusesPipe(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "jobs.db")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{fifo, "/dev/null"} {
		for _, args := range [][]string{{"jobs"}, {"run", write(t, "tab", "@daily true\n")}} {
			cmd := executord(t, append(args, "--store", store)...)
			var fail strings.Builder
			cmd.Stderr = &fail
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stop := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			cmd.Wait()
			stop.Stop()
			want := "executord: the store " + store + " is neither a file nor a directory\n"
			if code := cmd.ProcessState.ExitCode(); code != exitMistake || fail.String() != want {
				t.Errorf("%s: exit code %d, %q, want %q", args[0], code, &fail, want)
			}
		}
	}
}

// Only its user may read or write a store that run makes.
func TestStoreIsPrivate(t *testing.T) {
	t.Parallel()
	store := newStoreFile(t)
	p := start(t, "@daily true\n", "--store", store)
	p.until("job scheduled")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(store + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("jobs.db%s: %v", suffix, info.Mode())
		}
	}
	p.end()
}

// A store that can be read and not written is opened, and what writes to it says
// what to do.
func TestStoreReadOnly(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write whatever it likes")
	}
	store, file := newStoreFile(t), write(t, "tab", "# name: job\n@daily true\n")
	p := startFile(t, file, "--store", store)
	p.until("job scheduled")
	p.end()
	if err := os.Chmod(store, 0o400); err != nil {
		t.Fatal(err)
	}
	asked(t, store, "jobs")
	for _, args := range [][]string{{"run", file, "--namespace", "other"}, {"pause", "job"}, {"run-now", "job"}, {"cancel", "job"}} {
		_, stderr, code := output(t, "", append(args, "--store", store)...)
		if want := "executord: the store " + store + ": it cannot be written, or the directory it is in: run executord as its owner\n"; stderr != want || code != exitMistake {
			t.Errorf("%v: %d, %q", args, code, stderr)
		}
	}
}

// A store that may not be read or made is refused, with what to do.
func TestStoreRefusesWithoutRights(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	store, file := filepath.Join(dir, "jobs.db"), write(t, "tab", "# name: job\n@daily true\n")
	if err := os.WriteFile(store, nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	missing := filepath.Join(dir, "new.db")
	for _, c := range []struct{ store, want string }{
		{store, "executord: the store " + store + ": it may not be read, or the directory it is in: run executord as its owner\n"},
		{missing, "executord: the store " + missing + " cannot be created: executord may not create a file in the directory " + dir +
			": run it as the owner of that, or name a file in another\n"},
	} {
		var stderr strings.Builder
		cmd := withoutPowers(t, executord(t, "run", file, "--store", c.store))
		cmd.Stderr = &stderr
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); stderr.String() != c.want || code != exitMistake {
			t.Errorf("exit code %d, %q", code, stderr.String())
		}
	}
}

// A store of a newer executord is refused, by all commands, with what to do.
func TestStoreRefusesNewerOne(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		p := start(t, "@daily true\n", "--store", store)
		p.until("job scheduled")
		p.end()
		db := rows(t, store)
		if _, err := db.Exec("update executor_schema set version = 1000, oldest = 1000"); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"jobs"}, {"run", write(t, "tab", "@daily true\n")}, {"run-now", "true"}} {
			_, stderr, code := output(t, "", append(args, "--store", store)...)
			if code != exitMistake || !strings.Contains(stderr, "by a newer executord: use that one, or a newer one") {
				t.Errorf("%q: exit code %d, %q", args, code, stderr)
			}
		}
	})
}

// With a store, names that change with the lines of the file are mistakes. check
// finds them too.
func TestLoadMistakesForStores(t *testing.T) {
	t.Parallel()
	file := write(t, "tab", "@daily /opt/a/sync\n@daily /opt/b/sync\n")
	if _, stderr, code := output(t, "", "check", file); code != 0 {
		t.Errorf("without a store: exit code %d, %q", code, stderr)
	}
	store := newStoreFile(t)
	for _, command := range []string{"check", "run"} {
		_, stderr, code := output(t, "", command, file, "--store", store)
		for _, want := range []string{
			file + ":1: the job is called sync:1, after its line, and a store needs a name that stays\n    @daily /opt/a/sync\n    hint: write a line such as # name: sync-1 above it\n",
			file + ":2: the job is called sync:2",
			"executord: 2 mistakes in " + file + "\n",
		} {
			if code != exitMistake || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit code %d, %q; want %q", command, code, stderr, want)
			}
		}
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("the store was made")
	}
}
