//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/certificate/certificatetest"
)

// certified is a certificate for example.org, and the arguments by which a daemon has it.
func certified(t *testing.T) (pair *certificatetest.Pair, cert, key string, args []string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair = certificatetest.Make(t, certificatetest.Spec{Names: []string{"example.org"}})
	pair.Write(t, cert, key)
	return pair, cert, key, []string{"--tls-cert", cert, "--tls-key", key}
}

// With a certificate, the pages are there by TLS alone, and the commands and the probe speak it.
func TestListenSpeaksTLS(t *testing.T) {
	t.Parallel()
	_, cert, _, args := certified(t)
	p, at := listening(t, talkative, args...)
	p.until("run ended", "job", "talk")
	if !strings.HasPrefix(at, "https://127.0.0.1:") {
		t.Fatalf("it listens at %s", at)
	}
	if out, err, code := output(t, "", "logs", "talk", "--at", at, "--ca-file", cert); code != 0 || !strings.HasPrefix(out, "out\n") {
		t.Errorf("logs: exit code %d, %s%s", code, out, err)
	}
	for want, args := range map[string][]string{"ok\n": nil, "ready\n": {"--ready"}} {
		out, err, code := output(t, "", append([]string{"health", "--at", at, "--ca-file", cert}, args...)...)
		if code != 0 || out != want || err != "" {
			t.Errorf("health %q: exit code %d, %q %s", args, code, out, err)
		}
	}
	_, other, _, _ := certified(t)
	plain := strings.Replace(at, "https:", "http:", 1)
	for want, args := range map[string][]string{
		"doesn't contain any IP SANs\nexecutord: name it, or that of its authority, by --ca-file FILE\n": {"--at", at, "--ca-file", other},
		"is not trusted: ": {"--at", at},
		"it speaks TLS; write --at https://127.0.0.1:":                        {"--at", plain},
		"--ca-file needs the URL of a daemon with TLS, such as --at https://": {"--at", plain, "--ca-file", cert},
	} {
		if out, err, code := output(t, "", append([]string{"health"}, args...)...); code == 0 || out != "" || !strings.Contains(err, want) {
			t.Errorf("%q: exit code %d, %s%s; want %s", args, code, out, err, want)
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A certificate that is renewed is used from SIGHUP on. One that is wrong is not, and the log says why.
func TestListenReadsCertificateAgain(t *testing.T) {
	t.Parallel()
	_, cert, key, args := certified(t)
	p, at := listening(t, "@daily true\n", args...)
	trusts := func(file string) bool {
		_, _, code := output(t, "", "health", "--at", at, "--ca-file", file)
		return code == 0
	}
	before := cert + ".before"
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(before, text, 0o600); err != nil {
		t.Fatal(err)
	}
	next := certificatetest.Make(t, certificatetest.Spec{Until: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)})
	next.Write(t, cert, key)
	p.signal(syscall.SIGHUP)
	if l := p.until("certificate read again"); l["until"] != "2099-01-01T00:00:00Z" {
		t.Errorf("%v", l)
	}
	p.until("file read again")
	if trusts(before) || !trusts(cert) {
		t.Error("the certificate is not the new one")
	}
	expired := certificatetest.Make(t, certificatetest.Spec{From: time.Now().Add(-time.Hour), Until: time.Now().Add(-time.Minute)})
	good := cert + ".good"
	if err := os.WriteFile(good, next.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	expired.Write(t, cert, key)
	p.signal(syscall.SIGHUP)
	if l := p.until("certificate not read again"); !strings.Contains(l["reason"].(string), "has expired on") {
		t.Errorf("%v", l)
	}
	if !trusts(good) {
		t.Error("the certificate from before is not used")
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	if log, _ := os.ReadFile(key); bytes.Contains([]byte(p.stderr.String()), log) {
		t.Error("the key is in the log")
	}
}

// Flags and files that are no certificate are refused before a job runs.
func TestListenRefusesCertificate(t *testing.T) {
	t.Parallel()
	_, cert, key, _ := certified(t)
	_, _, otherKey, _ := certified(t)
	tab := write(t, "tab", "@reboot true\n")
	for want, args := range map[string][]string{
		"--tls-cert and --tls-key need each other": {"--listen", "127.0.0.1:0", "--tls-cert", cert},
		"need --listen":                          {"--tls-cert", cert, "--tls-key", key},
		"a Unix socket is protected by its file": {"--listen", "unix:/tmp/x", "--tls-cert", cert, "--tls-key", key},
		"the private key is not that of " + cert: {"--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", otherKey},
		"other machines can reach this address":  {"--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key},
	} {
		out, err, code := output(t, "", append([]string{"run", tab}, args...)...)
		if code == 0 || !strings.Contains(err, want) || strings.Contains(out, "run started") {
			t.Errorf("%q: exit code %d, %s%s", args, code, err, out)
		}
	}
}

// Each token has a role. Who acts is in the audit log by name, also by TLS; who may look is refused. A token that is
// taken away is none from SIGHUP on.
func TestListenHasRoles(t *testing.T) {
	t.Parallel()
	const ann, vic = "correct-horse-battery-staple", "viewer-horse-battery-staple"
	file := write(t, "tokens", "# name role token\nann operate "+ann+"\nvic view "+vic+"\n")
	store := newStoreFile(t)
	p := startFile(t, write(t, "tab", "# name: tick\n@daily true\n"), "--store", store, "--listen", "127.0.0.1:0", "--token-file", file, "--actions")
	at := p.until("listening")["at"].(string)
	p.until("job scheduled")
	act := func(token string) int {
		r, err := http.NewRequest("POST", at+"act", strings.NewReader(url.Values{"do": {"pause"}, "job": {"tick"}, "reason": {"a test"}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if code := act(vic); code != http.StatusForbidden {
		t.Errorf("vic: %d", code)
	}
	if code := act(ann); code != http.StatusSeeOther {
		t.Errorf("ann: %d", code)
	}
	acts := asked(t, store, "acts")
	if who, _ := acts[0]["who"].(string); len(acts) != 1 || !strings.HasPrefix(who, "ann at 127.0.0.1:") {
		t.Errorf("%v", acts)
	}
	own := write(t, "own", "vic view "+vic+"\n")
	if out, err, code := output(t, "", "jobs", "--at", at, "--token-file", own); code != 0 || !strings.Contains(out, "tick") {
		t.Errorf("vic looks: exit code %d, %s%s", code, out, err)
	}
	if _, err, code := output(t, "", "jobs", "--at", at, "--token-file", file); code == 0 || !strings.Contains(err, "the file has 2 tokens; write yours alone into a file") {
		t.Errorf("a file of two: exit code %d, %s", code, err)
	}
	if err := os.WriteFile(file, []byte("ann view "+ann+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("tokens read again", "tokens", 1)
	if ann, vic := act(ann), act(vic); ann != http.StatusForbidden || vic != http.StatusUnauthorized {
		t.Errorf("after the change: ann %d, vic %d", ann, vic)
	}
	if err := os.WriteFile(file, []byte("ann admin "+ann+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	if l := p.until("tokens not read again"); !strings.HasSuffix(l["reason"].(string), "line 1: the second word is no role; it must be one of view, operate") {
		t.Errorf("%v", l)
	}
	p.end()
}
