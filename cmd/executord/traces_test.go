package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The spans of runs reach a collector that the environment names before executord ends. What the command does belongs
// to its run: by TRACEPARENT, and a request by its header; and the log names the trace.
func TestRunSendsTraces(t *testing.T) {
	t.Parallel()
	type span struct {
		Name, TraceID, SpanID string
		Status                struct{ Code int }
	}
	var mu sync.Mutex
	got := make(map[string]span)
	var header string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/v1/traces" {
			header = r.Header.Get("Traceparent")
			return
		}
		var request struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Errorf("the request: %v", err)
		}
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					s.TraceID, s.SpanID = strings.ToLower(s.TraceID), strings.ToLower(s.SpanID)
					got[s.Name] = s
				}
			}
		}
	}))
	defer server.Close()
	cmd := executord(t, "run", write(t, "jobs.toml", `
[[job]]
name = 'bad'
schedule = '@reboot'
command = 'echo $TRACEPARENT; exit 3'
[[job]]
name = 'ask'
schedule = '@reboot'
url = '`+server.URL+`/x'
`))
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json")
	p := startCommand(t, cmd)
	p.until("traces are sent", "to", server.URL+"/v1/traces")
	p.after(0, "run ended", "job", "bad")
	p.after(0, "run ended", "job", "ask")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	i := slices.IndexFunc(p.log, func(l line) bool { return l["stream"] == "stdout" && l["job"] == "bad" })
	if i < 0 {
		t.Fatal("TRACEPARENT was not written")
	}
	written := p.log[i]

	mu.Lock()
	defer mu.Unlock()
	bad, ask := got["run bad"], got["run ask"]
	parent := strings.Split(written["msg"].(string), "-")
	if len(parent) != 4 || parent[1] != bad.TraceID || parent[2] != bad.SpanID || written["trace_id"] != bad.TraceID || bad.Status.Code != 2 {
		t.Errorf("%v of %+v", written, bad)
	}
	if header != "00-"+ask.TraceID+"-"+ask.SpanID+"-01" || ask.Status.Code != 0 {
		t.Errorf("the header is %q of %+v", header, ask)
	}
}
