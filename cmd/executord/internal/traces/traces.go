// Package traces sends spans to a collector of OpenTelemetry, by OTLP over HTTP, as the variables of the environment
// say that OpenTelemetry has for all programs.
package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// closePatience is how long Close waits for the collector. It is documented.
const closePatience = 5 * time.Second

// defaultEndpoint is where a collector listens if only OTEL_TRACES_EXPORTER says that there is one.
const defaultEndpoint = "http://localhost:4318/v1/traces"

// Config says what the environment does not.
type Config struct {
	Log     *slog.Logger
	Version string // of the program
	// Client makes the requests. Nil means one as the environment says.
	Client *http.Client
}

// Traces sends what its tracer makes. A nil Traces does nothing.
type Traces struct {
	provider *sdktrace.TracerProvider
	exporter *exporter
}

// FromEnvironment returns what the environment asks for: nil if that is no traces, or if it cannot be had, which is
// logged. The caller closes it.
func FromEnvironment(c Config) *Traces {
	where, err := endpoint()
	if err != nil {
		c.Log.Warn("no traces are sent", "reason", err.Error(), "hint", "correct the environment, and start executord again")
	}
	if where == "" || err != nil {
		return nil
	}
	tellOther(c.Log)
	var opts []otlptracehttp.Option
	if where == defaultEndpoint {
		opts = append(opts, otlptracehttp.WithEndpointURL(where))
	}
	if c.Client != nil {
		opts = append(opts, otlptracehttp.WithHTTPClient(c.Client))
	}
	to, err := otlptracehttp.New(context.Background(), opts...)
	if err != nil {
		c.Log.Warn("no traces are sent", "reason", err.Error())
		return nil
	}
	e := &exporter{SpanExporter: to, log: c.Log, to: where}
	e.closing, e.cut = context.WithCancel(context.Background())
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about(c)),
		sdktrace.WithSpanProcessor(counter{sdktrace.NewBatchSpanProcessor(e), &e.ended}))
	c.Log.Info("traces are sent", "to", where)
	return &Traces{provider, e}
}

// Tracer returns what makes spans, nil if there are to be none.
func (t *Traces) Tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("github.com/executor-go/executor/cmd/executord")
}

// Close sends what has ended, for as long as ctx lasts and no longer than a few seconds, and logs how many spans were
// not sent.
func (t *Traces) Close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	defer context.AfterFunc(ctx, t.exporter.cut)()
	last, release := context.WithTimeout(context.Background(), closePatience+time.Second) // if a request is deaf
	defer release()
	t.provider.Shutdown(last)
	t.exporter.sum()
}

// endpoint returns where the environment has traces sent, "" for nowhere. An error says what is wrong with it.
func endpoint() (string, error) {
	if strings.EqualFold(variable("OTEL_SDK_DISABLED"), "true") {
		return "", nil
	}
	exporters := strings.FieldsFunc(variable("OTEL_TRACES_EXPORTER"), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(exporters, "none") {
		return "", nil
	}
	name, suffix := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""
	where := variable(name)
	if where == "" {
		name, suffix = "OTEL_EXPORTER_OTLP_ENDPOINT", "/v1/traces"
		where = variable(name)
	}
	asked := slices.Contains(exporters, "otlp")
	if where == "" && !asked {
		return "", nil
	}
	if len(exporters) > 0 && !asked {
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER=%s: executord has otlp and none", strings.Join(exporters, ","))
	}
	protocol := variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		protocol = variable("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if protocol != "" && protocol != "http/protobuf" && protocol != "http/json" {
		return "", fmt.Errorf("the protocol is %s, and executord has http/protobuf and http/json; a collector has them at port 4318, as a rule", protocol)
	}
	if where == "" {
		return defaultEndpoint, nil
	}
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // its text may have a password
		return "", fmt.Errorf("%s is not an HTTP URL; write it as http://localhost:4318", name)
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}).String() + suffix, nil
}

func variable(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// about returns what the spans are of: this program on this machine, and what the environment says.
func about(c Config) *resource.Resource {
	r, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "executord"), attribute.String("service.version", c.Version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		otel.Handle(err)
	}
	return r
}

// tellOther has OpenTelemetry log what is wrong, as with a variable, each error once. By itself it writes to standard
// error.
func tellOther(log *slog.Logger) {
	var mu sync.Mutex
	told := make(map[string]bool)
	tell := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if text := reason(err); !told[text] && len(told) < 20 {
			told[text] = true
			log.Warn("OpenTelemetry", "reason", text)
		}
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(tell))
	otel.SetLogger(logr.New(sink{tell}))
}

// sink is a logr.LogSink for the errors alone.
type sink struct{ tell func(error) }

func (s sink) Init(logr.RuntimeInfo)                 {}
func (s sink) Enabled(int) bool                      { return false }
func (s sink) Info(int, string, ...any)              {}
func (s sink) Error(err error, msg string, _ ...any) { s.tell(fmt.Errorf("%s: %w", msg, err)) }
func (s sink) WithValues(...any) logr.LogSink        { return s }
func (s sink) WithName(string) logr.LogSink          { return s }

// longestReason bounds what is logged of an error: a collector may answer with a page.
const longestReason = 500

func reason(err error) string {
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if len(text) > longestReason {
		text = strings.ToValidUTF8(text[:longestReason], "") + "..."
	}
	return text
}

// exporter is one that logs when the collector begins not to take spans, and when it takes them again, and that ends at
// once when it has to. It is called by one goroutine at a time.
type exporter struct {
	sdktrace.SpanExporter
	log     *slog.Logger
	to      string
	closing context.Context
	cut     context.CancelFunc
	failing bool

	ended, sent atomic.Int64 // spans
}

// ExportSpans returns no error: it has logged it.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.closing, func() { cancel(errors.New("executord ends")) })()
	err := ctx.Err()
	if err == nil {
		err = e.SpanExporter.ExportSpans(ctx, spans)
	}
	switch {
	case err == nil:
		e.sent.Add(int64(len(spans)))
		if e.failing {
			e.log.Info("traces are sent again", "to", e.to)
		}
	case !e.failing:
		e.log.Warn("traces are not sent", "to", e.to, "reason", reason(err),
			"hint", "jobs run as always; until the collector answers, spans are lost")
	}
	e.failing = err != nil
	return nil
}

// sum logs how many spans were not sent.
func (e *exporter) sum() {
	if ended, sent := e.ended.Load(), e.sent.Load(); sent < ended {
		e.log.Warn("spans lost", "count", ended-sent, "of", ended, "reason", "the collector has not confirmed them")
	}
}

// counter is a SpanProcessor that counts the spans that are to be sent. Some are not if they end faster than they are
// sent.
type counter struct {
	sdktrace.SpanProcessor
	ended *atomic.Int64
}

func (c counter) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.ended.Add(1)
	}
	c.SpanProcessor.OnEnd(s)
}
