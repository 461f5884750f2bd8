//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// receiver returns a server that answers to webhooks with a status and a text.
func receiver(t *testing.T, status int, answer string) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What was sent, what was given up, and what waits for a digest are known after a restart, by commands and on the pages,
// with what it was about and the answer; the next daemon sends what waits as its own file has the channel. Nothing secret
// is in it.
func TestNoticesOutliveDaemon(t *testing.T) {
	onEachStore(t, func(t *testing.T, store string) {
		good := receiver(t, 200, "thanks, SECRETSECRET")
		channels := "[notify.ops]\nwebhook = '" + good + "/SECRETSECRET'\n" +
			"[notify.gone]\nwebhook = '" + receiver(t, 404, "no such room") + "'\nheaders = { Authorization = 'SECRETSECRET' }\n" +
			"[notify.late]\nwebhook = '" + good + "/SECRETSECRET'\n"
		const bad = "[[job]]\nname = 'bad'\nschedule = '0 0 1 1 *'\ncommand = 'echo disk full; exit 3'\n"
		file := write(t, "jobs.toml", channels+"digest = '1h'\n"+bad)
		p := startFile(t, file, "--store", store)
		p.until("job scheduled")
		wantAnswer(t, store, 0, "bad: due now\n", "run-now", "bad")
		p.until("notification sent", "channel", "ops")
		p.after(0, "notification not sent", "channel", "gone")
		p.end()

		known := func(late string) []map[string]any {
			t.Helper()
			all := asked(t, store, "notices", "bad", "-n", "1000")
			want := map[any]any{"ops": notify.Sent, "gone": notify.GivenUp, "late": late}
			for _, n := range all {
				about := n["events"].([]any)[0].(map[string]any)
				if n["outcome"] != want[n["channel"]] || n["namespace"] != "jobs" || n["way"] != "webhook" || n["id"] == "" ||
					about["job"] != "bad" || about["run"] != 1.0 || about["kind"] != "failed" || about["reason"] != "exit status 3" {
					t.Errorf("there is %v", n)
				}
			}
			if len(all) != len(want) {
				t.Errorf("there are %v", all)
			}
			return all
		}
		known(notify.Waiting)
		if _, err, code := output(t, "", "notices", "other", "--store", store); code != 0 || err != "there are no notices\n" {
			t.Errorf("of another job: exit code %d, %s", code, err)
		}

		p = startFile(t, write(t, "jobs.toml", channels+bad), "--store", store, "--listen", "127.0.0.1:0")
		at := p.until("listening")["at"].(string)
		p.after(0, "notification sent", "channel", "late")
		out, err := here("notices", "bad", "--at", at)
		if err != nil || strings.Count(out, "\n") != 4 || !strings.Contains(out, "200 OK thanks, ***") {
			t.Errorf("%v: %s", err, out)
		}
		_, page := get(t, at+"notices")
		if !strings.Contains(page, `<a href="run?job=bad&amp;run=1"><bdi>bad</bdi>, run 1</a>`) || !strings.Contains(page, "404 Not Found no such room") {
			t.Errorf("the page is %s", page)
		}
		p.end()
		if text, _ := json.Marshal(append(p.log, line{"out": out, "page": page, "all": known(notify.Sent)})); strings.Contains(string(text), "SECRET") {
			t.Errorf("a secret is shown: %s", text)
		}
	})
}

// The table of notices has what each is about, and what there is to say of how it was sent.
func TestPrintNotices(t *testing.T) {
	at := time.Date(2026, 11, 27, 3, 0, 0, 0, time.Local)
	failed := []notify.Event{{Kind: notify.Failed, Job: "bad", Run: 7, Reason: "exit status 3"}}
	var b strings.Builder
	printNotices(&b, []notify.Notice{
		{Channel: "later", Host: "a", Outcome: notify.Waiting, Held: "digest", Until: at, Events: failed, More: 2},
		{Channel: "ops", Host: "a", At: at, Outcome: notify.Sent, Tries: 1, Answer: "200 OK", Events: failed},
		{Channel: "ops", Host: "b", At: at, Outcome: notify.GivenUp, Tries: 8, Error: "503", Answer: "200 OK", Subject: "a test"},
	})
	want := `
AT                   HOST  CHANNEL  OUTCOME   ABOUT                                           ANSWER
-                    a     later    waiting   bad failed in run 7: exit status 3, and 2 more  held: digest, until 2026-11-27 03:00:00
2026-11-27 03:00:00  a     ops      sent      bad failed in run 7: exit status 3              200 OK
2026-11-27 03:00:00  b     ops      given up  a test                                          503 (8 tries)
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}
