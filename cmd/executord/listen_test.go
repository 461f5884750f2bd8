//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/view"
)

// listening starts a daemon that is looked at, and returns its address.
func listening(t *testing.T, tab string, args ...string) (p *process, at string) {
	t.Helper()
	p = start(t, tab, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	at, _ = p.until("listening")["at"].(string)
	return p, at
}

const talkative = "# name: talk\n@reboot echo out; echo err >&2; printf '\\033[1mbold'; exit 3\n# name: later\n0 0 1 1 * true\n"

// What a run writes is there when it has ended, with and without a store: standard output and standard error are kept
// apart, and what cannot be seen is shown as the log does.
func TestListenKeepsOutput(t *testing.T) {
	for name, args := range map[string][]string{"memory": nil, "store": {"--store", filepath.Join(t.TempDir(), "jobs.db")}} {
		t.Run(name, func(t *testing.T) {
			p, at := listening(t, talkative, args...)
			p.until("run ended", "job", "talk")
			out, err, code := output(t, "", "logs", "talk", "1", "--at", at)
			if want := "out\n" + `\x1b[1mbold` + "\n"; out != want || err != "err\n" || code != 0 {
				t.Errorf("exit code %d, standard output %q, standard error %q", code, out, err)
			}
			if _, err, code := output(t, "", "logs", "later", "--at", at); code != exitMistake || !strings.Contains(err, `"later" has not run yet`) {
				t.Errorf("exit code %d for a job that has not run, %q", code, err)
			}
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// A run is followed while it writes, until it ends.
func TestListenFollowsRun(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p, at := listening(t, "# name: slow\n@reboot echo one; read word <"+fifo+"; echo $word\n")
	p.until("one")
	cmd := executord(t, "logs", "slow", "--follow", "--at", at)
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
	jobs, _, _ := output(t, "", "jobs", "--at", at, "--json")
	var j view.Job
	err = json.Unmarshal([]byte(jobs), &j)
	if err != nil || j.State.State != catalog.StateRunning || j.Running == nil || j.Running.Took < 0 {
		t.Errorf("the job is %s: %v", jobs, err)
	}
	if err := os.WriteFile(fifo, []byte("two\n"), 0); err != nil { // the job goes on only now
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil || string(rest) != "two\n" {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// The figures say whether the jobs are those of the file, from the start, after a mistake in it, and when that is
// corrected.
func TestListenShowsWhetherFileIsUpToDate(t *testing.T) {
	file := write(t, "tab", "@yearly true\n")
	p := startFile(t, file, "--listen", "127.0.0.1:0")
	at, _ := p.until("listening")["at"].(string)
	rewrite := func(text, msg string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
		p.until(msg)
	}
	want := func(what string, value int) {
		if _, text := get(t, at+"metrics"); !strings.Contains(text, fmt.Sprintf("\nexecutord_file_up_to_date %d\n", value)) {
			t.Errorf("%s it is not %d:\n%s", what, value, text)
		}
	}
	rewrite("@yearly true\n", "file read again") // what was read before is in use then
	want("at the start", 1)
	rewrite("@never true\n", "file not read again")
	want("after a mistake", 0)
	rewrite("@yearly false\n", "file read again")
	rewrite("@yearly false\n", "file read again")
	want("after its correction", 1)
	p.end()
}

// Readers do not delay the end of the daemon, which ends what they follow.
func TestListenEndsWithDaemon(t *testing.T) {
	p, at := listening(t, "# name: slow\n@reboot trap '' TERM; echo up; while :; do sleep 0.01; done\n", "--kill-after", "50ms")
	p.until("up")
	answer, err := http.Get(at + "run?job=slow&run=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	idle, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	p.signal(syscall.SIGTERM)
	p.until("draining")
	if status, text := get(t, at+"readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "draining") {
		t.Errorf("%d %s while it drains", status, text)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	page, _ := io.ReadAll(answer.Body) // the connection may be cut
	if !bytes.Contains(page, []byte(">up</li>")) {
		t.Errorf("the page is %s", page)
	}
	if _, err := http.Get(at); err == nil {
		t.Error("there is an answer after the end")
	}
}

// Health, readiness and figures are there from the start, before any run.
func TestListenShowsFigures(t *testing.T) {
	p, at := listening(t, "# name: never\n0 0 1 1 * true\n# name: fails\n@reboot exit 3\n")
	p.until("run ended", "job", "fails")
	for path, want := range map[string]string{"healthz": "ok\n", "readyz": "ready\n"} {
		if status, text := get(t, at+path); status != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	var text string
	for range 100 { // the line of the log is a moment before the count
		if _, text = get(t, at+"metrics"); strings.Contains(text, `executord_job_runs_total{job_name="fails",outcome="failed"} 1`) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, want := range []string{
		`executord_job_runs_total{job_name="fails",outcome="failed"} 1`,
		`executord_job_runs_total{job_name="never",outcome="ok"} 0`,
		`executord_job_last_success_timestamp_seconds{job_name="fails"} 0`,
		`executord_job_next_due_timestamp_seconds{job_name="never"} `,
		`executord_job_running{job_name="never"} 0`,
		"executord_jobs 2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// The pages of all jobs are there, too, with the runs, with a store and without one, and lead to those of a job or a run.
func TestListenShowsAllJobs(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"memory": nil, "store": {"--store", filepath.Join(t.TempDir(), "jobs.db")}} {
		t.Run(name, func(t *testing.T) {
			p := startFile(t, write(t, "jobs.crontab", "# name: tick\n@every 100ms true\n"), append(args, "--listen", "127.0.0.1:0")...)
			at := p.until("listening")["at"].(string)
			p.until("run ended", "job", "tick")
			p.until("run started", "job", "tick", "run", 2) // the first is in the history
			for _, page := range []string{"", "runs", "schedules", "nodes", "pools"} {
				status, text := get(t, at+page)
				if status != http.StatusOK || !strings.Contains(text, "<html") {
					t.Errorf("%s: %d %s", page, status, text)
				}
				leads := map[string]string{
					"": `<a href="job?name=tick" title="true"><bdi>`, "runs": `<a href="run?job=tick&amp;run=1"><bdi>`, "schedules": `<a href="job?name=tick"><bdi>`,
				}
				if want := leads[page]; !strings.Contains(text, want) {
					t.Errorf("%s has no %s: %s", page, want, text)
				}
			}
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// After a new start, the store knows when a job last succeeded, and what ran.
func TestListenShowsHistory(t *testing.T) {
	file := write(t, "jobs.crontab", "# name: tick\n@every 100ms true\n")
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startFile(t, file, "--store", store)
	p.until("run ended", "job", "tick")
	p.signal(syscall.SIGTERM)
	p.wait()
	if err := os.WriteFile(file, []byte("# name: tick\n0 0 1 1 * true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = startFile(t, file, "--store", store, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.until("job scheduled")
	_, text := get(t, at+"metrics")
	if strings.Contains(text, `executord_job_last_success_timestamp_seconds{job_name="tick"} 0`+"\n") {
		t.Errorf("the last success is not known:\n%s", text)
	}
	runs, _, code := output(t, "", "runs", "tick", "--at", at, "--json")
	if code != 0 || !strings.Contains(runs, `"outcome":"ok"`) {
		t.Errorf("the runs are %q, exit code %d", runs, code)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
}

// An address that others can reach needs a token, and addresses that cannot be used are refused before a job runs.
func TestListenRefusesAddress(t *testing.T) {
	tab := write(t, "tab", "@reboot true\n")
	dir := t.TempDir()
	token := write(t, "token", "correct-horse-battery-staple\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	socket, err := net.Listen("unix", filepath.Join(dir, "taken"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--listen", ":8384"}, exitUsage, "other machines can reach this address: add --token-file"},
		{[]string{"--listen", "0.0.0.0:8384"}, exitUsage, "other machines can reach this address: add --token-file"},
		{[]string{"--listen", "[::]:8384"}, exitUsage, "other machines can reach this address: add --token-file"},
		{[]string{"--listen", "10.1.2.3:8384"}, exitUsage, "other machines can reach this address: add --token-file"},
		{[]string{"--listen", "8384"}, exitUsage, "it must be an address with a port"},
		{[]string{"--listen", "unix:"}, exitUsage, "needs the path of a socket"},
		{[]string{"--token-file", token}, exitUsage, "need --listen"},
		{[]string{"--listen", taken.Addr().String()}, exitMistake, "another program listens there: end it, or choose another port"},
		{[]string{"--listen", "unix:" + filepath.Join(dir, "taken")}, exitMistake, "another process listens there"},
		{[]string{"--listen", "unix:" + tab}, exitMistake, "the file exists and is not a socket"},
		{[]string{"--listen", "unix:" + filepath.Join(dir, "no", "sock")}, exitMistake, "no such file or directory"},
		{[]string{"--listen", "127.0.0.1:0", "--token-file", filepath.Join(dir, "none")}, exitMistake, "no such file or directory"},
		{[]string{"--listen", "127.0.0.1:0", "--token-file", write(t, "short", "secret\n")}, exitMistake, "a token is one word of 16 characters or more"},
		{[]string{"--listen", "127.0.0.1:0", "--token-file", write(t, "two", "two words that are long\n")}, exitMistake, "line 1: it has 5 words; write NAME ROLE TOKEN on each line"},
	} {
		out, err, code := output(t, "", append([]string{"run", tab}, test.args...)...)
		if code != test.code || !strings.Contains(err, test.want) || strings.Contains(out, "run started") {
			t.Errorf("%q: exit code %d, %s%s", test.args, code, err, out)
		}
	}
}

// A socket is for the daemon's user and group, is left by no daemon, and replaces one that was left.
func TestListenOnSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	p := start(t, talkative, "--listen", "unix:"+path)
	p.until("run ended", "job", "talk")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != socketMode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if out, err, code := output(t, "", "logs", "talk", "--at", "unix:"+path); code != 0 || !strings.HasPrefix(out, "out\n") {
		t.Errorf("exit code %d, %q %q", code, out, err)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left")
	}
}

// A socket that is another program's, as one that takes no connections, is refused and stays.
func TestListenKeepsSocketOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, stderr, code := output(t, "@hourly true\n", "run", "-", "--listen", "unix:"+path)
	if code != exitMistake || !strings.Contains(stderr, "--listen unix:"+path+": the socket may be another program's: ") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the socket is gone")
	}
}

// With a token file, commands and readers need the token.
func TestListenNeedsToken(t *testing.T) {
	token := write(t, "token", "correct-horse-battery-staple\n")
	p, at := listening(t, talkative, "--token-file", token)
	p.until("run ended", "job", "talk")
	if _, err, code := output(t, "", "logs", "talk", "--at", at); code != exitMistake || !strings.Contains(err, "the token is missing or wrong") {
		t.Errorf("exit code %d without the token: %s", code, err)
	}
	if out, err, code := output(t, "", "logs", "talk", "--at", at, "--token-file", token); code != 0 || !strings.HasPrefix(out, "out\n") {
		t.Errorf("exit code %d with the token: %s", code, err)
	}
	for path, want := range map[string]int{"healthz": 200, "readyz": 200, "metrics": 401, "": 401, "api/jobs": 401} {
		if status, _ := get(t, at+path); status != want {
			t.Errorf("/%s: %d without the token", path, status)
		}
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	for _, l := range p.log {
		if text, _ := json.Marshal(l); strings.Contains(string(text), "correct-horse") {
			t.Errorf("the token is in the log: %s", text)
		}
	}
}

// Without a daemon, commands say how to have one.
func TestListenWithoutDaemon(t *testing.T) {
	for _, args := range [][]string{{"logs", "x"}, {"jobs"}, {"runs"}} {
		_, err, code := output(t, "", append(args, "--at", "unix:"+filepath.Join(t.TempDir(), "none"))...)
		if code != exitMistake || !strings.Contains(err, "executord run FILE --listen") {
			t.Errorf("%q: exit code %d, %s", args, code, err)
		}
	}
}

// A pipe in the place of the file with the token keeps executord neither from reading its files again nor from its end.
func TestListenDoesNotWaitForToken(t *testing.T) {
	token := write(t, "token", "correct-horse-battery")
	file := write(t, "tab", "@hourly true\n")
	p := startFile(t, file, "--listen", "127.0.0.1:0", "--token-file", token)
	p.until("listening")
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(token, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("@hourly true\n@daily true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("job scheduled", "schedule", "@daily")
	p.end()
}
