package daemon

import (
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
)

// tell tells of an event of the job.
func (e *entry) tell(event notify.Event) {
	b := e.base
	name, _, _ := job.CutAt(e.name)
	event.Job = e.name
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notifier.Tell(event, b.mu.channels[name])
}

// tellStarted tells that the command of a run was started, and whether that was late. The jitter is no delay.
func (e *entry) tellStarted(number int, due, began time.Time, late, jitter time.Duration) {
	event := notify.Event{Kind: notify.Started, Run: number, At: began, Due: due, Late: late}
	e.tell(event)
	if late -= jitter; late > 0 {
		event.Kind, event.Late = notify.Late, late
		e.tell(event)
	}
}

// kinds are what is told of the outcomes. A run that is delayed goes on, and one that is lost is told by whoever begins it
// again.
var kinds = map[outcome.Outcome]notify.Kind{
	outcome.OK: notify.Succeeded, outcome.Failed: notify.Failed, outcome.Timeout: notify.Failed, outcome.Stopped: notify.Failed,
	outcome.NotStarted: notify.NotStarted, outcome.Canceled: notify.Canceled, outcome.Replaced: notify.Canceled,
}
