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
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// A store has what runs wrote after the end of the daemon: all of it, or the begin and the end. A daemon that is started
// later shows it, too, and knows when its jobs last succeeded.
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
	store := newStoreFile(t)
	p := startFile(t, file, "--store", store, "--keep-output", "4")
	p.after(0, "job scheduled", "job", "never")
	if _, err, code := output(t, "", "run-now", "talk", "much", "quiet", "--store", store); code != 0 {
		t.Fatalf("run-now: exit code %d, %s", code, err)
	}
	for _, name := range []string{"talk", "much", "quiet"} {
		p.after(0, "run ended", "job", name)
	}
	p.end()

	logs := func(args ...string) (string, string, int) {
		return output(t, "", append([]string{"logs", "--store", store}, args...)...)
	}
	if out, err, code := logs("talk"); out != "out\nstderr: no\n"+`\x1b[1mbold`+"\n" || err != "err\n" || code != 0 {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, out, err)
	}
	if out, err, _ := logs("talk", "1", "--timestamps"); !regexp.MustCompile(`^\d\d:\d\d:\d\d out\n`).MatchString(out) || !regexp.MustCompile(`^\d\d:\d\d:\d\d err\n$`).MatchString(err) {
		t.Errorf("with times: %q, %q", out, err)
	}
	out, err, code := logs("much")
	if code != 0 || !strings.HasPrefix(out, "line 0\nline 1\n") || !strings.HasSuffix(out, "line 4998\nline 4999\n") ||
		len(out) < 7<<10 || len(out) > 8<<10 || !strings.HasSuffix(err, " bytes are not kept]\n") {
		t.Errorf("exit code %d, %d bytes, %s", code, len(out), err)
	}
	printed, answers := inTurn(t, executord(t), [][]string{
		{"logs", "quiet", "--store", store}, {"logs", "never", "--store", store}, {"logs", "talk", "99", "--store", store}, {"logs"}, {"logs", "talk", "x"}, {"logs", "talk", "0"}, {"logs", "talk", "1", "2"},
	})
	const usage = "such as: executord logs"
	for i, want := range []answer{{"", exitOK}, {"it has not run yet", exitMistake}, {"has no run 99", exitMistake}, {usage, exitUsage}, {usage, exitUsage}, {usage, exitUsage}, {usage, exitUsage}} {
		if a := answers[i]; a.code != want.code || !strings.Contains(a.said, want.said) || printed != "" {
			t.Errorf("%+v, want %+v; printed: %s", a, want, printed)
		}
	}

	p = startFile(t, file, "--store", store, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.after(0, "job scheduled", "job", "never")
	if out, err, code := output(t, "", "logs", "talk", "1", "--at", at); code != 0 || !strings.HasPrefix(out, "out\n") || err != "err\n" {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
	if out, err, code := output(t, "", "runs", "quiet", "--at", at, "--json"); code != 0 || !strings.Contains(out, `"outcome":"ok"`) {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
	if _, page := get(t, at+"run?job=much&run=1"); !strings.Contains(page, ">line 4999</li>") || !strings.Contains(page, "bytes were left out") {
		t.Errorf("the page is %s", page)
	}
	if _, text := get(t, at+"metrics"); !regexp.MustCompile(`executord_job_last_success_timestamp_seconds{job_name="quiet"} [1-9]`).MatchString(text) {
		t.Errorf("the last success is not known: %s", text)
	}
	p.end()
}

// A run is followed while it goes on, until it ends; meanwhile the daemon, and its store for all others, say how far it has
// come.
func TestLogsFollowRun(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	store := newStoreFile(t)
	p := startTOML(t, `
[[job]]
name = "copy"
schedule = "@every 1h"
progress = true
command = "echo ::progress 42/100 photos; echo one; read word <`+fifo+`; echo $word"
`, "--store", store, "--lease", "1s", "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.after(0, "job scheduled", "job", "copy")
	if _, err, code := output(t, "", "run-now", "copy", "--store", store); code != 0 {
		t.Fatalf("run-now: exit code %d, %s", code, err)
	}
	p.after(0, "one", "job", "copy")
	cmd := executord(t, "logs", "copy", "--follow", "--at", at)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(out, got); err != nil || string(got) != "one\n" {
		t.Fatalf("%q, %v", got, err)
	}
	jobs, _, _ := output(t, "", "jobs", "copy", "--at", at, "--json")
	var j view.Job
	if err := json.Unmarshal([]byte(jobs), &j); err != nil || j.State.State != catalog.StateRunning || j.Running == nil || j.Running.Progress == nil ||
		*j.Running.Progress != (view.Progress{Done: 42, Total: 100, Note: "photos"}) {
		t.Errorf("the job is %s: %v", jobs, err)
	}
	if _, page := get(t, at); !strings.Contains(page, `<progress value="42" max="100"`) || !strings.Contains(page, "42/100 photos") {
		t.Errorf("the page is %s", page)
	}
	deadline := time.Now().Add(patience)
	for table := ""; !strings.Contains(table, " [####......] 42% photos "); { // it travels with a heartbeat
		if table, _, _ = output(t, "", "jobs", "copy", "--store", store); time.Now().After(deadline) {
			t.Fatal(table)
		}
	}
	if err := os.WriteFile(fifo, []byte("two\n"), 0); err != nil { // the job goes on only now
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil || string(rest) != "two\n" {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	p.end()
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
