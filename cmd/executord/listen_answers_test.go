//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/ui/page"
)

// What a daemon does not do has a status that says why, the same on the page and in JSON, and the command line says the
// same about its store.
func TestListenSaysWhatIsNotDone(t *testing.T) {
	store := filepath.Join(t.TempDir(), "jobs.db")
	socket := filepath.Join(t.TempDir(), "sock")
	p := startFile(t, write(t, "jobs.crontab", "# name: long\n0 0 1 1 * echo up; exec sleep 1000\n# name: tick\n@every 1h true\n"),
		"--store", store, "--listen", "unix:"+socket, "--actions")
	p.until("job scheduled", "job", "tick")
	post := func(accept string, form url.Values) (status int, text string) {
		return over(t, socket, func(c *http.Client) (*http.Response, error) {
			r, err := http.NewRequest("POST", "http://localhost/act", strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept", accept)
			return c.Do(r)
		})
	}
	if status, text := post("application/json", url.Values{"do": {"run-now"}, "job": {"long"}, "reason": {"x"}}); status != 200 ||
		!strings.Contains(text, `"done":true,"answer":"due now"`) {
		t.Errorf("run-now: %d %s", status, text)
	}
	p.after(0, "up", "job", "long")
	for name, c := range map[string]struct {
		form   url.Values
		status int
		want   string
		by     []string // the same at the command line
	}{
		"no reason":       {url.Values{"do": {"pause"}, "job": {"tick"}}, 400, "give a reason", nil},
		"running already": {url.Values{"do": {"run-now"}, "job": {"long"}, "reason": {"x"}}, 409, "it is running already", []string{"run-now", "long"}},
		"not paused":      {url.Values{"do": {"resume"}, "job": {"tick"}, "reason": {"x"}}, 409, "not paused: it is waiting", []string{"resume", "tick"}},
		"no such job":     {url.Values{"do": {"pause"}, "job": {"tock"}, "reason": {"x"}}, 404, "no such job", []string{"pause", "tock"}},
		"no such run":     {url.Values{"do": {"end-run"}, "job": {"tick"}, "run": {"7"}, "reason": {"x"}}, 409, "run 7 is not in progress", nil},
		"a run of no job": {url.Values{"do": {"end-run"}, "job": {"tock"}, "run": {"7"}, "reason": {"x"}}, 404, "no such job", nil},
	} {
		if status, text := post("text/html", c.form); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: the page has the status %d, want %d with %q: %s", name, status, c.status, c.want, text)
		}
		status, text := post("application/json", c.form)
		var got page.Result
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != c.status || got.Status != c.status || got.Done ||
			!strings.Contains(got.Answer, c.want) {
			t.Errorf("%s: %d %s, %v; want %d with %q", name, status, text, err, c.status, c.want)
		}
		if c.by == nil {
			continue
		}
		out, errs, code := output(t, "", append(c.by, "--store", store)...)
		if code != exitMistake || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: the command says %s%s, exit code %d; want %q", name, out, errs, code, c.want)
		}
	}
	if status, text := post("*/*", url.Values{"do": {"end-run"}, "job": {"long"}, "run": {"1"}, "reason": {"x"}}); status != 200 {
		t.Errorf("end-run: %d %s", status, text)
	}
	p.after(0, "run ended", "job", "long")
	p.end()
}

// A file of tokens or with a key that all users may read, or others write to, is said, also after a change.
func TestListenSaysOpenSecrets(t *testing.T) {
	file := write(t, "tokens", "ann operate correct-horse-battery-staple\n") // which all may read
	tab := write(t, "tab", "# name: tick\n@daily true\n")
	p := startFile(t, tab, "--listen", "127.0.0.1:0", "--token-file", file)
	p.until("secret file is open to others", "file", file, "reason", "all users may read it", "hint", "chmod g-w,o= "+file)
	p.until("job scheduled")
	for mode, reason := range map[os.FileMode]string{0o640: "", 0o660: "others may write to it"} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		before := len(p.log)
		p.signal(syscall.SIGHUP)
		p.until("tokens read again")
		p.until("job scheduled")
		said := false
		for _, l := range p.log[before:] {
			said = said || l.is("secret file is open to others", "reason", reason)
		}
		if said != (reason != "") {
			t.Errorf("with mode %o the log says so: %t", mode, said)
		}
	}
	p.end()
}

// A proxy is named by an address or a network, for an address with a port.
func TestListenTrustedProxy(t *testing.T) {
	tab := write(t, "tab", "@daily true\n")
	for want, args := range map[string][]string{
		"--trusted-proxy proxy.internal: it must be an address": {"--listen", "127.0.0.1:0", "--trusted-proxy", "proxy.internal"},
		"--trusted-proxy is for an address with a port":         {"--listen", "unix:" + filepath.Join(t.TempDir(), "s"), "--trusted-proxy", "10.0.0.1"},
		"--trusted-proxy need --listen":                         {"--trusted-proxy", "10.0.0.1"},
	} {
		if _, errs, code := output(t, "", append([]string{"run", tab}, args...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d, %s", args, code, errs)
		}
	}
}
