package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

// noticed is a daemon with notices of two jobs on two channels.
func noticed() *fake {
	f, run := newFake("backup")
	run.End(nil)
	at := time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
	about := func(kind notify.Kind, job string, run int, reason string) []notify.Event {
		return []notify.Event{{Kind: kind, Job: job, Run: run, At: at, Reason: reason}}
	}
	f.channels = []notify.Counts{{Channel: "ops", Sent: 2, Waiting: 1}, {Channel: "phone", Failed: 4}}
	f.notices = []notify.Notice{
		{ID: "c", Channel: "ops", Outcome: notify.Waiting, Held: notify.HeldByQuiet, Until: time.Now().Add(90 * time.Minute), First: at,
			Events: about(notify.Skipped, "sync", 0, ""), More: 3, Subject: "[web1] 4 skipped"},
		{ID: "b", Host: "web2", Channel: "phone", Way: "webhook", Outcome: notify.GivenUp, At: at, Tries: 8, Error: "503 try again later", Events: about(notify.Failed, "sync", 9, "timeout")},
		{ID: "a", Namespace: "shop", Channel: "ops", Outcome: notify.Sent, At: at, Tries: 1, Answer: "200 OK queued", Events: about(notify.Failed, "backup", 1, "exit status 3")},
	}
	return f
}

// The page of notices is behind a tab of every page. It says for each message what it is about, with a way to the run,
// by which host, on which channel, what became of it, and what the answer was; and what waits, why and until when.
func TestServerShowsNotices(t *testing.T) {
	f := noticed()
	h := New(Config{Daemon: f}).Handler()
	for _, page := range []string{"/", "/run?job=backup&run=1", "/runs"} {
		if text := ask(h, "GET", page, nil).Body.String(); !strings.Contains(text, `href="notices"`) {
			t.Errorf("%s has no tab: %s", page, text)
		}
	}
	w := ask(h, "GET", "/notices", nil)
	text := w.Body.String()
	for _, want := range []string{
		`<a href="run?job=backup&amp;run=1"><bdi>backup</bdi>, run 1</a> <span class="v">failed: exit status 3</span>`, ">200 OK queued<",
		`<i class="pill bad">given up</i> <span class="v">8 tries</span>`, "503 try again later", "<bdi>web2</bdi>", `<i class="pill held">waiting</i> <span class="v">held: quiet hours</span>`,
		`<a href="job?name=sync"><bdi>sync</bdi></a>`, "<summary>and 3 more</summary>", "<summary>why</summary>", "in\u00a01.", `title="2026-11-27 03:00:00 `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in %s", want, text)
		}
	}
	if w.Code != 200 || strings.Contains(text, "<script>") {
		t.Errorf("status %d", w.Code)
	}
	for find, want := range map[string]int{"": 3, "phone": 1, "SYNC": 2, "4 skipped": 1, "nothing": 0} {
		text := ask(h, "GET", "/notices?find="+strings.ReplaceAll(find, " ", "+"), nil).Body.String()
		if got := strings.Count(text, `<tr id="n`); got != want {
			t.Errorf("%q: %d notices, want %d", find, got, want)
		}
	}
	f.err = errors.New("down")
	if text := ask(New(Config{Daemon: f}).Handler(), "GET", "/notices", nil).Body.String(); strings.Count(text, `<tr id="n`) != 3 || !strings.Contains(text, "the store does not answer: down") {
		t.Errorf("without a store: %s", text)
	}
	f.err, f.notices, f.channels = nil, nil, nil
	if text := ask(New(Config{Daemon: f}).Handler(), "GET", "/notices", nil).Body.String(); !strings.Contains(text, "[notify.NAME]") || strings.Contains(text, `role="search"`) {
		t.Errorf("without channels: %s", text)
	}
}

// A test is sent on a channel once it is confirmed with a reason. The answer of the channel is on the page, and the log and
// the audit log say who has sent it on which channel, and whether it came to that. A channel that has gone has none.
func TestServerTestsChannel(t *testing.T) {
	f := noticed()
	name := "on <call>\x1b[1m"
	f.channels = append(f.channels, notify.Counts{Channel: name}, notify.Counts{Channel: "old", Gone: true})
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	h := New(Config{Daemon: f, Access: ByToken, Tokens: tokens, Durable: jobs, Log: slog.New(slog.NewTextHandler(log, nil)),
		Act: func(context.Context, client.Order) (admin.Answer, error) {
			return admin.Answer{}, errors.New("it is no order")
		}}).Handler()
	text := ask(h, "GET", "/notices", header("Authorization", "Bearer "+token)).Body.String()
	links := regexp.MustCompile(`href="(act\?channel=[^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(links) != 3 || strings.Contains(text, "\x1b") || strings.Contains(text, "<call>") {
		t.Fatalf("the page has the links %q: %s", links, text)
	}
	const shown = `on &lt;call&gt;\x1b[1m`
	text = ask(h, "GET", "/"+html.UnescapeString(links[2][1]), header("Authorization", "Bearer "+token)).Body.String()
	if !strings.Contains(text, "Send a test on "+shown) || !strings.Contains(text, `name="reason"`) || len(f.tested) > 0 {
		t.Errorf("the confirmation, before which %q were tested: %s", f.tested, text)
	}
	form := func(channel string) url.Values {
		return url.Values{"do": {"test-channel"}, "channel": {channel}, "reason": {"a new phone"}}
	}
	f.answer = "250 <OK>\x1b[1m"
	text = did(t, h, form(name))
	if len(f.tested) != 1 || f.tested[0] != name || !strings.Contains(text, "sent on "+shown) || !strings.Contains(text, `250 &lt;OK&gt;\x1b[1m`) || !strings.Contains(text, `<a href="notices">Back</a>`) {
		t.Errorf("%q were tested: %s", f.tested, text)
	}
	f.refusal = errors.New("550 no such user")
	w := post(h, form("ops"), nil)
	if w.Code != 503 || !strings.Contains(w.Body.String(), "not sent: 550 no such user") {
		t.Errorf("a refusal: %d %s", w.Code, w.Body)
	}
	f.refusal = daemon.ErrNoChannel
	if w := post(h, form("phone"), nil); w.Code != 404 || !strings.Contains(w.Body.String(), "The channel is gone.") {
		t.Errorf("a channel that goes meanwhile: %d %s", w.Code, w.Body)
	}
	acts, err := jobs.Acts(t.Context(), durable.ActFilter{Limit: 9})
	if err != nil || len(acts) != 3 {
		t.Fatalf("noted %+v, %v", acts, err)
	}
	for i, want := range []string{"no channel phone", "not sent on ops", `sent on on <call>\x1b[1m`} {
		if a := acts[i]; a.Action != "test-channel" || a.Answer != want || a.Reason != "a new phone" || a.Who == "" {
			t.Errorf("noted %+v, want %s", a, want)
		}
	}
	if !strings.Contains(log.String(), "action=test-channel channel=ops reason=") || !strings.Contains(log.String(), "done=true") {
		t.Errorf("the log is %s", log)
	}
	for want, form := range map[int]url.Values{404: form("old"), 400: form("")} {
		if w := post(h, form, nil); w.Code != want {
			t.Errorf("%v: %d, want %d", form, w.Code, want)
		}
	}
	if w := post(h, url.Values{"do": {"test-channel"}, "channel": {"ops"}}, nil); w.Code != 400 {
		t.Errorf("without a reason: %d", w.Code)
	}
	if w := post(h, form("ops"), header("Sec-Fetch-Site", "cross-site")); w.Code != 403 || len(f.tested) != 3 {
		t.Errorf("of another site: %d, tested %q", w.Code, f.tested)
	}
}

// Notices are to be had as JSON, so many, and those of jobs.
func TestServerNoticesJSON(t *testing.T) {
	f := noticed()
	h := New(Config{Daemon: f}).Handler()
	for query, want := range map[string]string{
		"": "c b a", "?n=2": "c b", "?job=sync": "c b", "?job=backup": "a", "?job=shop/backup": "a", "?job=backup&job=sync&n=1": "c", "?job=none": "",
	} {
		var ids []string
		in := json.NewDecoder(ask(h, "GET", "/api/notices"+query, nil).Body)
		for in.More() {
			var n notify.Notice
			if err := in.Decode(&n); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, n.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"?n=0", "?n=1001", "?n=x"} {
		if code := ask(h, "GET", "/api/notices"+query, nil).Code; code != 400 {
			t.Errorf("%q: %d", query, code)
		}
	}
	f.err = errors.New("down")
	if w := ask(h, "GET", "/api/notices", nil); w.Code != 503 || !strings.Contains(fmt.Sprint(w.Body), "the store does not answer: down") {
		t.Errorf("without a store: %d %s", w.Code, w.Body)
	}
}

// Each page says that a job file has a mistake, that the daemon is not ready, as on a full disk, and that there was no room
// for events; a page says nothing while all is well.
func TestServerSaysWhatConcernsAllPages(t *testing.T) {
	f := noticed()
	wrong := false
	read := time.Now().Add(-3 * time.Hour)
	server := func() http.Handler {
		return New(Config{Daemon: f, Reading: func() (bool, time.Time) { return !wrong, read }}).Handler()
	}
	paths := []string{"/", "/job?name=backup", "/notices", "/runs", "/run?job=backup&run=1"}
	h := server()
	for _, path := range paths {
		if text := ask(h, "GET", path, nil).Body.String(); !strings.Contains(text, `<div id="banner">`) || strings.Contains(text, `<p role="alert"`) {
			t.Errorf("%s has a banner: %s", path, text)
		}
	}
	wrong, f.ready = true, errors.New("disk <full>\x1b[1m")
	f.channels[1].Dropped = 7
	h = server()
	for _, path := range paths {
		text := ask(h, "GET", path, nil).Body.String()
		for _, want := range []string{
			"A job file has a mistake", "3\u00a0h\u00a0ago", `not ready: disk &lt;full&gt;\x1b[1m`, `no room for 7 of the events that <a href="notices">`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %s: %s", path, want, text)
			}
		}
	}
}
