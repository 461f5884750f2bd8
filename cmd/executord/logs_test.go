//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// A store has what runs wrote after the end of the daemon: all of it, or the begin and the end.
func TestLogsOfStore(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.crontab", `# name: talk
0 0 1 1 * echo out; echo err >&2; printf 'stderr: no\n'; printf '\033[1mbold'; exit 3
# name: much
0 0 1 1 * i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done
# name: quiet
0 0 1 1 * true
# name: never
0 0 1 1 * true
`)
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startFile(t, file, "--store", store, "--keep-output", "4")
	for _, name := range []string{"talk", "much", "quiet"} {
		p.after(0, "job scheduled", "job", name)
		if _, err, code := output(t, "", "run-now", name, "--store", store); code != 0 {
			t.Fatalf("run-now: exit code %d, %s", code, err)
		}
		p.after(0, "run ended", "job", name)
	}
	p.signal(syscall.SIGTERM)
	p.wait()

	logs := func(args ...string) (string, string, int) {
		return output(t, "", append([]string{"logs", "--store", store}, args...)...)
	}
	for _, args := range [][]string{{"talk"}, {"talk", "1"}} {
		out, err, code := logs(args...)
		if want := "out\nstderr: no\n" + `\x1b[1mbold` + "\n"; out != want || err != "err\n" || code != 0 {
			t.Errorf("exit code %d, standard output %q, standard error %q", code, out, err)
		}
	}
	if out, err, _ := logs("talk", "--timestamps"); !regexp.MustCompile(`^\d\d:\d\d:\d\d out\n`).MatchString(out) || !regexp.MustCompile(`^\d\d:\d\d:\d\d err\n$`).MatchString(err) {
		t.Errorf("with times: %q, %q", out, err)
	}
	out, err, code := logs("much")
	if code != 0 || !strings.HasPrefix(out, "line 0\nline 1\n") || !strings.HasSuffix(out, "line 4998\nline 4999\n") ||
		len(out) < 7<<10 || len(out) > 8<<10 || !strings.HasSuffix(err, " bytes are not kept]\n") {
		t.Errorf("exit code %d, %d bytes, %s", code, len(out), err)
	}
	if out, err, code := logs("quiet"); out+err != "" || code != 0 {
		t.Errorf("exit code %d, %q, %q of a run that wrote nothing", code, out, err)
	}
	for arg, want := range map[string]string{"never": "it has not run yet", "talk 99": "has no run 99"} {
		if _, err, code := logs(strings.Fields(arg)...); code != exitMistake || !strings.Contains(err, want) {
			t.Errorf("%s: exit code %d, %s", arg, code, err)
		}
	}
	for _, args := range [][]string{{}, {"talk", "x"}, {"talk", "0"}, {"talk", "1", "2"}} {
		if _, err, code := logs(args...); code != exitUsage || !strings.Contains(err, "such as: executord logs") {
			t.Errorf("%q: exit code %d, %s", args, code, err)
		}
	}

	// A daemon that is started later shows them, too.
	p = startFile(t, file, "--store", store, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.after(0, "job scheduled", "job", "never")
	if out, err, code := output(t, "", "logs", "talk", "1", "--at", at); code != 0 || !strings.HasPrefix(out, "out\n") || err != "err\n" {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
	if _, page := get(t, at+"run?job=much&run=1"); !strings.Contains(page, ">line 4999</li>") || !strings.Contains(page, "bytes were left out") {
		t.Errorf("the page is %s", page)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// Lines of progress move a bar, and are not in the log, if the job says so.
func TestJobsShowProgress(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startTOML(t, `
[[job]]
name = "copy"
schedule = "@every 1h"
progress = true
command = "echo ::progress 42/100 photos; echo ::progress no; echo up; read word <`+fifo+`; echo ::progress 100/100"

[[job]]
name = "other"
schedule = "@reboot"
command = "echo ::progress 1/2"
`, "--store", store, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.after(0, "job scheduled", "job", "copy")
	if _, err, code := output(t, "", "run-now", "copy", "--store", store); code != 0 {
		t.Fatalf("run-now: exit code %d, %s", code, err)
	}
	p.after(0, "up", "job", "copy")
	out, _, _ := output(t, "", "jobs", "copy", "--at", at, "--json")
	var j view.Job
	if err := json.Unmarshal([]byte(out), &j); err != nil || j.Running == nil || j.Running.Progress == nil ||
		*j.Running.Progress != (view.Progress{Done: 42, Total: 100, Note: "photos"}) {
		t.Errorf("the job is %s: %v", out, err)
	}
	if table, _, _ := output(t, "", "jobs", "copy", "--at", at); !strings.Contains(table, " [####......] 42% photos ") {
		t.Errorf("the table is %s", table)
	}
	if _, page := get(t, at); !strings.Contains(page, `<progress value="42" max="100"`) || !strings.Contains(page, "42/100 photos") {
		t.Errorf("the page is %s", page)
	}
	for seen := false; !seen; { // it travels with the heartbeat; the test ends otherwise
		table, _, _ := output(t, "", "jobs", "copy", "--store", store)
		seen = strings.Contains(table, " [####......] 42% photos ")
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	p.after(0, "run ended", "job", "copy")
	p.signal(syscall.SIGTERM)
	p.wait()
	p.want(0, "::progress 42/100 photos")
	p.want(1, "::progress no", "job", "copy")
	p.want(1, "::progress 1/2", "job", "other")
}

// An output that ends before its run does, as when the token is taken away, is no success of logs --follow.
func TestLogsFollowSaysThatOutputEnds(t *testing.T) {
	for last, want := range map[string]string{
		"": "ended the output before the run", `{"run":{"job":"a","run":1,"outcome":"ok"}}`: "",
	} {
		daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"run":{"job":"a","run":1,"outcome":"running"}}`+"\n"+`{"n":1,"text":"up"}`+"\n"+last)
		}))
		out, errs, code := output(t, "", "logs", "a", "--follow", "--at", daemon.URL)
		daemon.Close()
		if out != "up\n" || (code != 0) != (want != "") || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d, %q %q; want %q", last, code, out, errs, want)
		}
	}
}
