//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// receiver is a server that webhooks are posted to.
type receiver struct {
	url string
	got chan string // what was posted
}

// newReceiver returns one that answers with a status and a text.
func newReceiver(t *testing.T, status int, answer string) *receiver {
	t.Helper()
	r := &receiver{got: make(chan string, 1000)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.got <- string(body)
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

// next returns what is posted next, which has to come.
func (r *receiver) next(t *testing.T) string {
	t.Helper()
	select {
	case text := <-r.got:
		return text
	case <-time.After(patience):
		t.Fatal("nothing is posted")
		return ""
	}
}

// What was sent, and what was given up, is known after a restart, by commands and on the pages, with what it was about
// and the answer. Nothing secret is in it.
func TestNoticesOutliveDaemon(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		good, bad := newReceiver(t, 200, "thanks, SECRETSECRET"), newReceiver(t, 404, "no such room")
		channels := `[notify.ops]
webhook = "` + good.url + `/SECRETSECRET"
[notify.gone]
webhook = "` + bad.url + `"
headers = { Authorization = "SECRETSECRET" }
`
		file := write(t, "jobs.toml", channels+`
[[job]]
name = "bad"
schedule = "0 0 1 1 *"
command = "echo disk full; exit 3"
`)
		p := startFile(t, file, "--store", store)
		p.until("job scheduled")
		wantAnswer(t, store, 0, "bad: due now\n", "run-now", "bad")
		p.until("notification sent")
		p.after(0, "notification not sent")
		p.end()

		all := asked(t, store, "notices", "bad", "-n", "1000")
		last := all[len(all)-1]
		about := last["events"].([]any)[0].(map[string]any)
		if last["namespace"] != "jobs" || last["way"] != "webhook" || last["tries"] != 1.0 || last["id"] == "" ||
			about["job"] != "bad" || about["run"] != 1.0 || about["kind"] != "failed" || about["reason"] != "exit status 3" {
			t.Errorf("the first is %v", last)
		}
		outcomes := make(map[any]any)
		for _, n := range all {
			outcomes[n["channel"]] = n["outcome"]
		}
		if outcomes["ops"] != notify.Sent || outcomes["gone"] != notify.GivenUp {
			t.Errorf("outcomes %v", outcomes)
		}
		out, _, code := output(t, "", "notices", "--store", store, "-n", "1000")
		for _, want := range []string{"AT ", "bad failed in run 1: exit status 3", "200 OK thanks, ***", "given up", "404 Not Found no such room"} {
			if !strings.Contains(out, want) || code != 0 {
				t.Errorf("exit code %d, no %q in %s", code, want, out)
			}
		}
		if _, err, code := output(t, "", "notices", "other", "--store", store); code != 0 || err != "there are no notices\n" {
			t.Errorf("of another job: exit code %d, %s", code, err)
		}

		later := write(t, "jobs.toml", channels+"[[job]]\nname = 'bad'\nschedule = '0 0 1 1 *'\ncommand = 'true'\n")
		p = startFile(t, later, "--store", store, "--listen", "127.0.0.1:0")
		at := p.until("listening")["at"].(string)
		p.until("job scheduled")
		if again, _, code := output(t, "", "notices", "bad", "--at", at, "--json", "-n", "1000"); code != 0 || strings.Count(again, "\n") != len(all) {
			t.Errorf("exit code %d, %d lines, want %d", code, strings.Count(again, "\n"), len(all))
		}
		_, page := get(t, at+"notices")
		if !strings.Contains(page, `<a href="run?job=bad&amp;run=1"><bdi>bad</bdi>, run 1</a>`) || !strings.Contains(page, "404 Not Found no such room") {
			t.Errorf("the page is %s", page)
		}
		p.end()
		text, _ := json.Marshal(append(p.log, line{"out": out, "page": page, "all": all}))
		if strings.Contains(string(text), "SECRET") {
			t.Errorf("a secret is shown: %s", text)
		}
	})
}

// Without a store they are in the daemon, with what waits, and end with it.
func TestNoticesOfDaemon(t *testing.T) {
	r := newReceiver(t, 200, "")
	p := startTOML(t, `[notify.ops]
webhook = "`+r.url+`"
[notify.later]
webhook = "`+r.url+`"
digest = "1h"
[[job]]
name = "bad"
schedule = "@reboot"
command = "exit 3"
`, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	p.until("notification sent", "channel", "ops")
	out, _, code := output(t, "", "notices", "--at", at)
	if !regexp.MustCompile(`(?m)^-  +\S+ +later +waiting +bad failed in run 1: exit status 3 +held: digest, until 20`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^20.* \S+ +ops +sent +bad failed in run 1: exit status 3 +200 OK$`).MatchString(out) || code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	p.end() // what waits is sent
	p.want(1, "notification sent", "channel", "later")
}

// A digest outlives the daemon that gathers it and is killed: it is in the store meanwhile, and the next daemon sends
// it whole, once, as its own file has the channel.
func TestNoticesDigestOfKilledDaemon(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		r := newReceiver(t, 200, "thanks")
		channel := "[notify.ops]\nwebhook = '" + r.url + "'\n"
		file := write(t, "jobs.toml", channel+"digest = '1h'\n[[job]]\nname = 'a'\nschedule = '@reboot'\ncommand = 'echo no space left; exit 3'\n"+
			"[[job]]\nname = 'b'\nschedule = '@reboot'\ncommand = 'exit 4'\n")
		p := startFile(t, file, "--store", store)
		p.until("run ended")
		for all := asked(t, store, "notices"); len(all) != 1 || len(all[0]["events"].([]any)) != 2; all = asked(t, store, "notices") {
			if len(all) == 1 && all[0]["outcome"] != notify.Waiting {
				t.Fatalf("the store has %v", all)
			}
		}
		p.cmd.Process.Kill()
		<-p.exited
		p.killLeft()

		later := write(t, "jobs.toml", channel+"[[job]]\nname = 'a'\nschedule = '0 0 1 1 *'\ncommand = 'true'\n")
		heirs := []*process{startFile(t, later, "--store", store), startFile(t, later, "--store", store)}
		message := r.next(t)
		for _, want := range []string{"a has failed: exit status 3", "no space left", "b has failed: exit status 4"} {
			if !strings.Contains(message, want) {
				t.Errorf("no %q in the message %s", want, message)
			}
		}
		for _, p := range heirs {
			p.until("job scheduled")
			p.end()
		}
		all := asked(t, store, "notices")
		if len(all) != 1 || all[0]["outcome"] != notify.Sent || len(r.got) != 0 {
			t.Errorf("the store has %v, and %d further messages were sent", all, len(r.got))
		}
	})
}

// A newcomer with a crontab whose job fails adds a file with a webhook, is told of the failure within a minute, and
// finds on the pages what the job wrote, by following two links at most.
func TestNewcomerIsToldOfFailure(t *testing.T) {
	r := newReceiver(t, 200, "")
	tab := write(t, "crontab", "# name: backup\n@every 1s echo 'backup: no space left on device'; exit 4\n# name: report\n0 3 * * * true\n")
	channels := write(t, "notify.toml", "[notify.phone]\nwebhook = \""+r.url+"\"\npreset = \"ntfy\"\nlink = \"https://cron.example.org/\"\n")
	if out, err, code := output(t, "", "notify", "test", channels); code != 0 || !strings.HasPrefix(out, "phone  200 OK") {
		t.Fatalf("exit code %d: %s%s", code, out, err)
	}
	if test := r.next(t); !strings.Contains(test, "this is a test") {
		t.Errorf("the test is %s", test)
	}

	began := time.Now()
	p := startFile(t, tab, channels, "--listen", "127.0.0.1:0")
	at := p.until("listening")["at"].(string)
	message := r.next(t)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("told after %v", took)
	}
	for _, want := range []string{"backup has failed: exit status 4", "backup: no space left on device"} {
		if !strings.Contains(message, want) {
			t.Errorf("no %q in the message %s", want, message)
		}
	}

	to := regexp.MustCompile(`https://cron\.example\.org/(run\?job=backup&run=1)\s`).FindStringSubmatch(message)
	if to == nil {
		t.Fatalf("the message leads nowhere: %s", message)
	}
	for _, from := range []string{"", "notices", to[1]} { // each in two taps at most
		_, page := get(t, at+from)
		taps := 0
		for ; taps < 2 && !strings.Contains(page, ">backup: no space left on device</li>"); taps++ {
			to := regexp.MustCompile(`href="(run\?job=backup[^"]*)"`).FindStringSubmatch(page)
			if to == nil {
				t.Fatalf("after %d taps there is no way to the run: %s", taps, page)
			}
			_, page = get(t, at+strings.ReplaceAll(to[1], "&amp;", "&"))
		}
		if !strings.Contains(page, ">backup: no space left on device</li>") {
			t.Errorf("from /%s, after %d taps, the page is %s", from, taps, page)
		}
	}
	p.end()
}
