//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/certificate/certificatetest"
	"github.com/executor-go/executor/ui/page"
)

// listening starts a daemon that is looked at, and returns its address.
func listening(t *testing.T, tab string, args ...string) (p *process, at string) {
	t.Helper()
	p = start(t, tab, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	at, _ = p.until("listening")["at"].(string)
	return p, at
}

// Who could act on jobs, or see them, and should not, is kept out by flags; those that do not go together are refused.
func TestListenOptionsValidate(t *testing.T) {
	const port, socket, others, alone = "127.0.0.1:0", "unix:/run/x", "other machines can reach this address: add --token-file", " need --listen"
	proxy := []string{"10.0.0.1"}
	for _, test := range []struct {
		o    listenOptions
		want string
	}{
		{listenOptions{}, ""},
		{listenOptions{address: port}, ""},
		{listenOptions{address: "[::1]:0", tlsCert: "c", tlsKey: "k"}, ""},
		{listenOptions{address: ":8384", tokenFile: "t", actions: true, proxies: proxy}, ""},
		{listenOptions{address: socket, actions: true}, ""},
		{listenOptions{address: ":8384"}, others},
		{listenOptions{address: "0.0.0.0:8384"}, others},
		{listenOptions{address: "[::]:8384"}, others},
		{listenOptions{address: "10.1.2.3:8384"}, others},
		{listenOptions{address: "10.1.2.3:8384", tlsCert: "c", tlsKey: "k"}, others},
		{listenOptions{address: port, actions: true}, "all users of this machine could act"},
		{listenOptions{address: "8384"}, "it must be an address with a port"},
		{listenOptions{address: "unix:"}, "needs the path of a socket"},
		{listenOptions{address: port, tlsCert: "c"}, "--tls-cert and --tls-key need each other"},
		{listenOptions{address: socket, tlsCert: "c", tlsKey: "k"}, "a Unix socket is protected by its file"},
		{listenOptions{address: port, proxies: []string{"proxy.internal"}}, "--trusted-proxy proxy.internal: it must be an address"},
		{listenOptions{address: socket, proxies: proxy}, "--trusted-proxy is for an address with a port"},
		{listenOptions{tokenFile: "t"}, alone},
		{listenOptions{actions: true}, alone},
		{listenOptions{tlsCert: "c", tlsKey: "k"}, alone},
		{listenOptions{proxies: proxy}, alone},
	} {
		if err := test.o.validate(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.o, err, test.want)
		}
	}
}

// certified is a certificate for example.org.
func certified(t *testing.T) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificatetest.Make(t, certificatetest.Spec{Names: []string{"example.org"}}).Write(t, cert, key)
	return cert, key
}

// An address that is taken, a socket that may be another program's, and files of tokens and of a certificate that cannot be
// used are errors that say why, and are left as they are.
func TestListenOptionsOpenRefuses(t *testing.T) {
	const port = "127.0.0.1:0"
	tab, dir := write(t, "tab", "@reboot true\n"), t.TempDir()
	cert, _ := certified(t)
	_, otherKey := certified(t)
	taken, err := net.Listen("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	socket, err := net.Listen("unix", filepath.Join(dir, "taken"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	log, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "log"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, test := range []struct {
		o    listenOptions
		want string
	}{
		{listenOptions{address: taken.Addr().String()}, "another program listens there: end it, or choose another port"},
		{listenOptions{address: "unix:" + dir + "/taken"}, "another process listens there"},
		{listenOptions{address: "unix:" + dir + "/log"}, "--listen unix:" + dir + "/log: the socket may be another program's: "},
		{listenOptions{address: "unix:" + tab}, "the file exists and is not a socket"},
		{listenOptions{address: "unix:" + dir + "/no/sock"}, "no such file or directory"},
		{listenOptions{address: port, tokenFile: dir + "/none"}, "no such file or directory"},
		{listenOptions{address: port, tokenFile: write(t, "short", "secret\n")}, "a token is one word of 16 characters or more"},
		{listenOptions{address: port, tlsCert: cert, tlsKey: otherKey}, "the private key is not that of " + cert},
	} {
		l, err := test.o.open()
		l.close()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.o, err, test.want)
		}
	}
	for _, name := range []string{tab, dir + "/taken", dir + "/log"} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
}

// A socket is for the daemon's user and group, is left by no daemon, and replaces one that was left.
func TestListenOptionsOpenSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	l, err := (&listenOptions{address: "unix:" + path}).open()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != socketMode {
		t.Errorf("%v, %v", info, err)
	}
	l.close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left")
	}
}

// The tokens and the certificate are read again at once, and stay what they were if their files are wrong, or a pipe that
// nobody writes to. The log says what they are, what is wrong, and which of the files are open to others.
func TestListenerReadsFilesAgain(t *testing.T) {
	const token = "correct-horse-battery-staple"
	cert, key := certified(t)
	tokens := write(t, "tokens", "ann operate "+token+"\n") // which all may read
	l, err := (&listenOptions{address: "127.0.0.1:0", tokenFile: tokens, tlsCert: cert, tlsKey: key}).open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var log bytes.Buffer
	says := func(open string, wants ...string) {
		t.Helper()
		text := log.String()
		log.Reset()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("it does not say %s, but %s", want, text)
			}
		}
		if (open != "") != strings.Contains(text, "secret file is open to others") || !strings.Contains(text, open) {
			t.Errorf("of what is open it says %s, and not %q", text, open)
		}
		if strings.Contains(text, token) || strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("it says a secret: %s", text)
		}
	}
	mode := func(mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(tokens, mode); err != nil {
			t.Fatal(err)
		}
	}
	l.tell(slog.New(slog.NewTextHandler(&log, nil)))
	says("all users may read it", "chmod g-w,o= "+tokens)

	mode(0o640)
	until := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	certificatetest.Make(t, certificatetest.Spec{Until: until}).Write(t, cert, key)
	l.again()
	says("", `msg="tokens read again" tokens=1`, `msg="certificate read again" until=2099-01-01T00:00:00Z`)
	mode(0o660)
	l.again()
	says("others may write to it")

	if err := os.WriteFile(tokens, []byte("ann admin "+token+"\n"), 0); err != nil {
		t.Fatal(err)
	}
	certificatetest.Make(t, certificatetest.Spec{From: time.Now().Add(-time.Hour), Until: time.Now().Add(-time.Minute)}).Write(t, cert, key)
	l.again()
	says("", `msg="tokens not read again"`, "line 1: the second word is no role; it must be one of view, operate",
		`msg="certificate not read again"`, "has expired on", "until=2099-01-01T00:00:00Z")
	if err := os.Remove(tokens); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(tokens, 0o600); err != nil {
		t.Fatal(err)
	}
	l.again()
	says("", `msg="tokens not read again"`)
	if _, ok := l.tokens.Get().Find(token); !ok || !l.cert.Get().Leaf.NotAfter.Equal(until) {
		t.Errorf("the tokens are %v, and the certificate ends at %v", l.tokens.Get(), l.cert.Get().Leaf.NotAfter)
	}
}

// What is wrong with an address is said before a job runs, and the exit code tells the command line from the machine.
func TestRunRefusesAddress(t *testing.T) {
	tab := write(t, "tab", "@reboot true\n")
	printed, answers := inTurn(t, executord(t), [][]string{
		{"run", tab, "--listen", "0.0.0.0:8384"}, {"run", tab, "--listen", "unix:" + tab}, {"logs", "x", "--at", "unix:" + tab},
	})
	for i, want := range []answer{
		{"--listen 0.0.0.0:8384: other machines can reach this address", exitUsage}, {"--listen unix:" + tab + ": the file exists", exitMistake},
		{"start one with executord run FILE --listen", exitMistake},
	} {
		if a := answers[i]; a.code != want.code || !strings.Contains(a.said, want.said) || printed != "" {
			t.Errorf("%+v, want %+v; printed: %s", a, want, printed)
		}
	}
}

// over asks a daemon that listens on a socket, and returns its answer.
func over(t *testing.T, socket, accept, path string, form url.Values) (status int, text string) {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	r, err := http.NewRequest("GET", "http://localhost/"+path, nil)
	if form != nil {
		r, err = http.NewRequest("POST", "http://localhost/"+path, strings.NewReader(form.Encode()))
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", accept)
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// overSocket is what the audit has of a test that acts over a socket.
func overSocket(t *testing.T) string {
	t.Helper()
	me, err := user.Current()
	switch {
	case err != nil:
		t.Fatal(err)
	case runtime.GOOS != "linux":
		return "the socket"
	}
	return "the socket (user " + me.Username + ")"
}

// Over a socket, all pages are there, and jobs are acted on with a reason: what is done, and what is not, is said on the
// page and in JSON, in the log and in the store, with who it was.
func TestListenActs(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "sock")
	p := startFile(t, write(t, "jobs.crontab", "# name: long\n0 0 1 1 * echo up; exec sleep 1000\n# name: tick\n@every 1h true\n"),
		"--store", newStoreFile(t), "--listen", "unix:"+socket, "--actions")
	p.after(0, "job scheduled", "job", "tick")
	acts := func(form url.Values, status int, answer string) {
		t.Helper()
		code, text := over(t, socket, "application/json", "act", form)
		var got page.Result
		if err := json.Unmarshal([]byte(text), &got); err != nil || code != status || got.Status != status || got.Done != (status == 200) ||
			!strings.Contains(got.Answer, answer) {
			t.Errorf("%v: %d %s, %v; want %d with %q", form, code, text, err, status, answer)
		}
	}
	form := func(do, job, run string) url.Values {
		return url.Values{"do": {do}, "job": {job}, "run": {run}, "reason": {"a test"}}
	}
	acts(form("run-now", "long", ""), 200, "due now")
	p.after(0, "ui: action", "action", "run-now", "job", "long", "reason", "a test", "who", overSocket(t), "done", true)
	p.after(0, "up", "job", "long")
	acts(form("run-now", "long", ""), 409, "it is running already")
	acts(form("end-run", "tick", "7"), 409, "run 7 is not in progress")
	acts(form("end-run", "tock", "7"), 404, "no such job")
	acts(form("pause", "tock", ""), 404, "no such job")
	acts(form("end-run", "long", "1"), 200, "run 1 is being ended")
	p.after(0, "run ended", "job", "long", "outcome", "canceled", "signal", "SIGTERM")
	if status, text := over(t, socket, "text/html", "act", form("pause", "tick", "")); status != 200 || !strings.Contains(text, "paused") {
		t.Errorf("pause: %d %s", status, text)
	}
	for path, wants := range map[string][]string{
		"":          {`<a href="job?name=long"`, ">paused<"},
		"runs":      {`<a href="run?job=long&amp;run=1"><bdi>`},
		"schedules": {`<a href="job?name=tick"><bdi>`},
		"nodes":     {`href="act?do=drain&amp;node=`},
		"pools":     {"<html"},
		"acts":      {"run-now", "end-run", "pause", "a test", overSocket(t), `<a href="job?name=tick">`, "run 7 is not in progress"},
		"metrics":   {"executord_jobs 2\n", `executord_job_running{job_name="tick"} 0`},
	} {
		status, text := over(t, socket, "text/html", path, nil)
		for _, want := range wants {
			if status != 200 || !strings.Contains(text, want) {
				t.Errorf("/%s has no %s: %d %s", path, want, status, text)
			}
		}
	}
	p.end()
}

// With TLS and tokens, at an address with a port: who has a token looks, and acts by its role and in its name; probes need
// none. Both are read again on SIGHUP. The log has no secret.
func TestListenAsksForToken(t *testing.T) {
	t.Parallel()
	const annToken, vicToken = "correct-horse-battery-staple", "viewer-horse-battery-staple"
	cert, key := certified(t)
	otherCert, _ := certified(t)
	tokens := write(t, "tokens", "# name role token\nann operate "+annToken+"\nvic view "+vicToken+"\n")
	ann, vic := write(t, "ann", annToken), write(t, "vic", "vic view "+vicToken+"\n")
	p, at := listening(t, "# name: talk\n@reboot echo out\n# name: later\n@yearly true\n",
		"--tls-cert", cert, "--tls-key", key, "--token-file", tokens, "--actions", "--trusted-proxy", "10.0.0.1")
	p.after(0, "run ended", "job", "talk")
	p.after(0, "job scheduled", "job", "later")
	if !strings.HasPrefix(at, "https://127.0.0.1:") {
		t.Fatalf("it listens at %s", at)
	}
	plain := strings.Replace(at, "https:", "http:", 1)
	const looks = "later: executord: the token of %s is for looking only: its role is view, and actions need the role operate\n"
	type ask struct {
		args         []string
		code         int
		prints, says string
	}
	asks := func(all ...ask) {
		t.Helper()
		var lines [][]string
		prints := ""
		for _, a := range all {
			lines, prints = append(lines, a.args), prints+a.prints
		}
		printed, answers := inTurn(t, executord(t), lines)
		for i, a := range all {
			if got := answers[i]; got.code != a.code || !strings.Contains(got.said, a.says) {
				t.Errorf("%q: exit code %d, %s; want %d, %s", a.args, got.code, got.said, a.code, a.says)
			}
		}
		if printed != prints {
			t.Errorf("printed: %q, want %q", printed, prints)
		}
	}
	asks(
		ask{[]string{"health", "--at", at, "--ca-file", cert}, exitOK, "ok\n", ""},
		ask{[]string{"health", "--at", at, "--ca-file", cert, "--ready"}, exitOK, "ready\n", ""},
		ask{[]string{"health", "--at", at}, exitMistake, "", "is not trusted: "},
		ask{[]string{"health", "--at", at, "--ca-file", otherCert}, exitMistake, "", "doesn't contain any IP SANs\nexecutord: name it, or that of its authority, by --ca-file FILE\n"},
		ask{[]string{"health", "--at", plain}, exitMistake, "", "it speaks TLS; write --at https://127.0.0.1:"},
		ask{[]string{"health", "--at", plain, "--ca-file", cert}, exitUsage, "", "--ca-file needs the URL of a daemon with TLS, such as --at https://"},
		ask{[]string{"logs", "talk", "--at", at, "--ca-file", cert}, exitMistake, "", "the token is missing or wrong"},
		ask{[]string{"logs", "talk", "--at", at, "--ca-file", cert, "--token-file", tokens}, exitMistake, "", "the file has 2 tokens; write yours alone into a file"},
		ask{[]string{"logs", "talk", "--at", at, "--ca-file", cert, "--token-file", vic}, exitOK, "out\n", ""},
		ask{[]string{"logs", "later", "--at", at, "--ca-file", cert, "--token-file", vic}, exitMistake, "", `"later" has not run yet`},
		ask{[]string{"pause", "later", "--at", at, "--ca-file", cert, "--token-file", vic}, exitMistake, fmt.Sprintf(looks, "vic"), ""},
		ask{[]string{"pause", "later", "--at", at, "--ca-file", cert, "--token-file", ann}, exitOK, "later: paused\n", ""},
	)
	if who, _ := p.until("ui: action", "action", "pause", "done", true)["who"].(string); !strings.HasPrefix(who, "ann at 127.0.0.1:") {
		t.Errorf("it was %s", who)
	}

	if err := os.WriteFile(tokens, []byte("ann view "+annToken+"\n"), 0); err != nil {
		t.Fatal(err)
	}
	before := cert + ".before"
	if err := os.Link(cert, before); err != nil { // a new file takes its name
		t.Fatal(err)
	}
	certificatetest.Make(t, certificatetest.Spec{}).Write(t, cert, key)
	p.signal(syscall.SIGHUP)
	p.until("tokens read again", "tokens", 1)
	p.until("certificate read again")
	p.until("job does not run", "job", "later", "state", "paused", "hint", "executord resume later")
	asks(
		ask{[]string{"health", "--at", at, "--ca-file", cert}, exitOK, "ok\n", ""},
		ask{[]string{"health", "--at", at, "--ca-file", before}, exitMistake, "", "is not trusted: "},
		ask{[]string{"resume", "later", "--at", at, "--ca-file", cert, "--token-file", ann}, exitMistake, fmt.Sprintf(looks, "ann"), ""},
		ask{[]string{"jobs", "--at", at, "--ca-file", cert, "--token-file", vic}, exitMistake, "", "the token is missing or wrong"},
	)
	p.end()
	text, err := json.Marshal(p.log)
	if err != nil || bytes.Contains(text, []byte("horse")) || bytes.Contains(text, []byte("PRIVATE")) {
		t.Errorf("a secret is in the log: %v", err)
	}
}
