package notify_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable/memory"
)

// request is what a server was sent.
type request struct {
	path, body string
	header     http.Header
}

// server returns a server that answers with a status.
func server(t *testing.T, status int) (address string, got chan request) {
	t.Helper()
	got = make(chan request, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.URL.RequestURI(), string(body), r.Header}
		w.WriteHeader(status)
		io.WriteString(w, "said "+r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// send has a channel with a way send one event, and returns what is kept of it.
func send(t *testing.T, w notify.Way, e notify.Event) notify.Notice {
	t.Helper()
	n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
	n.Set([]*notify.Channel{{Name: "c", Way: w, ForAll: true}})
	n.Tell(e, nil)
	n.Close(t.Context())
	if sent := n.Notices(); len(sent) == 1 {
		return sent[0]
	}
	return notify.Notice{}
}

// Each preset has the body that its receiver reads.
func TestWebhookPresets(t *testing.T) {
	address, got := server(t, 200)
	for _, test := range []struct {
		config notify.WebhookConfig
		check  func(r request, body map[string]any) bool
	}{
		{notify.WebhookConfig{Preset: "slack"}, func(r request, b map[string]any) bool {
			text, _ := b["text"].(string)
			return strings.HasPrefix(text, "*[host] backup has failed: exit &lt;1&gt;*\n```\n") && strings.Contains(text, "disk full")
		}},
		{notify.WebhookConfig{Preset: "teams"}, func(r request, b map[string]any) bool {
			return b["type"] == "message" && strings.Contains(r.body, "AdaptiveCard") && strings.Contains(r.body, "disk full")
		}},
		{notify.WebhookConfig{Preset: "ntfy", Token: "tk_1"}, func(r request, _ map[string]any) bool {
			return r.header.Get("Title") == "[host] backup has failed: exit <1>" && r.header.Get("Priority") == "high" &&
				r.header.Get("Authorization") == "Bearer tk_1" && strings.Contains(r.body, "disk full")
		}},
		{notify.WebhookConfig{}, func(r request, b map[string]any) bool {
			events, _ := b["events"].([]any)
			return len(events) == 1 && events[0].(map[string]any)["job"] == "backup" && r.header.Get("Content-Type") == "application/json"
		}},
		{notify.WebhookConfig{Template: `{"a":{{json .Subject}},"n":{{len .Events}}}`, Headers: map[string]string{"X-Key": "k"}}, func(r request, b map[string]any) bool {
			return b["a"] == "[host] backup has failed: exit <1>" && b["n"] == 1.0 && r.header.Get("X-Key") == "k"
		}},
	} {
		test.config.URL = address + "/hook"
		w, err := notify.NewWebhook(test.config)
		if err != nil {
			t.Fatal(err)
		}
		kept := send(t, w, notify.Event{Kind: notify.Failed, Job: "backup", Reason: "exit <1>", Output: "disk full"})
		var body map[string]any
		r := <-got
		json.Unmarshal([]byte(r.body), &body)
		if !test.check(r, body) || kept.Error != "" || !strings.HasPrefix(kept.Answer, "200 OK said") {
			t.Errorf("%+v: sent %+v, kept %+v", test.config, r, kept)
		}
	}
}

// A channel with a link leads to the page of the run, by a tap where the receiver has one; of several events it leads
// to that of the notices. Without a link there is no address.
func TestMessageLinks(t *testing.T) {
	address, got := server(t, 200)
	run := "https://cron.example.org/jobs/run?job=a%2Fb+c&run=7"
	for preset, want := range map[string]func(r request, url string) bool{
		"generic": func(r request, url string) bool {
			return strings.Contains(r.body, strings.ReplaceAll(url, "&", `\u0026`))
		},
		"ntfy": func(r request, url string) bool { return r.header.Get("Click") == url && strings.Contains(r.body, run) },
		"teams": func(r request, url string) bool {
			return strings.Contains(r.body, `"actions":[{"title":"Show","type":"Action.OpenUrl","url":"`+strings.ReplaceAll(url, "&", `\u0026`)+`"}]`)
		},
		"slack": func(r request, url string) bool {
			var body map[string]string
			json.Unmarshal([]byte(r.body), &body)
			return strings.HasPrefix(body["text"], "*<"+strings.ReplaceAll(url, "&", "&amp;")+"|[host] ") && !strings.Contains(body["text"][:60+len(url)], "||")
		},
	} {
		for _, link := range []string{"https://cron.example.org/jobs/", ""} {
			w, err := notify.NewWebhook(notify.WebhookConfig{URL: address, Preset: preset})
			if err != nil {
				t.Fatal(err)
			}
			n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
			n.Set([]*notify.Channel{{Name: "c", Way: w, ForAll: true, Link: link, Digest: time.Hour}})
			e := notify.Event{Kind: notify.Failed, Job: "a/b c", Run: 7, Reason: "exit | status"}
			n.Tell(e, nil)
			n.Close(t.Context())
			n = notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
			n.Set([]*notify.Channel{{Name: "c", Way: w, ForAll: true, Link: link, Digest: time.Hour}})
			n.Tell(e, nil)
			n.Tell(notify.Event{Kind: notify.Unreachable}, nil)
			n.Close(t.Context())
			one, several := <-got, <-got
			if link == "" {
				if strings.Contains(one.body+several.body, "cron.example.org") || one.header.Get("Click") != "" {
					t.Errorf("%s without a link: %s", preset, one.body)
				}
				continue
			}
			if !want(one, run) || preset != "generic" && !want(several, "https://cron.example.org/jobs/notices") {
				t.Errorf("%s: %+v and %+v", preset, one, several)
			}
		}
	}
}

// What a server refuses is not sent again, and the URL stands nowhere.
func TestWebhookRefused(t *testing.T) {
	for _, status := range []int{301, 400, 401, 404, 410} {
		address, got := server(t, status)
		w, err := notify.NewWebhook(notify.WebhookConfig{URL: address + "/services/T0SECRETKEY", Token: "hunter2hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		kept := send(t, w, failure("a"))
		if len(got) != 1 || !strings.Contains(kept.Error, fmt.Sprint(status)) || strings.Contains(kept.Error, "SECRET") {
			t.Errorf("%d: %d requests, kept %+v", status, len(got), kept)
		}
	}
}

// A server that can't be reached, or is busy, is tried again: such errors are no refusals, and have no URL.
func TestWebhookTemporaryErrors(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	busy, _ := server(t, 503)
	limited, _ := server(t, 429)
	for _, address := range []string{closed.URL, busy, limited} {
		w, err := notify.NewWebhook(notify.WebhookConfig{URL: address + "/T0SECRETKEY"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Send(t.Context(), notify.Message{Events: []notify.Event{{}}})
		var refusal *notify.Refusal
		if err == nil || errors.As(err, &refusal) || strings.Contains(err.Error(), "http://") {
			t.Errorf("%v", err)
		}
	}
}

// What can't be sent is refused when it is configured, and no error shows a URL.
func TestWebhookMistakes(t *testing.T) {
	for _, c := range []notify.WebhookConfig{
		{}, {URL: "SECRET"}, {URL: "ftp://h/SECRET"}, {URL: "http://"}, {URL: "http://h/\x01SECRET"},
		{URL: "http://h", Preset: "slak"}, {URL: "http://h", Preset: "slack", Template: "x"},
		{URL: "http://h", Template: "{{.Nothing}}"}, {URL: "http://h", Template: "{{"},
	} {
		if _, err := notify.NewWebhook(c); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Headers are sent as they are written. A value that may be a secret, by its name, its length or since it is from a
// file, stands in no answer; one that can't is left as it is.
func TestWebhookHeaders(t *testing.T) {
	got := make(chan http.Header, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		fmt.Fprint(w, r.Header["Authorization"], r.Header["X-Key"], r.Header["X-Long"], r.Header["X-File"], r.Header["X-Priority"])
	}))
	defer s.Close()
	w, err := notify.NewWebhook(notify.WebhookConfig{
		URL: s.URL, Headers: map[string]string{"Authorization": "Basic aGk6aGk=", "X-Key": "k1", "x-long": "longlonglong", "X-Priority": " 5 ", "Content-Type": "text/x"},
		Hidden: map[string]string{"X-File": "f1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := send(t, w, failure("a"))
	h := <-got
	if want := "200 OK [***] [***] [***] [***] [5]"; kept.Answer != want {
		t.Errorf("answer %q, want %q", kept.Answer, want)
	}
	for name, want := range map[string]string{"Authorization": "Basic aGk6aGk=", "X-Key": "k1", "X-Long": "longlonglong", "X-Priority": "5", "X-File": "f1", "Content-Type": "text/x"} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
}

// A header that can't be sent, or is not the sender's to choose, is refused when it is configured, and its value is not
// shown.
func TestWebhookHeaderMistakes(t *testing.T) {
	for name, want := range map[string]string{
		"": "cannot be the name", "a b": "cannot be the name", "a:": "cannot be the name", "x\r\ny": "cannot be the name", "é": "cannot be the name",
		"host": "the header Host cannot be set", "Content-Length": "cannot be set", "transfer-encoding": "cannot be set",
	} {
		for _, c := range []notify.WebhookConfig{{Headers: map[string]string{name: "SECRET"}}, {Hidden: map[string]string{name: "SECRET"}}} {
			c.URL = "http://h"
			if _, err := notify.NewWebhook(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for value, want := range map[string]string{"": "has no value", " ": "has no value", "SECRET\r\nX-Other: 1": "not one line", "SECRET\x00": "not one line", "SECRET\n": "not one line"} {
		_, err := notify.NewWebhook(notify.WebhookConfig{URL: "http://h", Headers: map[string]string{"X-A": value}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", value, err)
		}
	}
	for _, c := range []notify.WebhookConfig{
		{Headers: map[string]string{"x-a": "1", "X-A": "2"}}, {Headers: map[string]string{"x-a": "1"}, Hidden: map[string]string{"X-A": "2"}},
		{Headers: map[string]string{"authorization": "1"}, Token: "2"}, {Hidden: map[string]string{"Authorization": "1"}, Token: "2"},
	} {
		c.URL = "http://h"
		if _, err := notify.NewWebhook(c); err == nil || !strings.Contains(err.Error(), "is set twice") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A monitor is told of each run's start and end, and a failure is never told as a success.
//
// Each ping of a run has its ID, so that a monitor knows which start belongs to which end.
func TestPingTellsSuccessAndFailureApart(t *testing.T) {
	address, got := server(t, 200)
	due := time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	uuid, ids := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), make(map[string]bool)
	for _, test := range []struct {
		style string
		kind  notify.Kind
		want  string // "" for no request
	}{
		{"healthchecks", notify.Started, "/k/a-b/start?rid=ID"},
		{"healthchecks", notify.Succeeded, "/k/a-b?rid=ID"},
		{"healthchecks", notify.Failed, "/k/a-b/fail?rid=ID"},
		{"healthchecks", notify.NotStarted, "/k/a-b/fail?rid=ID"},
		{"healthchecks", notify.Canceled, "/k/a-b/fail?rid=ID"},
		{"healthchecks", notify.Lost, "/k/a-b/log?rid=ID"},
		{"healthchecks", notify.Tested, "/k/-/log"},
		{"cronitor", notify.Started, "/k/a-b?series=ID&state=run"},
		{"cronitor", notify.Succeeded, "/k/a-b?message=why%0Alast&series=ID&state=complete"},
		{"cronitor", notify.Failed, "/k/a-b?message=why%0Alast&series=ID&state=fail"},
		{"cronitor", notify.Lost, ""},
		{"success", notify.Succeeded, "/k/a-b"},
		{"success", notify.Failed, ""},
		{"success", notify.Started, ""},
		{"success", notify.Canceled, ""},
	} {
		p, err := notify.NewPing(address+"/k/{job}", test.style)
		if err != nil {
			t.Fatal(err)
		}
		e := notify.Event{Kind: test.kind, Job: "a/b", Run: 7, Due: due, Reason: "why", Output: "last"}
		if test.kind == notify.Tested {
			e.Job, e.Run = "-", 0
		}
		kept := send(t, p, e)
		var r request
		if len(got) > 0 {
			r = <-got
		}
		if id := uuid.FindString(r.path); id != "" {
			ids[id] = true
			r.path = strings.Replace(r.path, id, "ID", 1)
		}
		if r.path != test.want || kept.Error != "" || test.want != "" && r.body != "why\nlast" {
			t.Errorf("%s, %s: got %q with %q, want %q; kept %+v", test.style, test.kind, r.path, r.body, test.want, kept)
		}
	}
	if len(ids) != 1 {
		t.Errorf("one run has the IDs %v", ids)
	}
	p, err := notify.NewPing(address+"/k?create=1", "healthchecks")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []notify.Event{{Job: "a/b", Run: 8, Due: due}, {Job: "a", Run: 7, Due: due}, {Job: "a/b", Run: 7, Due: due.Add(time.Minute)}} {
		e.Kind = notify.Started
		send(t, p, e)
		r := <-got
		if id := uuid.FindString(r.path); id == "" || ids[id] || !strings.HasPrefix(r.path, "/k/start?create=1&rid=") {
			t.Errorf("%+v: %s", e, r.path)
		} else {
			ids[id] = true
		}
	}
}

// The Message-ID of a mail is one that no server takes offence at, whatever the name of this host.
func TestMailMessageID(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		var input string
		m, err := notify.NewMail(notify.MailConfig{
			From: "Cron <cron@example.org>", To: []string{"me@example.org"}, Sendmail: []string{"sendmail"},
			Run: func(_ context.Context, _, _ []string, in string) (string, error) {
				input = in
				return "", nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		send(t, m, failure("backup"))
		id := regexp.MustCompile(`(?m)^Message-ID: <([A-Za-z0-9]+@example\.org)>$`).FindStringSubmatch(input)
		if id == nil || seen[id[1]] {
			t.Fatalf("%q in %s", id, input)
		}
		seen[id[1]] = true
	}
}

// Pings have room of their own, so that messages stay, and do not go into the store of others.
func TestPingNotices(t *testing.T) {
	address, got := server(t, 200)
	refused, _ := server(t, 404)
	good, err := notify.NewPing(address+"/k", "healthchecks")
	if err != nil {
		t.Fatal(err)
	}
	bad, err := notify.NewPing(refused+"/k", "healthchecks")
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	n := newDaemon(t, store)
	hook, err := notify.NewWebhook(notify.WebhookConfig{URL: address + "/hook"})
	if err != nil {
		t.Fatal(err)
	}
	n.Set([]*notify.Channel{{Name: "people", Way: hook, ForAll: true}, {Name: "hc", Way: good}, {Name: "gone", Way: bad}})
	n.Tell(failure("first"), []string{"people"})
	<-got
	for i := range 150 {
		n.Tell(notify.Event{Kind: notify.Started, Job: fmt.Sprint("job", i)}, []string{"hc"})
		<-got
	}
	n.Tell(notify.Event{Kind: notify.Succeeded, Job: "last"}, []string{"gone"})
	n.end()
	all, stored := n.Notices(), latest(t, store)
	gone := slices.IndexFunc(all, func(m notify.Notice) bool { return m.Channel == "gone" })
	if len(all) != 100 || gone < 0 || all[gone].Outcome != notify.GivenUp || all[99].Way != "ping" {
		t.Errorf("%d are kept, of the refused one %d: %+v", len(all), gone, all)
	}
	if len(stored) != 1 || stored[0].Events[0].Job != "first" || stored[0].Outcome != notify.Sent {
		t.Errorf("the store has %+v", stored)
	}
}

// A URL of which it is not known how it takes failures needs a style; known hosts don't.
func TestNewPingFindsStyle(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://hc-ping.com/uuid": true, "https://cronitor.link/p/k/job": true, "https://push.example.org/x": false,
		"https://nothc-ping.com/uuid": false, "hc-ping.com/uuid": false,
	} {
		if _, err := notify.NewPing(address, ""); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := notify.NewPing("https://h/x", "none"); err == nil {
		t.Error("an unknown style is right")
	}
}

// A program gets the text on its standard input, and what it is about in its environment.
func TestCommandGetsMessage(t *testing.T) {
	var input string
	var env []string
	fail := false
	run := func(_ context.Context, args, e []string, in string) (string, error) {
		env, input = e, in
		if fail {
			return "no such pager", errors.New("exit status 3")
		}
		return "paged", nil
	}
	c, err := notify.NewCommand([]string{"page", "me"}, run)
	if err != nil {
		t.Fatal(err)
	}
	kept := send(t, c, failure("backup"))
	all := strings.Join(env, "\n")
	if kept.Answer != "exit code 0 paged" || !strings.Contains(input, "disk full") || !strings.Contains(all, "EXECUTORD_KINDS=failed\nEXECUTORD_JOBS=backup\nEXECUTORD_MESSAGE={") ||
		!strings.Contains(all, `"text":"backup has failed`) {
		t.Errorf("kept %+v, input %q, environment %s", kept, input, all)
	}
	fail = true
	if _, err := c.Send(t.Context(), notify.Message{}); err == nil || err.Error() != "exit status 3 no such pager" {
		t.Errorf("error %v", err)
	}
}

// A program gets as much of a long message in its environment as has room there, and how much more there is.
func TestCommandGetsPartOfLongMessage(t *testing.T) {
	for _, test := range []struct {
		events       int
		reason       string
		least, bound int
	}{
		{3, "exit status 1", 3, 3},
		{200, "exit status 1", 200, 200}, // without their outputs
		{200, strings.Repeat("x", 1000), 30, 100},
		{200, strings.Repeat("\x01", 1000), 5, 20},
	} {
		var text string
		c, err := notify.NewCommand([]string{"page"}, func(_ context.Context, _, env []string, _ string) (string, error) {
			for _, variable := range env {
				if value, ok := strings.CutPrefix(variable, "EXECUTORD_MESSAGE="); ok {
					text = value
				}
			}
			return "", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m := notify.Message{Text: strings.Repeat(test.reason, 30<<10/len(test.reason)), Subject: "S"}
		for range test.events {
			m.Events = append(m.Events, notify.Event{Kind: notify.Failed, Job: "a", Reason: test.reason, Output: strings.Repeat("o", 8<<10)})
		}
		if _, err := c.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		var got notify.Message
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > 64<<10 || len(got.Events) < test.least ||
			len(got.Events) > test.bound || len(got.Events)+got.More != test.events || got.Subject != "S" ||
			len(got.Text) < 4<<10 || !strings.HasPrefix(m.Text, strings.TrimSuffix(got.Text, "...")) {
			t.Errorf("%d events: %d bytes with %d events and %d more, %v", test.events, len(text), len(got.Events), got.More, err)
		}
	}
}

// A program that sends mail is given a message with headers.
func TestMailBySendmail(t *testing.T) {
	var input string
	m, err := notify.NewMail(notify.MailConfig{
		From: "cron@example.org", To: []string{"ops@example.org"}, Sendmail: []string{"/usr/sbin/sendmail", "-t", "-i"},
		Run: func(_ context.Context, _, _ []string, in string) (string, error) { input = in; return "", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := send(t, m, failure("backup"))
	for _, want := range []string{"From: <cron@example.org>\n", "To: <ops@example.org>\n", "Subject: [host] backup has failed: exit status 1\n", "Auto-Submitted: auto-generated\n", "disk full"} {
		if !strings.Contains(input, want) {
			t.Errorf("no %q in %s", want, input)
		}
	}
	if kept.Error != "" {
		t.Errorf("kept %+v", kept)
	}
}

// smtpServer speaks as much SMTP as it takes to accept one mail at a time. What answer returns for a command in upper case
// is the answer to that, "" for the usual one; with "close", it closes the connection without one.
func smtpServer(t *testing.T, config *tls.Config, answer func(command string) string) (address string, mails chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return smtpServerAt(t, l, config, answer)
}

// smtpServerAt is smtpServer for a listener, which may speak TLS from the begin on.
func smtpServerAt(t *testing.T, l net.Listener, config *tls.Config, answer func(command string) string) (address string, mails chan string) {
	mails = make(chan string, 10)
	done := make(chan struct{})
	go func() { // ends when the listener is closed
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serveSMTP(c, config, answer, mails)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), mails
}

func serveSMTP(c net.Conn, config *tls.Config, answer func(string) string, mails chan string) {
	defer func() { c.Close() }()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(c)
	say := func(text string) { io.WriteString(c, text+"\r\n") }
	say("220 test")
	login := ""
	_, secure := c.(*tls.Conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		command, other := strings.ToUpper(strings.TrimSpace(line)), ""
		if answer != nil {
			other = answer(command)
		}
		switch {
		case other == "close":
			return
		case other != "":
			say(other)
		case strings.HasPrefix(command, "EHLO") && config != nil && !secure:
			say("250-test\r\n250 STARTTLS")
		case strings.HasPrefix(command, "EHLO"):
			say("250-test\r\n250 AUTH PLAIN")
		case command == "STARTTLS":
			say("220 go on")
			c, secure = tls.Server(c, config), true
			r = bufio.NewReader(c)
		case strings.HasPrefix(command, "AUTH PLAIN"):
			login = strings.Fields(line)[2]
			say("235 welcome")
		case command == "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil || line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			mails <- fmt.Sprintf("secure=%v login=%s\n%s", secure, login, text.String())
			say("250 queued")
		case command == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// Mail goes to a server by TLS or after STARTTLS, with a login; a server without either gets neither, and so does one whose
// certificate nobody knows.
func TestMailBySMTP(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	s.Close() // for its certificate
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	known := &tls.Config{RootCAs: roots, ServerName: "example.com"}
	own := &tls.Config{Certificates: s.TLS.Certificates}
	for _, test := range []struct {
		security    string
		own, trusts *tls.Config
	}{{"starttls", own, known}, {"tls", own, known}, {"starttls", nil, known}, {"starttls", own, nil}, {"tls", own, nil}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if test.security == "tls" {
			l = tls.NewListener(l, own)
		}
		address, mails := smtpServerAt(t, l, test.own, nil)
		m, err := notify.NewMail(notify.MailConfig{
			From: "cron@example.org", To: []string{"ops@example.org"}, Server: address, User: "me", Password: "hunter2", TLS: test.security, Roots: test.trusts,
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.Send(t.Context(), notify.Message{Subject: "S", Text: "disk full", Events: []notify.Event{{}}})
		if test.own == nil || test.trusts == nil {
			if err == nil || len(mails) > 0 || test.own != nil && !strings.Contains(err.Error(), "certificate") {
				t.Errorf("%s, without TLS: %v, sent: %s, %v", test.security, test.own == nil, answer, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := <-mails; !strings.HasPrefix(got, "secure=true login=AG1lAGh1bnRlcjI=\n") || !strings.Contains(got, "disk full") {
			t.Errorf("%s: got %s", test.security, got)
		}
		if answer != "127.0.0.1 accepted it for ops@example.org" {
			t.Errorf("%s: answer %q", test.security, answer)
		}
	}
}

// A recipient that the server does not know is final, one that it does not take now is not.
func TestMailRefused(t *testing.T) {
	for code, final := range map[string]bool{"550 unknown": true, "451 later": false} {
		address, _ := smtpServer(t, nil, answerTo("RCPT", code))
		m, err := notify.NewMail(notify.MailConfig{From: "a@example.org", To: []string{"b@example.org"}, Server: address, TLS: "none"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Send(t.Context(), notify.Message{Subject: "S", Events: []notify.Event{{}}})
		var refusal *notify.Refusal
		if err == nil || errors.As(err, &refusal) != final {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// answerTo answers to the commands with this prefix.
func answerTo(prefix, answer string) func(string) string {
	return func(command string) string {
		if strings.HasPrefix(command, prefix) {
			return answer
		}
		return ""
	}
}

// A recipient that the server does not know keeps the mail from no other one.
func TestMailReachesOtherRecipients(t *testing.T) {
	address, mails := smtpServer(t, nil, answerTo("RCPT TO:<GONE@", "550 unknown"))
	m, err := notify.NewMail(notify.MailConfig{
		From: "a@example.org", To: []string{"b@example.org", "gone@example.org", "c@example.org"}, Server: address, TLS: "none",
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := m.Send(t.Context(), notify.Message{Subject: "S", Events: []notify.Event{{}}})
	if err != nil || !strings.HasPrefix(answer, "127.0.0.1 accepted it for b@example.org, c@example.org; not for gone@example.org: ") ||
		!strings.Contains(answer, `550 "unknown"`) {
		t.Errorf("answer %q, %v", answer, err)
	}
	if len(mails) != 2 {
		t.Errorf("%d mails", len(mails))
	}
}

// A mail that the server has accepted is sent, and not sent again, though the connection ends without a farewell.
func TestMailIsSentOnceAccepted(t *testing.T) {
	for _, farewell := range []string{"close", "421 too late"} {
		address, mails := smtpServer(t, nil, answerTo("QUIT", farewell))
		m, err := notify.NewMail(notify.MailConfig{From: "a@example.org", To: []string{"b@example.org"}, Server: address, TLS: "none"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Send(t.Context(), notify.Message{Subject: "S", Events: []notify.Event{{}}}); err != nil || len(mails) != 1 {
			t.Errorf("%s: %v, %d mails", farewell, err, len(mails))
		}
	}
}

// Sending ends with its context while the server does not answer.
func TestMailEndsWithContext(t *testing.T) {
	for _, prefix := range []string{"EHLO", "RCPT", "QUIT"} {
		ctx, cancel := context.WithCancel(t.Context())
		more := make(chan struct{})
		address, mails := smtpServer(t, nil, func(command string) string {
			if strings.HasPrefix(command, prefix) {
				cancel()
				<-more
				return "close"
			}
			return ""
		})
		m, err := notify.NewMail(notify.MailConfig{From: "a@example.org", To: []string{"b@example.org"}, Server: address, TLS: "none"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Send(ctx, notify.Message{Subject: "S", Events: []notify.Event{{}}})
		close(more)
		if accepted := len(mails) == 1; accepted != (err == nil) || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", prefix, err)
		}
		cancel()
	}
}

// What can't be sent is refused when it is configured.
func TestMailMistakes(t *testing.T) {
	to := []string{"b@example.org"}
	for _, c := range []notify.MailConfig{
		{To: to, Server: "h"}, {From: "a@example.org", Server: "h"}, {From: "a@example.org", To: []string{"b c"}, Server: "h"},
		{From: "a@example.org", To: to}, {From: "a@example.org", To: to, Server: "h", TLS: "ssl"},
		{From: "a@example.org", To: to, Server: "h:99999"}, {From: "a@example.org", To: to, Server: "h", TLS: "none", User: "u"},
	} {
		if _, err := notify.NewMail(c); err == nil {
			t.Errorf("%+v is right", c)
		}
	}
}

// A redirection is not followed, whatever it is: it would send a token elsewhere, or make another request of it.
func TestWebhookFollowsNoRedirection(t *testing.T) {
	other, asked := server(t, 200)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other+"/in", status))
		w, err := notify.NewWebhook(notify.WebhookConfig{URL: s.URL, Token: "geheimgeheim"})
		if err != nil {
			t.Fatal(err)
		}
		kept := send(t, w, failure("backup"))
		if !strings.Contains(kept.Error, "it is a redirect, which is not followed") || kept.Tries != 1 || len(asked) > 0 {
			t.Errorf("%d: kept %+v, %d requests were sent elsewhere", status, kept, len(asked))
		}
		s.Close()
	}
}

// A server that says when to try again is asked again then, and not before; but no later than in five minutes.
func TestWebhookWaitsAsLongAsServerAsks(t *testing.T) {
	for asks, want := range map[string]time.Duration{"30": 30 * time.Second, "1": time.Second, "7200": 5 * time.Minute} {
		busy := true
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if busy {
				w.Header().Set("Retry-After", asks)
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			busy = false
		}))
		w, err := notify.NewWebhook(notify.WebhookConfig{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { // its clock stands still while the server answers
			n := notify.New(notify.Config{Host: "host", Log: slog.New(slog.DiscardHandler)})
			n.Set([]*notify.Channel{{Name: "hook", Way: w, ForAll: true}})
			began := time.Now()
			n.Tell(failure("backup"), nil)
			n.Close(t.Context())
			kept := n.Notices()[0]
			if took := kept.At.Sub(began); kept.Outcome != notify.Sent || kept.Tries != 2 || took < want || took > max(want, 2*time.Second) {
				t.Errorf("Retry-After: %s: sent after %v, want %v: %+v", asks, took, want, kept)
			}
		})
		s.Close()
	}
}

// A mail server whose answer does not end is given up before the answer takes much memory.
func TestMailBoundsAnswers(t *testing.T) {
	address, _ := smtpServer(t, nil, func(command string) string {
		if strings.HasPrefix(command, "EHLO") {
			return "250 " + strings.Repeat("x", 16<<20)
		}
		return ""
	})
	m, err := notify.NewMail(notify.MailConfig{From: "a@example.org", To: []string{"b@example.org"}, Server: address, TLS: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Send(t.Context(), notify.Message{Subject: "S", Events: []notify.Event{{}}}); err == nil ||
		!strings.Contains(err.Error(), "the mail server has answered with more than 1 MiB") {
		t.Errorf("%.200v", err)
	}
}
