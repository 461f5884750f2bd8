package notify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Ping tells a monitor of each run that it has started, and how it ended.
type Ping struct {
	url   string
	style string
}

// Styles are the monitors that a Ping knows, in the order of the manual. With "success" a plain URL is called after
// a good run, and never after another one.
var Styles = []string{"healthchecks", "cronitor", "success"}

// pingKinds are those that a Ping is told of.
var pingKinds = []Kind{Started, Succeeded, Failed, NotStarted, Canceled, Lost}

// NewPing returns a Ping. In the URL {job} stands for the name of the job. An empty style is found by the host, if
// that is a known one: to a plain URL a failure would be reported as a success.
func NewPing(address, style string) (*Ping, error) {
	if err := checkURL(strings.ReplaceAll(address, "{job}", "job")); err != nil {
		return nil, err
	}
	u, _ := url.Parse(strings.ReplaceAll(address, "{job}", "job"))
	host := u.Hostname()
	switch style {
	case "healthchecks", "cronitor", "success":
	case "":
		switch {
		case host == "hc-ping.com" || strings.HasSuffix(host, ".healthchecks.io"):
			style = "healthchecks"
		case host == "cronitor.link" || strings.HasSuffix(host, ".cronitor.link"):
			style = "cronitor"
		default:
			return nil, errors.New("a ping of this URL would report a failure as a success: set style for this host")
		}
	default:
		return nil, fmt.Errorf("there is no style %q; known are %s", style, strings.Join(Styles, ", "))
	}
	return &Ping{url: address, style: style}, nil
}

// Send implements Way. The message has one event. A test reports neither success nor failure.
func (p *Ping) Send(ctx context.Context, m Message) (string, error) {
	e := m.Events[0]
	u, err := url.Parse(strings.ReplaceAll(p.url, "{job}", url.PathEscape(strings.ReplaceAll(e.Job, "/", "-"))))
	if err != nil {
		return "", &Refusal{errors.New("the URL can't be read")}
	}
	query := u.Query()
	switch p.style {
	case "healthchecks":
		if id := e.runID(); id != "" {
			query.Set("rid", id)
			u.RawQuery = query.Encode()
		}
		switch e.Kind {
		case Started:
			u = u.JoinPath("start")
		case Succeeded:
		case Tested, Lost: // a lost run begins again: it says so, and is no failure of the job
			u = u.JoinPath("log")
		default:
			u = u.JoinPath("fail")
		}
	case "cronitor":
		if e.Kind == Tested || e.Kind == Lost {
			return "not sent: it would change the state of the monitor", nil
		}
		state := "fail"
		switch e.Kind {
		case Started:
			state = "run"
		case Succeeded:
			state = "complete"
		}
		query.Set("state", state)
		if id := e.runID(); id != "" {
			query.Set("series", id)
		}
		if text := tail(p.text(e), 1500); text != "" && e.Kind != Started {
			query.Set("message", text)
		}
		u.RawQuery = query.Encode()
	case "success":
		if e.Kind != Succeeded {
			return "not sent: this monitor takes successes only", nil
		}
	}
	return post(ctx, u.String(), "text/plain; charset=utf-8", p.text(e), nil)
}

// runID returns the UUID of the run that an event is about, the same for its start and its end, "" for none. It is
// made of what is known of a run wherever that is, in the way that RFC 9562 leaves to programs, version 8.
func (e Event) runID() string {
	if e.Run == 0 {
		return ""
	}
	id := sha256.Sum256(fmt.Appendf(nil, "executord run %d of %q, due %d", e.Run, e.Job, e.Due.UnixMicro()))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// text returns why the run failed, and the end of its output.
func (p *Ping) text(e Event) string {
	return strings.TrimSpace(e.Reason + "\n" + e.Output)
}

// Secrets implements Way.
func (p *Ping) Secrets() []string { return secretsOf(p.url) }
