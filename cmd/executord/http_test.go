package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A job with a url makes its request, with a secret from its environment, and fails by the code of the answer.
func TestRequestIsJob(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusTeapot)
		}
		io.WriteString(w, r.Method+" "+r.Header.Get("Authorization")+" "+string(body)+"\n")
	}))
	defer server.Close()
	job := func(name, path string) string {
		return "[[job]]\nname = '" + name + "'\nschedule = '@reboot'\nurl = '" + server.URL + path + "'\nheaders = { Authorization = 'Bearer $TOKEN' }\n" +
			"body = 'text'\nenv = { TOKEN = 'geheim' }\n"
	}
	p := startTOML(t, job("good", "/"))
	p.until("POST Bearer geheim text", "stream", "stdout")
	p.until("run ended", "outcome", "ok")
	p = startTOML(t, job("bad", "/bad"))
	p.until("executord: the server answered 418 I'm a teapot", "stream", "stderr")
	p.until("run ended", "outcome", "failed", "exit", 1)
}

// The command http takes its body from standard input.
func TestHTTPCommand(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, r.Method+" "+string(body))
	}))
	defer server.Close()
	if stdout, stderr, code := output(t, "abc", "http", "--method", "PATCH", server.URL); stdout != "PATCH abc" || stderr != "" || code != 0 {
		t.Errorf("exit code %d: %q %s", code, stdout, stderr)
	}
	if _, stderr, code := output(t, "", "http", "shop"); code != exitUsage || !strings.HasPrefix(stderr, `executord: "shop" is not an HTTP URL`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
