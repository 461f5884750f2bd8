package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/process"
)

// tellPatience is how long the end of a daemon waits for what it has to tell. It is documented.
const tellPatience = 10 * time.Second

// newNotifier returns one without channels.
func newNotifier(c Config) *notify.Notifier {
	host, err := os.Hostname()
	if err != nil {
		host = "executord"
	}
	return notify.New(notify.Config{Host: host, Log: c.Log})
}

// setChannels replaces the channels by those of a file.
func (d *Daemon) setChannels(file job.File) {
	var channels []*notify.Channel
	for _, spec := range file.Channels {
		c, err := spec.Build(d.runForNotify)
		if err != nil { // a file with a secret has gone since the job file was read
			d.Log.Error("channel not used", "channel", spec.Name, "reason", err.Error(), "hint", "correct it, and send SIGHUP")
			continue
		}
		channels = append(channels, c)
	}
	d.notifier.Set(channels)
}

// Notifications returns what became of those, by channel, and the last that were sent or given up, the latest last.
func (d *Daemon) Notifications() ([]notify.Counts, []notify.Sent) {
	return d.notifier.Counts(), d.notifier.Sent()
}

// runForNotify is a notify.Runner. The supervisor waits for all children of the program, so it has to start them.
func (d *Daemon) runForNotify(ctx context.Context, args, env []string, input string) (string, error) {
	var mu sync.Mutex
	var output bytes.Buffer
	result := d.command(ctx, process.Command{Args: args, Env: append(os.Environ(), env...), Stdin: input}, process.Observer{
		Started: func(int, time.Time) {},
		Output: func(_ process.Stream, line []byte, _ bool) {
			mu.Lock()
			defer mu.Unlock()
			if output.Len() < tailSize {
				output.Write(append(line, '\n'))
			}
		},
	})
	mu.Lock()
	defer mu.Unlock()
	text := strings.TrimSpace(job.Printable(output.String()))
	switch {
	case result.Err != nil:
		return text, result.Err
	case result.Stopped:
		return text, fmt.Errorf("it was ended: %w", result.Cause)
	case result.Signal != "":
		return text, errors.New("killed by " + result.Signal)
	case result.Code != 0:
		return text, fmt.Errorf("exit status %d", result.Code)
	}
	return text, nil
}

// endNotifier sends what there is to tell, with a bound.
func (d *Daemon) endNotifier(kill context.Context) {
	ctx, cancel := context.WithTimeout(kill, tellPatience)
	defer cancel()
	d.notifier.Close(ctx)
}

// tell tells of an event of the job.
func (e *entry) tell(event notify.Event) {
	d := e.daemon
	d.mu.Lock()
	channels := d.mu.file[e.name].Notify
	d.mu.Unlock()
	event.Job = e.name
	d.notifier.Tell(event, channels)
}

// tellStarted tells that the command was started, and whether that was late. The jitter is no delay.
func (r *run) tellStarted(began time.Time) {
	late := r.late(began)
	e := notify.Event{Kind: notify.Started, Run: r.number, At: began, Due: r.due, Late: late}
	r.entry.tell(e)
	if late -= r.job.Jitter; late > 0 {
		e.Kind, e.Late = notify.Late, late
		r.entry.tell(e)
	}
}

// kinds are what is told of the outcomes.
var kinds = map[outcome.Outcome]notify.Kind{
	outcome.OK: notify.Succeeded, outcome.Failed: notify.Failed, outcome.Timeout: notify.Failed, outcome.Stopped: notify.Failed,
	outcome.NotStarted: notify.NotStarted, outcome.Canceled: notify.Canceled, outcome.Replaced: notify.Canceled,
	outcome.Lost: notify.Lost,
}

// tellEnded tells how the run ended. Again reports whether the one before had failed.
func (r *run) tellEnded(result process.Result, o outcome.Outcome, text string, again bool) {
	if r.told == nil || o == outcome.Delayed {
		return // nobody was told of the start, or the run goes on
	}
	reason, _, _ := strings.Cut(text, "\n")
	e := notify.Event{
		Kind: kinds[o], Run: r.number, At: time.Now(), Due: r.due, Took: result.Took, Reason: reason,
		Output: r.told.String(),
	}
	r.entry.tell(e)
	if o == outcome.OK && again {
		e.Kind = notify.Recovered
		r.entry.tell(e)
	}
}

// tellStore tells that the store does not answer, and that it does again.
func (d *Daemon) tellStore(err error) {
	w := &d.watcher
	switch {
	case err != nil && !w.unreachable:
		w.unreachable = true
		d.notifier.Tell(notify.Event{Kind: notify.Unreachable, Reason: "until it answers, no run begins, and runs in progress may be lost"}, nil)
	case err == nil && w.unreachable:
		w.unreachable = false
		d.notifier.Tell(notify.Event{Kind: notify.Recovered, Reason: "the store answers again"}, nil)
	}
}
