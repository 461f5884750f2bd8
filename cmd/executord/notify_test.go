package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// notify test sends on each channel, and prints the answers without what is secret; one that is not sent is an error.
func TestNotifyTest(t *testing.T) {
	sent := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent++
		if strings.HasSuffix(r.URL.Path, "BAD") {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer s.Close()
	secret := write(t, "url", s.URL+"/SECRETSECRETBAD\n")
	file := write(t, "jobs.toml", `[notify.good]
webhook = "`+s.URL+`/SECRETSECRET"
preset = "slack"

[notify.bad]
webhook = ""
url_file = "`+filepath.ToSlash(secret)+`"

[notify.gone]
webhook = ""
url_file = "/no/such/file"
`)
	for _, test := range []struct {
		args []string
		code int
		want []string
		sent int
	}{
		{[]string{"good"}, exitOK, []string{"good  200 OK"}, 1},
		{nil, exitMistake, []string{"good  200 OK", "bad  not sent: 403 Forbidden", "gone  not sent: open /no/such/file", "2 not sent"}, 2},
		{[]string{"none"}, exitUsage, []string{`unknown channel "none"; known are: good, bad, gone`}, 0},
	} {
		sent = 0
		output, err := here(append([]string{"notify", "test", file}, test.args...)...)
		code := exitOK
		if exit := new(exitError); errors.As(err, &exit) {
			code, output = exit.code, output+exit.text
		}
		for _, want := range test.want {
			if !strings.Contains(output, want) {
				t.Errorf("%q: no %q in %s", test.args, want, output)
			}
		}
		if code != test.code || strings.Contains(output, "SECRET") || sent != test.sent {
			t.Errorf("%q: exit code %d, sent %d: %s", test.args, code, sent, output)
		}
	}
}
