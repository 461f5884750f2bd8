package anystore

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/executor-go/executor/durable"
)

// The pages show the jobs of the store, their payloads only if they are asked to, change nothing, and end with their
// context.
func TestServeShowsJobs(t *testing.T) {
	for _, payloads := range []bool{false, true} {
		s, ids := filled(t)
		jobs := must(t)(durable.New(durable.Config{Store: s["a"]})).(*durable.Jobs)
		l := must(t)(net.Listen("tcp", "127.0.0.1:0")).(net.Listener)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- serve(ctx, l, jobs, "jobs.db", payloads) }()
		url := "http://" + l.Addr().String() + "/"
		get := func(path string) string {
			answer := must(t)(http.Get(url + path)).(*http.Response)
			defer answer.Body.Close()
			text := must(t)(io.ReadAll(answer.Body)).([]byte)
			return string(text)
		}
		if text := get("jobs"); !strings.Contains(text, "welcome/0") || !strings.Contains(text, "jobs.db") {
			t.Errorf("the jobs are not on the page:\n%.2000s", text)
		}
		if text := get("job?id=" + ids[0].String()); strings.Contains(text, "gopher") != payloads {
			t.Errorf("payloads %v, and the page of a job is\n%.5000s", payloads, text)
		}
		answer := must(t)(http.Post(url+"act", "application/x-www-form-urlencoded", strings.NewReader("act=cancel&id="+ids[2].String()))).(*http.Response)
		answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a change is answered with %d", answer.StatusCode)
		}
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Only addresses of this machine are listened at.
func TestServeIsLocal(t *testing.T) {
	s, _ := filled(t)
	for _, address := range []string{"0.0.0.0:8385", ":8385", "10.0.0.5:8385", "example.org:80", "127.0.0.1"} {
		if _, _, err := s.run(t, "serve", "--listen", address); err == nil || !strings.Contains(err.Error(), "--listen") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
