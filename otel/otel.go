// Package execotel exports the measurements of an [executor.Observer] to OpenTelemetry, and makes a span of each run of
// a task.
//
//	import execotel "github.com/executor-go/executor/otel"
//	…
//	observer := &executor.Observer{Every: 1, MaxNames: 20}
//	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(execotel.Producer(observer)))
//	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
//	unregister, err := execotel.Register(observer, meters)
//	…
//	pool, err := executor.New(executor.Config{
//		Name: "mail", Observer: observer, Hooks: execotel.Hooks(tracers),
//	})
//
// The package has no global state: its functions use the providers that they are given, and importing it registers
// nothing.
//
// # Metrics
//
// [Register] exports counters and sizes. [Producer] exports the histograms, for which OpenTelemetry has no observable
// instrument. Both read the pools when a reader collects, so that the export costs tasks nothing.
//
//	executor.worker.count         {worker}     executor.worker.state: active, idle
//	executor.worker.kept          {worker}
//	executor.worker.limit         {worker}     left out if there is no limit
//	executor.queue.size           {task}
//	executor.queue.capacity       {task}       left out if there is no limit
//	executor.submitter.blocked    {submitter}
//	executor.pool.paused          {pool}       1 while it is paused, else 0
//	executor.schedule.count       {schedule}   scheduled pools only
//	executor.task.completed       {task}       executor.task.outcome: succeeded, failed, canceled
//	executor.task.rejected        {task}       error.type: saturated, shutdown, expired, evicted, panicked
//	executor.task.runs            {run}
//	executor.task.failures        {run}        of these
//	executor.task.panics          {panic}
//	executor.task.wait.duration   s            not of scheduled pools
//	executor.task.lateness        s            scheduled pools only
//	executor.task.run.duration    s
//
// All have the attributes executor.name, the name of the pool; executor.id, its number in the Observer, from 1; and
// executor.type, which is pool or scheduled. The three histograms have executor.task.name as well if Observer.MaxNames
// is not 0. Tasks with names beyond that number are together under the name (others).
//
// Package debug of module ui serves the same metrics, under the names that OpenTelemetry's exporter for Prometheus
// gives them.
//
// # Traces
//
// [Hooks] makes a span of each run of a task, and documents its attributes.
package execotel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scope is the name of the instrumentation.
const scope = "github.com/executor-go/executor/otel"

// Attributes that several signals have.
const (
	keyName     = "executor.name"
	keyTask     = "executor.task.name"
	keyOutcome  = "executor.task.outcome"
	keyError    = "error.type"
	outcomeOK   = "succeeded"
	outcomeFail = "failed"
	outcomeStop = "canceled"
)

// labelLimit is the most bytes of a name in an attribute.
const labelLimit = 200

// label returns the name of a pool or a task as an attribute: valid UTF-8, without which protobuf
// drops a whole batch, of at most 200 bytes, and without control characters. Package debug has
// the same, since what two modules share would have to be exported.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > labelLimit {
		s = s[:labelLimit]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}
