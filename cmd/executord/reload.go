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
// daemon. With a mistake in a file, all stays as it is. Unread says which files could not be read, which may pass.
func (o *runOptions) reload(log *slog.Logger, again chan<- job.File, quit <-chan struct{}) (unread string) {
	o.service.Reloading()
	file, usable, unread := o.readAgain(log)
	if !usable {
		o.service.Reloaded("the files are not read again, see the log")
		return unread
	}
	select {
	case again <- file: // the daemon tells when it has applied it
	case <-quit:
	}
	return unread
}

// unread says which files can't be read, "" if all can, be there mistakes in them or not.
func (o *runOptions) unread() string {
	parts, _, err := o.files.read(o.stored(), true)
	return unreadOf(parts, err)
}

// tellRefused logs why files are not used while others are.
func (o *runOptions) tellRefused(log *slog.Logger, refused job.Mistakes) {
	if len(refused) > 0 {
		o.reading.fail() // before the log says so
	}
	for _, m := range refused {
		log.Error("file not read", "file", m.File, "line", m.Line, "reason", m.What, "hint", m.Hint)
	}
}

// readAgain reads the files again. It logs why if they are not to be used, which may be that one could not be read.
func (o *runOptions) readAgain(log *slog.Logger) (file job.File, usable bool, unread string) {
	if once := o.files.once(); once != "" {
		log.Warn("SIGHUP ignored", "reason", once+" is read only once; to read it again, restart executord")
		return file, false, ""
	}
	file, read, refused, unread, err := o.files.usable(o.stored(), true)
	if err != nil {
		o.reading.fail()
		var all job.Mistakes
		if !errors.As(err, &all) {
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
		return file, false, ""
	}
	if len(file.Jobs) == 0 && o.hadJobs {
		o.reading.fail()
		log.Error(notReadAgain, "reason", "the file has no jobs, and had some before",
			"hint", "add the jobs; to run none, restart executord")
		return file, false, ""
	}
	o.hadJobs = len(file.Jobs) > 0
	noteHereAndNow(&file, o.machine)
	exposure.Log(log, exposure.Of(read, ""))
	o.inUse.look(log, o.files.all())
	if len(refused) == 0 {
		o.reading.begin()
	}
	o.tellRefused(log, refused)
	return file, true, unread
}

// answerReloads calls answer for each signal that was caught, and each change that watch sees, which may be nil.
// Answer returns when quit is closed. If it says that files could not be read, the next look at which unread says
// something else is taken for a change: what kept a file from being read need not show in its sight.
func answerReloads(signals reloadSignals, watch *watch, unread func() string, answer func(quit <-chan struct{}) (unread string)) (release func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // owned by the caller, through release
		defer close(gone)
		var looks <-chan time.Time
		if watch != nil {
			ticker := time.NewTicker(watchEvery)
			defer ticker.Stop()
			looks = ticker.C
		}
		left := ""
		for {
			select {
			case <-signals:
				left = answer(quit)
			case <-looks:
				if watch.changed() || left != "" && unread() != left {
					left = answer(quit)
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
