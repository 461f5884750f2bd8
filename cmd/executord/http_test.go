package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
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
	p := startTOML(t, job("good", "/")+job("bad", "/bad"))
	p.after(0, "POST Bearer geheim text", "job", "good", "stream", "stdout")
	p.after(0, "run ended", "job", "good", "outcome", "ok")
	p.after(0, "executord: the server answered 418 I'm a teapot", "job", "bad", "stream", "stderr")
	p.after(0, "run ended", "job", "bad", "outcome", "failed", "exit", 1)
	p.signal(syscall.SIGTERM)
	p.wait()
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
}
