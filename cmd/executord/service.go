package main

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// applied returns what notes, and tells the service manager, that the jobs of a file are scheduled, at the start and
// after each reload.
func (o *runOptions) applied() func(job.File, error) {
	tell := o.service.Ready
	return func(file job.File, err error) {
		status := fmt.Sprintf("jobs: %d", len(file.Jobs))
		if err != nil {
			status = "the files are not in the store, or in part, see the log"
			o.reading.fail()
		} else {
			o.reading.succeed()
		}
		tell(status)
		tell = o.service.Reloaded
	}
}

// tellService tells the service manager when the daemon begins to end, and until stop is called that the daemon is
// alive.
func (o *runOptions) tellService(ends daemon.Ends, d *daemon.Daemon) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { // owned by the caller, through stop
		defer close(gone)
		o.service.Watch(ctx, d.Alive)
	}()
	release := context.AfterFunc(ends.Drain, func() {
		o.service.Stopping("draining: " + context.Cause(ends.Drain).Error())
	})
	return func() {
		release()
		cancel()
		<-gone
	}
}
