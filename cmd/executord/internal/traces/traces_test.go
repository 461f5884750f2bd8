package traces_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/traces"
)

// collector is what answers instead of one.
type collector struct {
	mu       sync.Mutex
	answer   func(r *http.Request, n int) (*http.Response, error) // the n-th, from 1; nil is 200
	requests []string                                             // URLs
	at       []time.Time
	headers  []http.Header
	names    []string // of the spans that were taken
	resource map[string]string
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.requests, c.at, c.headers = append(c.requests, r.URL.String()), append(c.at, time.Now()), append(c.headers, r.Header)
	n := len(c.requests)
	c.mu.Unlock()
	answer, err := reply(http.StatusOK), error(nil)
	if c.answer != nil {
		answer, err = c.answer(r, n)
	}
	if err == nil && answer.StatusCode == http.StatusOK {
		c.take(body)
	}
	return answer, err
}

// take notes the spans of a request.
func (c *collector) take(body []byte) {
	var request struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []struct {
					Key   string
					Value struct{ StringValue string }
				}
			}
			ScopeSpans []struct{ Spans []struct{ Name string } }
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resource = make(map[string]string)
	for _, of := range request.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			c.resource[a.Key] = a.Value.StringValue
		}
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.names = append(c.names, s.Name)
			}
		}
	}
}

func reply(code int) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: make(http.Header), Body: http.NoBody}
}

// environment sets the variables of OpenTelemetry to these, each as NAME=value, and no others.
func environment(t *testing.T, variables ...string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "") // which is as if it were not set
		}
	}
	for _, entry := range variables {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
}

// open returns what the environment asks for, and its log.
func open(c *collector) (*traces.Traces, *bytes.Buffer) {
	var log bytes.Buffer
	return traces.FromEnvironment(traces.Config{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Version: "v1.2.3", Client: &http.Client{Transport: c},
	}), &log
}

const here, asJSON = "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"

func emit(t *traces.Traces, names ...string) {
	for _, name := range names {
		_, span := t.Tracer().Start(context.Background(), name)
		span.End()
	}
}

// Spans go where the variables say, with what they say of the program. Without them, and with those that forbid it,
// nothing is sent, and a wrong one is told.
func TestTracesFollowEnvironment(t *testing.T) {
	for _, test := range []struct {
		variables []string
		url, told string
	}{
		{nil, "", ""},
		{[]string{here}, "http://collector:4318/v1/traces", ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://collector/otlp/"}, "https://collector/otlp/v1/traces", ""},
		{[]string{here, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://other:1/x"}, "http://other:1/x", ""},
		{[]string{"OTEL_TRACES_EXPORTER=otlp"}, "http://localhost:4318/v1/traces", ""},
		{[]string{here, "OTEL_TRACES_EXPORTER=none"}, "", ""},
		{[]string{here, "OTEL_SDK_DISABLED=TRUE"}, "", ""},
		{[]string{here, "OTEL_TRACES_SAMPLER=always_off"}, "none", ""},
		{[]string{here, "OTEL_TRACES_SAMPLER=sometimes"}, "http://collector:4318/v1/traces", "unsupported sampler: sometimes"},
		{[]string{here, "OTEL_TRACES_EXPORTER=zipkin"}, "", "OTEL_TRACES_EXPORTER=zipkin: executord has otlp and none"},
		{[]string{here, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", "the protocol is grpc"},
		{[]string{here, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc"}, "", "the protocol is grpc"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"}, "", "OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL"},
		{[]string{here, "OTEL_EXPORTER_OTLP_TIMEOUT=soon"}, "http://collector:4318/v1/traces", "parse duration"},
	} {
		environment(t, append([]string{asJSON}, test.variables...)...)
		synctest.Test(t, func(t *testing.T) {
			c := new(collector)
			sent, log := open(c)
			if (sent.Tracer() == nil) != (test.url == "") {
				t.Errorf("%v: a tracer: %v", test.variables, sent.Tracer() != nil)
			}
			if sent != nil {
				emit(sent, "a")
				sent.Close(t.Context())
			}
			want := []string{test.url}
			if test.url == "" || test.url == "none" {
				want = nil
			}
			if strings.Join(c.requests, " ") != strings.Join(want, " ") || len(c.names) != len(want) {
				t.Errorf("%v: requests %q with %d spans", test.variables, c.requests, len(c.names))
			}
			warned := strings.Contains(log.String(), "level=WARN")
			if warned != (test.told != "") || !strings.Contains(log.String(), test.told) {
				t.Errorf("%v: %s, want %q", test.variables, log, test.told)
			}
		})
	}
}

// Spans are of executord on this machine, unless the variables give other names.
func TestTracesNameProgram(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, variables := range map[string][]string{
		"executord": {here, asJSON, "OTEL_RESOURCE_ATTRIBUTES=team=shop"},
		"night":     {here, asJSON, "OTEL_RESOURCE_ATTRIBUTES=team=shop,service.name=x", "OTEL_SERVICE_NAME=night"},
	} {
		environment(t, append(variables, "OTEL_EXPORTER_OTLP_HEADERS=api-key=geheim")...)
		synctest.Test(t, func(t *testing.T) {
			c := new(collector)
			sent, log := open(c)
			emit(sent, "a", "b")
			sent.Close(t.Context())
			r := c.resource
			if r["service.name"] != name || r["service.version"] != "v1.2.3" || r["host.name"] != host || r["team"] != "shop" {
				t.Errorf("%v", r)
			}
			if len(c.headers) != 1 || c.headers[0].Get("Api-Key") != "geheim" || strings.Contains(log.String(), "geheim") {
				t.Errorf("headers %v, log %s", c.headers, log)
			}
		})
	}
}

// While the collector is away, the log says so once, and once when it is back; at the end it says how many spans were
// lost.
func TestTracesTellFailureOnce(t *testing.T) {
	environment(t, here, asJSON)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := &collector{answer: func(*http.Request, int) (*http.Response, error) {
			if time.Since(began) < time.Minute {
				return nil, errors.New("no route to the collector")
			}
			return reply(http.StatusOK), nil
		}}
		sent, log := open(c)
		for range 10 {
			emit(sent, "a")
			time.Sleep(10 * time.Second)
		}
		sent.Close(t.Context())
		if n := strings.Count(log.String(), `msg="traces are not sent"`); n != 1 || !strings.Contains(log.String(), "no route to the collector") {
			t.Errorf("told %d times: %s", n, log)
		}
		if strings.Count(log.String(), `msg="traces are sent again"`) != 1 ||
			strings.Count(log.String(), `msg="spans lost" count=6 of=10`) != 1 || len(c.names) != 4 {
			t.Errorf("%d were taken: %s", len(c.names), log)
		}
	})
}

// A collector that is busy gets the same spans again, when it has said so, and none is lost.
func TestTracesWaitForBusyCollector(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		environment(t, here, asJSON)
		synctest.Test(t, func(t *testing.T) {
			c := &collector{answer: func(_ *http.Request, n int) (*http.Response, error) {
				answer := reply(http.StatusOK)
				if n == 1 {
					answer = reply(code)
					answer.Header.Set("Retry-After", "17")
				}
				return answer, nil
			}}
			sent, log := open(c)
			emit(sent, "a")
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(c.at) != 2 || c.at[1].Sub(c.at[0]) != 17*time.Second || len(c.names) != 1 {
				t.Errorf("%d: at %v, %d were taken", code, c.at, len(c.names))
			}
			sent.Close(t.Context())
			if strings.Contains(log.String(), "WARN") {
				t.Errorf("%d: %s", code, log)
			}
		})
	}
}

// The end waits five seconds for a collector that does not answer, or less if it has to be sooner.
func TestTracesCloseIsBounded(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for limit, want := range map[time.Duration]time.Duration{time.Hour: 5 * time.Second, time.Second: time.Second, 0: 0} {
			environment(t, here, asJSON)
			synctest.Test(t, func(t *testing.T) {
				c := &collector{answer: func(r *http.Request, _ int) (*http.Response, error) {
					if busy {
						return reply(http.StatusServiceUnavailable), nil
					}
					<-r.Context().Done()
					return nil, r.Context().Err()
				}}
				sent, log := open(c)
				for range 2000 { // several requests
					emit(sent, "a")
				}
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				sent.Close(ctx)
				if took := time.Since(began); took != want {
					t.Errorf("busy %v, limit %v: it took %v", busy, limit, took)
				}
				if !strings.Contains(log.String(), `msg="spans lost" count=2000 of=2000`) {
					t.Errorf("%s", log)
				}
			})
		}
	}
}

// Spans that end faster than they are sent are dropped at once, and counted.
func TestTracesNeverDelay(t *testing.T) {
	environment(t, here, asJSON)
	synctest.Test(t, func(t *testing.T) {
		c := &collector{answer: func(r *http.Request, _ int) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		sent, log := open(c)
		began := time.Now()
		for range 10_000 {
			emit(sent, "a")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		sent.Close(t.Context())
		if !strings.Contains(log.String(), `msg="spans lost" count=10000 of=10000`) {
			t.Errorf("%s", log)
		}
	})
}
