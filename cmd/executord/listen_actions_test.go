//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// doing posts an action to a daemon that listens on a socket, and returns the page that answers.
func doing(t *testing.T, socket string, values url.Values) int {
	t.Helper()
	code, _ := over(t, socket, func(c *http.Client) (*http.Response, error) { return c.PostForm("http://localhost/act", values) })
	return code
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

// over asks a daemon that listens on a socket, and returns its answer.
func over(t *testing.T, socket string, ask func(*http.Client) (*http.Response, error)) (status int, text string) {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	answer, err := ask(&client)
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

// With actions, jobs can be run, paused and resumed, and a run be ended while its schedule goes on; without a store and
// with one. Each is in the log, and with its reason in the store.
func TestListenActs(t *testing.T) {
	for name, args := range map[string][]string{"memory": nil, "store": {"--store", filepath.Join(t.TempDir(), "jobs.db")}} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "sock")
			p := startFile(t, write(t, "jobs.crontab", "# name: long\n0 0 1 1 * echo up; exec sleep 1000\n# name: tick\n@every 1h true\n"),
				append(args, "--listen", "unix:"+socket, "--actions")...)
			p.until("job scheduled", "job", "tick")
			act := func(do, job, run string) {
				t.Helper()
				form := url.Values{"do": {do}, "job": {job}, "run": {run}, "reason": {"a test"}}
				if code := doing(t, socket, form); code != http.StatusOK {
					t.Errorf("%s %s: %d", do, job, code)
				}
				p.after(0, "ui: action", "action", do, "job", job, "reason", "a test", "who", overSocket(t), "done", true)
			}
			act("run-now", "long", "")
			p.after(0, "up", "job", "long")
			act("end-run", "long", "1")
			p.after(0, "run ended", "job", "long", "outcome", "canceled", "signal", "SIGTERM")
			for jobs := ""; !strings.Contains(jobs, " waiting "); { // its schedule goes on, once the store has the end
				jobs, _, _ = output(t, "", "jobs", "long", "--at", "unix:"+socket)
			}
			act("run-now", "long", "")
			p.after(0, "up", "job", "long", "run", 2)
			act("end-run", "long", "2")
			p.after(0, "run ended", "job", "long", "run", 2)
			act("pause", "tick", "")
			if jobs, _, _ := output(t, "", "jobs", "tick", "--at", "unix:"+socket); !strings.Contains(jobs, " paused ") {
				t.Errorf("the jobs are %s", jobs)
			}
			act("resume", "tick", "")
			runs, _, _ := output(t, "", "runs", "long", "--at", "unix:"+socket)
			if strings.Count(runs, " canceled ") != 2 {
				t.Errorf("the runs are %s", runs)
			}
			doing(t, socket, url.Values{"do": {"end-run"}, "job": {"long"}, "run": {"2"}, "reason": {"a test"}})
			p.after(0, "ui: action", "action", "end-run", "done", false, "answer", "run 2 is not in progress")
			_, acts := over(t, socket, func(c *http.Client) (*http.Response, error) { return c.Get("http://localhost/acts") })
			for _, want := range []string{"run-now", "end-run", "pause", "resume", "a test", overSocket(t), `<a href="job?name=tick">`,
				"run 2 is not in progress"} {
				if !strings.Contains(acts, want) {
					t.Errorf("the actions in the store have no %s: %s", want, acts)
				}
			}
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// A daemon whose node is drained begins no run, not even one that is asked for, until it is undrained; without a store and
// with one. The name of the node is on the page of the nodes.
func TestListenDrainsNode(t *testing.T) {
	for name, args := range map[string][]string{"memory": nil, "store": {"--store", filepath.Join(t.TempDir(), "jobs.db")}} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "sock")
			p := startFile(t, write(t, "jobs.crontab", "# name: long\n0 0 1 1 * echo up; exec sleep 1000\n# name: other\n0 0 1 1 * echo down\n"),
				append(args, "--listen", "unix:"+socket, "--actions")...)
			p.until("job scheduled", "job", "other")
			nodes := func() string {
				_, text := over(t, socket, func(c *http.Client) (*http.Response, error) { return c.Get("http://localhost/nodes") })
				return text
			}
			node := ""
			for node == "" { // the daemon may not have joined yet
				if m := regexp.MustCompile(`href="act\?do=drain&amp;node=([^"]+)"`).FindStringSubmatch(nodes()); m != nil {
					node = m[1]
				}
			}
			act := func(form url.Values) {
				t.Helper()
				form.Set("reason", "a test")
				if code := doing(t, socket, form); code != http.StatusOK {
					t.Errorf("%v: %d", form, code)
				}
				p.after(0, "ui: action", "action", form.Get("do"), "who", overSocket(t), "done", true)
			}
			act(url.Values{"do": {"run-now"}, "job": {"long"}})
			p.after(0, "up", "job", "long")
			act(url.Values{"do": {"drain"}, "node": {node}})
			act(url.Values{"do": {"run-now"}, "job": {"other"}})
			for text := ""; !strings.Contains(text, ">draining</i>") || !strings.Contains(text, "<td>1<td class=v>"); { // it holds what runs
				text = nodes()
			}
			act(url.Values{"do": {"end-run"}, "job": {"long"}, "run": {"1"}})
			p.after(0, "run ended", "job", "long")
			before := len(p.log)
			for !strings.Contains(nodes(), ">drained</i>") {
			}
			act(url.Values{"do": {"undrain"}, "node": {node}})
			p.after(0, "down", "job", "other")
			for _, l := range p.log[:before] {
				if l.is("down", "job", "other") {
					t.Error("a drained node has begun a run")
				}
			}
			p.signal(syscall.SIGTERM)
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// Actions need more than to be on this machine.
func TestListenRefusesActions(t *testing.T) {
	tab := write(t, "tab", "@reboot true\n")
	for want, args := range map[string][]string{
		"all users of this machine could act": {"--listen", "127.0.0.1:0", "--actions"},
		"need --listen":                       {"--actions"},
	} {
		_, err, code := output(t, "", append([]string{"run", tab}, args...)...)
		if code != exitUsage || !strings.Contains(err, want) {
			t.Errorf("%q: exit code %d, %s", args, code, err)
		}
	}
}
