package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/daemon"
)

// lastResort is how long an orderly end may take after the third signal. Only
// with a log that is not read, and is waited for, does it take that long.
const lastResort = 2 * time.Second

// watchSignals turns signals into the steps of the daemon's end: the first
// drains, the second stops, the third kills.
func watchSignals() (ends daemon.Ends, drain context.CancelCauseFunc, release func()) {
	var steps [3]context.CancelCauseFunc
	for i, ctx := range []*context.Context{&ends.Drain, &ends.Stop, &ends.Kill} {
		*ctx, steps[i] = context.WithCancelCause(context.Background())
	}
	got := make(chan os.Signal, len(steps))
	// Without SIGQUIT, that would end executord at once, with all jobs still
	// running. Some service managers and containers stop daemons by it.
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	// Writing to a broken pipe has to be an error, and not the end of executord
	// with all jobs still running.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)

	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // owned by the caller, through release
		defer close(gone)
		for n := 0; ; n++ {
			select {
			case sig := <-got:
				if n >= len(steps) {
					continue // nothing is stronger than SIGKILL
				}
				steps[n](errors.New(describe(n, sig)))
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

func describe(n int, sig os.Signal) string {
	name := sig.String()
	switch sig {
	case os.Interrupt:
		name = "SIGINT"
	case syscall.SIGTERM:
		name = "SIGTERM"
	case syscall.SIGQUIT:
		name = "SIGQUIT"
	}
	return [...]string{"", "second ", "third "}[n] + name
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
