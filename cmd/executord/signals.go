package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/daemon"
)

// lastResort is how long an orderly end may take after the third signal. Only
// with a log that is not read, and is waited for, does it take that long.
const lastResort = 2 * time.Second

// echo is how long after a signal another one is the same: one that was sent to the whole group of processes, and also
// passed on by the parent, as by a shell, timeout or an init of a container, comes twice. It is documented. Tests shorten
// it.
var echo = 50 * time.Millisecond

// signalCount counts signals.
type signalCount struct {
	n    int
	last time.Time
}

// add returns how many signals there were before one that comes now, and whether it counts.
func (c *signalCount) add(now time.Time) (before int, counts bool) {
	before, counts = c.n, now.Sub(c.last) >= echo
	if counts {
		c.n, c.last = before+1, now
	}
	return before, counts
}

// watchSignals turns signals into the steps of the daemon's end: the first
// drains, the second stops, the third kills. More are signals that do so besides those of each daemon.
func watchSignals(more ...os.Signal) (ends daemon.Ends, drain context.CancelCauseFunc, release func()) {
	var steps [3]context.CancelCauseFunc
	for i, ctx := range []*context.Context{&ends.Drain, &ends.Stop, &ends.Kill} {
		*ctx, steps[i] = context.WithCancelCause(context.Background())
	}
	got := make(chan os.Signal, len(steps))
	// Without SIGQUIT, that would end executord at once, with all jobs still
	// running. Some service managers and containers stop daemons by it.
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if len(more) > 0 {
		signal.Notify(got, more...)
	}
	// Writing to a broken pipe has to be an error, and not the end of executord
	// with all jobs still running.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)

	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // owned by the caller, through release
		defer close(gone)
		var count signalCount
		for {
			select {
			case sig := <-got:
				n, counts := count.add(time.Now())
				if !counts || n >= len(steps) {
					continue // nothing is stronger than SIGKILL
				}
				steps[n](&signalError{n, sig})
				if n == len(steps)-1 {
					time.AfterFunc(lastResort, func() { os.Exit(exitInterrupted) })
				}
			case <-quit:
				return
			}
		}
	}()
	return ends, steps[0], func() {
		signal.Stop(got)
		signal.Stop(ignored)
		close(quit)
		<-gone
	}
}

// A signalError says which signal it was that ended something, and which of several in a row, from 0.
type signalError struct {
	n   int
	sig os.Signal
}

// number returns the number of the signal.
func (e *signalError) number() int {
	number, _ := e.sig.(syscall.Signal)
	return int(number)
}

func (e *signalError) Error() string {
	name := e.sig.String()
	switch e.sig {
	case syscall.SIGHUP:
		name = "SIGHUP"
	case os.Interrupt:
		name = "SIGINT"
	case syscall.SIGTERM:
		name = "SIGTERM"
	case syscall.SIGQUIT:
		name = "SIGQUIT"
	}
	return [...]string{"", "second ", "third "}[e.n] + name
}

// reloadSignals are signals to come that are sent to daemons so that they read their files again.
type reloadSignals chan os.Signal

// catchReloads returns these. Uncaught, one would end executord and leave its jobs
// alone; while the store is opened there are none, but a service manager takes
// that for an orderly end. They are caught under nohup too, which has SIGHUP
// ignored so that the end of a terminal ends nothing: nor does an answer.
func catchReloads() reloadSignals {
	got := make(reloadSignals, 1)
	signal.Notify(got, reloading...)
	return got
}
