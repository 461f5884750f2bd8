//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
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
		"no such run":     {url.Values{"do": {"end-run"}, "job": {"tick"}, "run": {"7"}, "reason": {"x"}}, 409, "run 7 is not in progress here", nil},
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
