package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// A Webhook sends messages by HTTP.
type Webhook struct {
	url         string
	headers     map[string]string
	secrets     []string
	contentType string
	body        func(Message) (string, error)
	preset      string
}

// Presets are the interfaces that a Webhook knows, in the order of the manual.
var Presets = []string{"generic", "slack", "teams", "ntfy"}

// WebhookConfig configures a Webhook.
type WebhookConfig struct {
	URL      string            // required
	Preset   string            // one of Presets; "" for generic
	Token    string            // sent as Authorization: Bearer, if not empty
	Headers  map[string]string // sent, too
	Hidden   map[string]string // headers whose values are secrets, however short and whatever their names
	Template string            // the body of generic, a text/template of Message; "" for Message as JSON
}

// NewWebhook returns a Webhook, or what is wrong with its configuration.
func NewWebhook(c WebhookConfig) (*Webhook, error) {
	if err := checkURL(c.URL); err != nil {
		return nil, err
	}
	w := &Webhook{
		url: c.URL, headers: make(map[string]string), secrets: secretsOf(c.URL), contentType: "application/json", preset: c.Preset,
	}
	if err := w.addHeaders(c); err != nil {
		return nil, err
	}
	if c.Template != "" && c.Preset != "" && c.Preset != "generic" {
		return nil, fmt.Errorf("a template needs the preset generic, and this is %s", c.Preset)
	}
	switch c.Preset {
	case "", "generic":
		w.preset, w.body = "generic", asJSON
		if c.Template != "" {
			t, err := template.New("template").Option("missingkey=error").Funcs(template.FuncMap{"json": toJSON}).Parse(c.Template)
			if err != nil {
				return nil, err
			}
			w.body = func(m Message) (string, error) {
				var b bytes.Buffer
				err := t.Execute(&b, m)
				return b.String(), err
			}
			if _, err := w.body(compose("host", "", []Event{{Kind: Tested, Job: "job"}}, 0)); err != nil {
				return nil, err
			}
		}
	case "slack":
		w.body = slack
	case "teams":
		w.body = teams
	case "ntfy":
		w.contentType, w.body = "text/plain; charset=utf-8", func(m Message) (string, error) { return cut(m.Text, 3800), nil }
	default:
		return nil, fmt.Errorf("there is no preset %q; known are %s", c.Preset, strings.Join(Presets, ", "))
	}
	return w, nil
}

// Send implements Way.
func (w *Webhook) Send(ctx context.Context, m Message) (string, error) {
	body, err := w.body(m)
	if err != nil {
		return "", &Refusal{err}
	}
	headers := w.headers
	if w.preset == "ntfy" {
		headers = maps.Clone(headers)
		// A header is one line of ASCII.
		headers["Title"] = strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '?'
			}
			return r
		}, m.Subject)
		if slices.ContainsFunc(m.Events, func(e Event) bool { return e.Kind != Recovered && e.Kind != Tested }) {
			headers["Priority"], headers["Tags"] = "high", "warning"
		} else {
			headers["Tags"] = "white_check_mark"
		}
		if to := m.url(); to != "" {
			headers["Click"] = to
		}
	}
	return post(ctx, w.url, w.contentType, body, headers)
}

// Secrets implements Way.
func (w *Webhook) Secrets() []string { return w.secrets }

func asJSON(m Message) (string, error) { return toJSON(m) }

func toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// slack returns the body of an incoming webhook: a line in bold, and the text as code.
func slack(m Message) (string, error) {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	code := strings.ReplaceAll(cut(m.Text, 2800), "```", "'''")
	title := escape(m.Subject)
	if to := m.url(); to != "" {
		title = "<" + escape(to) + "|" + strings.ReplaceAll(title, "|", "/") + ">"
	}
	return toJSON(map[string]string{"text": "*" + title + "*\n```\n" + escape(code) + "```"})
}

// teams returns the body of a workflow's webhook: an adaptive card.
func teams(m Message) (string, error) {
	block := func(text string, more map[string]any) map[string]any {
		b := map[string]any{"type": "TextBlock", "text": text, "wrap": true}
		maps.Copy(b, more)
		return b
	}
	card := map[string]any{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": []any{
			block(m.Subject, map[string]any{"weight": "Bolder", "size": "Medium"}),
			block(strings.ReplaceAll(cut(m.Text, 8000), "\n", "\n\n"), map[string]any{"fontType": "Monospace"}),
		},
	}
	if to := m.url(); to != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Show", "url": to}}
	}
	return toJSON(map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "content": card,
	}}})
}
