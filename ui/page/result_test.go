package page_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/executor-go/executor/ui/page"
)

// A program gets JSON if it says so; a browser, and who says nothing, does not.
func TestAcceptsJSON(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/*": false, "text/html": false,
		"application/json": true, "application/json, */*": true, "Application/JSON; charset=utf-8": true,
		"application/json, text/html": true, "text/html, application/json": false,
		"text/html;q=0.5, application/json": true, "application/json;q=0.5, text/html": false, "application/json;q=0": false,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": false, "application/json;;;,": false,
	} {
		r := httptest.NewRequest("POST", "/act", nil)
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		if got := page.AcceptsJSON(r); got != want {
			t.Errorf("%q: %t, want %t", accept, got, want)
		}
	}
}

// A refusal has its status and reason as text, and in JSON on one line.
func TestRefuse(t *testing.T) {
	for accept, want := range map[string]string{
		"":                 "ui: <no>\n",
		"application/json": `{"status":403,"done":false,"answer":"ui: <no>"}` + "\n",
	} {
		r, w := httptest.NewRequest("POST", "/act", nil), httptest.NewRecorder()
		r.Header.Set("Accept", accept)
		page.Refuse(w, r, 403, "ui: <no>")
		if w.Code != 403 || w.Body.String() != want {
			t.Errorf("%q: %d %q, want %q", accept, w.Code, w.Body, want)
		}
		if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, map[bool]string{true: "application/json", false: "text/plain"}[accept != ""]) {
			t.Errorf("%q: the answer is %s", accept, kind)
		}
	}
}
