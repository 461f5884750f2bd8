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

	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/durable"
)

// tellPatience is how long the end of a daemon waits for what it has to tell. It is documented.
const tellPatience = 10 * time.Second

// newNotifier returns one without channels, whose messages are jobs beside those of a shared store.
func newNotifier(c Config, jobs *durable.Jobs) *notify.Notifier {
	host, err := os.Hostname()
	if err != nil {
		host = "executord"
	}
	n := notify.Config{Host: host, Namespace: c.Store.Namespace, Log: c.Log}
	if c.Store.shared() {
		n.Shared = notify.Home{Jobs: jobs, Store: c.Store.Store}
	}
	return notify.New(n)
}

// setChannels replaces the channels by those of a file, and what jobs have which of them. A job that is no longer in the
// file may have a run in progress, which keeps those that it has.
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
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, j := range file.Jobs {
		d.mu.channels[j.Name] = j.Notify
	}
	d.notifier.Set(channels)
}

// Channels returns what became of the notifications of each channel.
func (d *Daemon) Channels() []notify.Counts { return d.notifier.Counts() }

// ErrNoChannel is the error about a channel that there is not, or not any more.
var ErrNoChannel = errors.New("there is no such channel")

// TestChannel sends a test on a channel, once, and returns the answer, or ErrNoChannel.
func (d *Daemon) TestChannel(ctx context.Context, name string) (answer string, err error) {
	c := d.notifier.Channel(name)
	if c == nil {
		return "", ErrNoChannel
	}
	return d.notifier.Test(ctx, c)
}

// runForNotify is a notify.Runner. The supervisor waits for all children of the program, so it has to start them.
func (d *Daemon) runForNotify(ctx context.Context, args, env []string, input string) (string, error) {
	own, err := environ.Of(job.Command{}, nil)
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	var output bytes.Buffer
	result := d.command(ctx, process.Command{Args: args, Env: append(own, env...), Stdin: input}, process.Observer{
		Started: func(int, time.Time) {},
		Output: func(_ process.Stream, line []byte, _ bool) {
			mu.Lock()
			defer mu.Unlock()
			if output.Len() < tailSize {
				output.Write(line)
				output.WriteByte('\n')
			}
		},
	})
	mu.Lock()
	defer mu.Unlock()
	lines := strings.Split(strings.TrimSpace(output.String()), "\n")
	for i, line := range lines {
		lines[i] = job.Printable(line)
	}
	text := strings.Join(lines, "\n")
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

// outage is the last time during which the store could not be used, as far as this daemon knows; before the first, from
// and until are when it could be.
type outage struct {
	from, until time.Time // until is zero while it lasts
	full        bool      // the store takes no changes, since it has no room
}

// tellStore tells that the store can't be used, and that it can again.
func (d *Daemon) tellStore(err error) {
	w, now := &d.watcher, time.Now()
	began, ended := err != nil && !w.unreachable, err == nil && w.unreachable
	w.unreachable = err != nil
	d.mu.Lock()
	if began {
		d.mu.outage = outage{from: w.well, full: errors.Is(err, durable.ErrFull)}
	} else if ended {
		d.mu.outage.until = now
	}
	full := d.mu.outage.full
	d.mu.Unlock()
	if err == nil {
		w.well = now
	}
	switch {
	case began && full:
		d.notifier.Tell(notify.Event{Kind: notify.Unreachable, Reason: "it is full: make room on its disk; until then, no run begins, and runs in progress may be lost"}, nil)
	case began:
		d.notifier.Tell(notify.Event{Kind: notify.Unreachable, Reason: "it does not answer; until it does, no run begins, and runs in progress may be lost"}, nil)
	case ended && full:
		d.notifier.Tell(notify.Event{Kind: notify.Recovered, Reason: "the store takes changes again"}, nil)
	case ended:
		d.notifier.Tell(notify.Event{Kind: notify.Recovered, Reason: "the store answers again"}, nil)
	}
}

// whyMissed returns why a due time has had no run, as far as this daemon knows.
func (d *base) whyMissed(due time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch o := d.mu.outage; {
	case o.from.IsZero(), due.Before(o.from), !o.until.IsZero() && due.After(o.until):
		return "no daemon was running, none had room for it, or the store could not be used"
	case o.full:
		return "the store was full"
	}
	return "the store did not answer"
}
