package main

import (
	"errors"
	"log/slog"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// notReadAgain is in the log if a file is not to be used.
const notReadAgain = "file not read again"

// reload answers SIGHUP, SIGUSR2 and a change that --watch has seen: it reads the files again, and sends them to the
// daemon. With a mistake in a file, all stays as it is. Unread says that a file could not be read, which may pass.
func (o *runOptions) reload(log *slog.Logger, again chan<- job.File, quit <-chan struct{}) (unread bool) {
	o.service.Reloading()
	file, usable, unread := o.readAgain(log)
	if !usable {
		o.service.Reloaded("the files are not read again, see the log")
		return unread
	}
	o.reading.begin()
	select {
	case again <- file: // the daemon tells when it has applied it
	case <-quit:
	}
	return false
}

// readable reports whether the files can be read, be there mistakes in them or not.
func (o *runOptions) readable() bool {
	_, _, err := o.files.parse(o.stored(), true)
	var all job.Mistakes
	return err == nil || errors.As(err, &all)
}

// readAgain reads the files again. It logs why if they are not to be used, which may be that one could not be read.
func (o *runOptions) readAgain(log *slog.Logger) (file job.File, usable, unread bool) {
	if once := o.files.once(); once != "" {
		log.Warn("SIGHUP ignored", "reason", once+" is read only once; to read it again, restart executord")
		return file, false, false
	}
	file, read, err := o.files.parse(o.stored(), true)
	if err != nil {
		o.reading.fail() // before the log says so
		var all job.Mistakes
		if unread = !errors.As(err, &all); unread {
			log.Error(notReadAgain, "reason", err.Error())
		}
		for _, m := range all {
			log.Error(notReadAgain, "file", m.File, "line", m.Line, "reason", m.What, "hint", m.Hint)
		}
		return file, false, unread
	}
	if err := checkUsers(file, o.machine); err != nil {
		o.reading.fail()
		log.Error(notReadAgain, "reason", err.Error())
		return file, false, false
	}
	if len(file.Jobs) == 0 && o.hadJobs {
		o.reading.fail()
		log.Error(notReadAgain, "reason", "the file has no jobs, and had some before",
			"hint", "add the jobs; to run none, restart executord")
		return file, false, false
	}
	o.hadJobs = len(file.Jobs) > 0
	noteMissing(&file, o.machine)
	exposure.Log(log, exposure.Of(read, ""))
	return file, true, false
}

// answerReloads calls answer for each signal that was caught, and each change that watch sees, which may be nil.
// Answer returns when quit is closed. If it reports that a file could not be read, the next look at which readable
// reports that the files can be is taken for a change: what kept a file from being read need not show in its sight.
func answerReloads(signals reloadSignals, watch *watch, readable func() bool, answer func(quit <-chan struct{}) (unread bool)) (release func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // owned by the caller, through release
		defer close(gone)
		var looks <-chan time.Time
		if watch != nil {
			ticker := time.NewTicker(watchEvery)
			defer ticker.Stop()
			looks = ticker.C
		}
		unread := false
		for {
			select {
			case <-signals:
				unread = answer(quit)
			case <-looks:
				if watch.changed() || unread && readable() {
					unread = answer(quit)
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-gone
	}
}
