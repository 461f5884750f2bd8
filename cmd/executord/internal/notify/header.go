package notify

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// addHeaders sets the headers of the requests, or returns what is wrong with them. It shows no value.
func (w *Webhook) addHeaders(c WebhookConfig) error {
	if c.Token != "" {
		c.Hidden = maps.Clone(c.Hidden)
		if c.Hidden == nil {
			c.Hidden = make(map[string]string)
		}
		if _, set := c.Hidden["Authorization"]; set {
			return fmt.Errorf("the header Authorization is set twice: by a token, too")
		}
		c.Hidden["Authorization"] = "Bearer " + c.Token
	}
	for _, headers := range []map[string]string{c.Headers, c.Hidden} {
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			value := strings.Trim(headers[name], " \t")
			if err := checkHeader(name, value); err != nil {
				return err
			}
			known := http.CanonicalHeaderKey(name)
			if _, set := w.headers[known]; set {
				return fmt.Errorf("the header %s is set twice", known)
			}
			w.headers[known] = value
		}
	}
	for name, value := range c.Headers {
		if value = strings.Trim(value, " \t"); isSecretHeader(name, value) {
			w.secrets = append(w.secrets, value, credentials(value))
		}
	}
	for _, value := range c.Hidden {
		value = strings.Trim(value, " \t")
		w.secrets = append(w.secrets, value, credentials(value))
	}
	return nil
}

// ownHeaders are those that the transport sets by what it sends.
var ownHeaders = []string{
	"Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// checkHeader returns what is wrong with a header. It does not show its value.
func checkHeader(name, value string) error {
	switch {
	case name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}):
		return fmt.Errorf("%.40q cannot be the name of a header", name)
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("the header %s cannot be set: it follows from the request", http.CanonicalHeaderKey(name))
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("the value of the header %s is not one line of text", name)
	case value == "":
		return fmt.Errorf("the header %s has no value", name)
	}
	return nil
}

// plainHeaders are those whose values are no secrets.
var plainHeaders = []string{"Accept", "Content-Type", "User-Agent"}

// isSecretHeader reports whether a value that stands in the job file may be a secret. A short one, as that of a
// priority, is none unless the name says so: its text stands in many others.
func isSecretHeader(name, value string) bool {
	if slices.Contains(plainHeaders, http.CanonicalHeaderKey(name)) {
		return false
	}
	name = strings.ToLower(name)
	return len(value) >= 8 || slices.ContainsFunc([]string{"auth", "cookie", "key", "pass", "secret", "token"},
		func(word string) bool { return strings.Contains(name, word) })
}

// credentials returns what a value has behind the name of its scheme, as Bearer.
func credentials(value string) string {
	if _, rest, ok := strings.Cut(value, " "); ok {
		return rest
	}
	return value
}
