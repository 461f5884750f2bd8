package main

import (
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// hides fails the test if there is a password in a text, in any form.
func hides(t *testing.T, what, text string) {
	t.Helper()
	plain, _ := url.PathUnescape(password)
	for _, secret := range []string{password, plain} {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the password: %s", what, text)
		}
	}
}

// No command shows the password of a store's URL, whatever is wrong with it, and
// what is wrong is said.
func TestStoreHidesPassword(t *testing.T) {
	t.Parallel()
	name := database(t)
	tab := write(t, "tab", "# name: a\n@daily true\n")
	none := strings.Replace(name, "/postgres?", "/nobody?", 1)
	for _, test := range []struct{ store, want string }{
		{fmt.Sprintf("postgres://me:%s@127.0.0.1:1/x", password), "executord: the store postgres://me@127.0.0.1:1/x: "},
		{fmt.Sprintf("postgres://me:%s@127.0.0.1:1/x?sslmode=funny", password), "executord: the store postgres://me@127.0.0.1:1/x: "},
		{fmt.Sprintf("postgres://me:%s@127.0.0.1:port/x", password), "executord: the store's URL cannot be read: "},
		{fmt.Sprintf("postgres://me@127.0.0.1:1/x?password=%s&connect_timeout=never", password), "executord: the store postgres://me@127.0.0.1:1/x: "},
		{fmt.Sprintf("postgres://me:old@127.0.0.1:1/x?password=%s&connect_timeout=never", password), "executord: the store postgres://me@127.0.0.1:1/x: "},
		{fmt.Sprintf("postgres://me@127.0.0.1:1,127.0.0.1:2/x?password=%s&sslmode=funny", password), "executord: the store postgres://me@127.0.0.1:1,127.0.0.1:2/x: "},
		{fmt.Sprintf("postgres://me:1/%s@127.0.0.1:1/x", password), "executord: the store's URL cannot be read: a character such as"},
		{fmt.Sprintf("postgres://me:1@%s@127.0.0.1:1/x", password), "executord: the store's URL cannot be read: a character such as"},
		{fmt.Sprintf("postgres://me:1?%s@127.0.0.1:1/x", password), "executord: the store's URL cannot be read: a character such as"},
		{none, `database "nobody" does not exist`},
	} {
		for _, args := range [][]string{{"run", tab}, {"jobs"}} {
			_, stderr, code := output(t, "", append(args, "--store", test.store)...)
			if code != exitMistake || !strings.Contains(stderr, test.want) {
				t.Errorf("%q on %s: exit code %d, %q; want %q", args, test.store, code, stderr, test.want)
			}
			hides(t, args[0], stderr)
		}
	}
	_, stderr, code := output(t, "", "jobs", "--store", name)
	if code != exitMistake || !strings.Contains(stderr, "has no executord tables") {
		t.Errorf("on an empty schema: exit code %d, %q", code, stderr)
	}
	hides(t, "jobs", stderr)

	p := startFile(t, tab, "--store", name)
	p.until("job scheduled")
	wantAnswer(t, name, 1, "executord: nobody: no such job in postgres://postgres@127.0.0.1:", "cancel", "nobody")
	p.end()
	hides(t, "the log", fmt.Sprint(p.log)+p.stderr.String())
}

// A daemon outlasts its database: it says that it is gone, goes on trying, and
// goes on with its jobs when it is back. The password is not in what it says.
func TestRunOutlivesRestartOfDatabase(t *testing.T) {
	t.Parallel()
	database(t) // skips, and says why
	own, err := startPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	store := databaseURL(own)
	p := start(t, "# name: tick\n@every 200ms true\n# name: long\n@every 200ms echo up; exec sleep 1000\n", "--store", store, "--lease", "2s")
	p.until("up")
	p.until("run ended", "job", "tick", "run", 2)
	own.Kill()
	p.until("durable: the store does not answer; retrying")
	begun := 0 // where the run began that the outage ends; a busy machine may have ended one before
	for i, l := range p.log {
		if l.is("run started", "job", "long") {
			begun = i
		}
	}
	p.after(begun, "run ended", "job", "long", "outcome", "lost") // another daemon could have it by now
	if err := own.Restart(); err != nil {
		t.Fatal(err)
	}
	p.until("durable: the store answers again")
	p.until("run started", "job", "long")
	p.until("run ended", "job", "tick")
	p.signal(syscall.SIGTERM)
	p.until("draining")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	hides(t, "the log", fmt.Sprint(p.log)+p.stderr.String())
}
