package daemon

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable/memory"
)

// traced are commands that note the TRACEPARENT of their jobs, and do what others do.
type traced struct {
	mu     sync.Mutex
	given  map[string][]string
	others func(context.Context, process.Command, process.Observer) process.Result
}

func (c *traced) run(ctx context.Context, command process.Command, o process.Observer) process.Result {
	name, _ := process.Variable(command.Env, "EXECUTORD_JOB")
	parent, _ := process.Variable(command.Env, "TRACEPARENT")
	c.mu.Lock()
	if c.given == nil {
		c.given = make(map[string][]string)
	}
	c.given[name] = append(c.given[name], parent)
	c.mu.Unlock()
	return c.others(ctx, command, o)
}

// collect returns a provider, and what it has made.
func collect(opts ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, *tracetest.InMemoryExporter) {
	made := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(append(opts, sdktrace.WithSyncer(made))...), made
}

// named returns the spans of a name.
func named(made *tracetest.InMemoryExporter, name string) (found tracetest.SpanStubs) {
	for _, s := range made.GetSpans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// attributes returns the attributes of a span as text.
func attributes(s tracetest.SpanStub) map[string]string {
	all := make(map[string]string)
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// parentOf returns the TRACEPARENT of what belongs to a span.
func parentOf(s tracetest.SpanStub) string {
	return "00-" + s.SpanContext.TraceID().String() + "-" + s.SpanContext.SpanID().String() + "-01"
}

// A run has a span, with what there is to know of the run, and its command gets the span as its parent.
func TestTraceOfRun(t *testing.T) {
	t.Setenv("TRACESTATE", "of=another")
	for _, test := range []struct {
		command, outcome, failure string
		has                       map[string]string
	}{
		{"0 90s", "ok", "", map[string]string{"process.exit.code": "0", "process.pid": "1"}},
		{"3 90s", "failed", "exit status 3", map[string]string{"process.exit.code": "3", "error.type": "failed"}},
		{"0 20m", "timeout", "timeout: it was ended after 15m0s",
			map[string]string{"executor.job.signal": "SIGTERM", "error.type": "timeout"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			provider, made := collect()
			store := memory.New()
			defer store.Close()
			commands := &traced{others: func(ctx context.Context, c process.Command, o process.Observer) process.Result {
				if state, set := process.Variable(c.Env, "TRACESTATE"); state != "" || !set {
					t.Errorf("TRACESTATE=%s, set: %v", state, set)
				}
				ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, process.ErrTimeout)
				defer cancel()
				return new(scripted).run(ctx, c, o)
			}}
			h := beginWith(t, Config{
				File:   parse(t, "# name: a\n# timeout: 15m\n# tags: x, y\n@every 30m "+test.command+"\n"),
				Tracer: provider.Tracer("test"), Store: Store{Store: store, Name: "jobs.db", Namespace: "shop", Lease: time.Minute},
			}, commands.run)
			time.Sleep(50 * time.Minute)
			h.end()

			runs := made.GetSpans()
			if len(runs) != 1 || runs[0].Name != "run a" || runs[0].Parent.IsValid() || len(runs[0].Links) != 0 {
				t.Fatalf("%+v", runs)
			}
			run := runs[0]
			want := map[string]string{
				"executor.job.name": "a", "executor.job.run": "1", "executor.job.schedule": "@every 30m", "executor.job.namespace": "shop",
				"executor.job.occurrence": run.StartTime.Format(time.RFC3339), "executor.job.lateness": "0", "executor.job.attempt": "1",
				"executor.job.skipped": "0", "executor.job.outcome": test.outcome, "executor.job.tags": `["x","y"]`,
			}
			for key, value := range test.has {
				want[key] = value
			}
			got := attributes(run)
			for key, value := range want {
				if got[key] != value {
					t.Errorf("%s: %s=%s, want %s", test.command, key, got[key], value)
				}
			}
			if got["executor.node.name"] == "" || got["error.type"] != test.has["error.type"] {
				t.Errorf("%s: %v", test.command, got)
			}
			if failed := run.Status.Code == codes.Error; failed != (test.failure != "") || run.Status.Description != test.failure {
				t.Errorf("%s: %+v", test.command, run.Status)
			}
			if given := commands.given["a"]; len(given) != 1 || given[0] != parentOf(run) {
				t.Errorf("%s: TRACEPARENT %v of %s", test.command, given, parentOf(run))
			}
			for _, msg := range []string{"run started", "run ended"} {
				if lines := h.logged(msg); len(lines) != 1 || !strings.Contains(lines[0], "trace_id="+run.SpanContext.TraceID().String()) {
					t.Errorf("%q", lines)
				}
			}
		})
	}
}

// Attempts are children of the run, each with its outcome; the run has that of the last. Each command is a child of its
// attempt.
func TestTraceRetriesAreChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, made := collect()
		commands := &traced{others: (&tries{codes: []int{1, -1, 2}}).run}
		h := beginWith(t, Config{File: parse(t, "# name: a\n# retries: 3\n@every 1h x\n"), Tracer: provider.Tracer("test")}, commands.run)
		time.Sleep(time.Hour + 5*time.Minute)
		h.end()
		runs, tries := named(made, "run a"), named(made, "attempt a")
		if len(runs) != 1 || len(tries) != 4 {
			t.Fatalf("%d runs, %d attempts", len(runs), len(tries))
		}
		if got := attributes(runs[0]); got["executor.job.attempt"] != "4" || got["executor.job.outcome"] != "ok" || runs[0].Status.Code != codes.Unset {
			t.Errorf("%v, status %+v", got, runs[0].Status)
		}
		reasons := []string{"exit status 1", "not started: context deadline exceeded", "exit status 2", ""}
		for i, try := range tries {
			if try.Parent.SpanID() != runs[0].SpanContext.SpanID() || try.SpanContext.TraceID() != runs[0].SpanContext.TraceID() {
				t.Errorf("attempt %d is a child of %v", i+1, try.Parent.SpanID())
			}
			if got := attributes(try)["executor.job.attempt"]; got != string(rune('1'+i)) || try.Status.Description != reasons[i] {
				t.Errorf("attempt %s: %+v, want %q", got, try.Status, reasons[i])
			}
			if commands.given["a"][i] != parentOf(try) {
				t.Errorf("TRACEPARENT=%s of %s", commands.given["a"][i], parentOf(try))
			}
		}
		for _, line := range append(h.logged("run will be retried"), h.logged("run ended")...) {
			if strings.Count(line, "trace_id="+runs[0].SpanContext.TraceID().String()) != 1 {
				t.Errorf("%s", line)
			}
		}
	})
}

// A run after others is a trace of its own, with a link to the run of each, also if another daemon has run these.
func TestTraceLinksRunsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		defer store.Close()
		var all [2]*tracetest.InMemoryExporter
		var both [2]*harness
		for i := range both {
			var provider *sdktrace.TracerProvider
			provider, all[i] = collect()
			both[i] = beginWith(t, Config{
				File:   linked(t, "# name: a\n@every 1h 0 1m\n# name: b\n@every 1h 0 2m\n# name: c\n# after: a, b\n@after 0 1m\n"),
				Tracer: provider.Tracer("test"), Store: Store{Store: store, Name: "jobs.db", Namespace: "shop", Lease: 5 * time.Second},
			}, new(scripted).run)
		}
		time.Sleep(time.Hour + 10*time.Minute)
		for _, h := range both {
			h.end()
		}
		find := func(name string) tracetest.SpanStub {
			found := append(named(all[0], name), named(all[1], name)...)
			if len(found) != 1 {
				t.Fatalf("%d spans %q", len(found), name)
			}
			return found[0]
		}
		a, b, c := find("run a"), find("run b"), find("run c")
		if len(c.Links) != 2 || c.Links[0].SpanContext.SpanID() != a.SpanContext.SpanID() || c.Links[1].SpanContext.SpanID() != b.SpanContext.SpanID() {
			t.Errorf("links %+v", c.Links)
		}
		if c.Parent.IsValid() || c.SpanContext.TraceID() == a.SpanContext.TraceID() || a.SpanContext.TraceID() == b.SpanContext.TraceID() {
			t.Errorf("traces %v %v %v", a.SpanContext.TraceID(), b.SpanContext.TraceID(), c.SpanContext.TraceID())
		}
	})
}

// A run that is not sampled tells its command so.
func TestTraceNotSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, made := collect(sdktrace.WithSampler(sdktrace.NeverSample()))
		commands := &traced{others: new(scripted).run}
		h := beginWith(t, Config{File: parse(t, "# name: a\n@every 1h 0 1m\n"), Tracer: provider.Tracer("test")}, commands.run)
		time.Sleep(time.Hour + 5*time.Minute)
		h.end()
		if given := commands.given["a"]; len(given) != 1 || !strings.HasSuffix(given[0], "-00") || len(made.GetSpans()) != 0 {
			t.Errorf("TRACEPARENT %v, %d spans", given, len(made.GetSpans()))
		}
	})
}

// Without a Tracer a run has no trace, and what the daemon was started with stays.
func TestTraceOff(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	t.Setenv("TRACEPARENT", parent)
	synctest.Test(t, func(t *testing.T) {
		commands := &traced{others: new(scripted).run}
		h := beginWith(t, Config{File: parse(t, "# name: a\n@every 1h 0 1m\n")}, commands.run)
		time.Sleep(time.Hour + 5*time.Minute)
		h.end()
		if given := commands.given["a"]; len(given) != 1 || given[0] != parent {
			t.Errorf("TRACEPARENT %v", given)
		}
		if lines := h.logged("trace_id"); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
	})
}
