package daemon

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// reload replaces the file.
func (d *Daemon) reload(ctx context.Context, file job.File) {
	d.Log.Info("file read again", about.Key, about.ReadAgain, "file", file.Name, "jobs", len(file.Jobs))
	d.logNotes(file)
	d.logElsewhere(file)
	d.setChannels(file)
	d.pool.Resize(workers(file)) // refused only by a pool that is shut down, whose jobs do not run any more
	err := d.apply(ctx, file, "")
	if err != nil {
		d.Log.Error("file not stored, or only in part", "reason", err.Error(), "hint", "send SIGHUP again, when the store answers")
	}
	d.noteApplied(file, err)
}

func (d *Daemon) noteApplied(file job.File, err error) {
	if d.Applied != nil {
		d.Applied(file, err)
	}
}

// apply brings the store in line with the file. The hint is for jobs that are not in the file any more.
func (d *Daemon) apply(ctx context.Context, file job.File, hint string) error {
	reported := make(map[string]catalog.State, len(file.Jobs))
	jobs := d.here(file)
	d.serve(ctx, jobs)
	err := d.catalog.Apply(ctx, jobs, func(s catalog.Step) {
		if d.isOthers(s.Name) && s.Action != catalog.Remove {
			return // its daemon logs it
		}
		if s.Action == catalog.Remove {
			attrs := []any{"job", s.Name, "reason", "it is not in " + file.Name + " any more"}
			if d.isNoLongerHere(s.Name, file) {
				attrs[3] = "it is not for this machine any more"
			} else if hint != "" {
				attrs[3] = "it is not in " + file.Name + ", and was in the store"
				attrs = append(attrs, "hint", hint)
			}
			d.Log.Warn("job removed", attrs...)
			return
		}
		d.logApplied(s)
		if s.Err == nil {
			reported[s.Name] = s.Now.Blocked()
		}
	})
	if err != nil { // jobs for which the store has not answered are as before
		for name, state := range d.watcher.reported {
			if _, ok := reported[name]; !ok {
				reported[name] = state
			}
		}
	}
	d.watcher.reported = reported
	if err == nil {
		d.setFile(file)
	}
	if len(jobs) >= manyJobs {
		debug.FreeOSMemory() // what the files and the steps took is several times what stays
	}
	return err
}

// manyJobs is the number of jobs from which on the memory that it took to apply them is returned at once.
const manyJobs = 1000

// logApplied logs what became of a job in the store.
func (d *Daemon) logApplied(s catalog.Step) {
	e, schedule := d.entry(s.Name), s.Job.Schedule.Text
	if s.Err != nil {
		attrs := []any{"schedule", schedule, "reason", s.Err.Error()}
		if s.Was != nil && !s.Was.Spec.Off {
			attrs = append(attrs, "hint", "until this is fixed, the job keeps its old schedule")
		}
		e.log.Error("job not scheduled", attrs...)
		return
	}
	if state := s.Now.Blocked(); state != "" {
		e.log.Warn("job does not run", "schedule", schedule, "change", string(s.Action), "state", string(state), "hint", d.resume(s.Name))
	} else {
		e.logScheduled(s)
	}
	e.noteOwed(s)
}

// logScheduled logs that a job is scheduled, and when it is due next, if that is known.
func (e *entry) logScheduled(s catalog.Step) {
	attrs := []any{about.Key, about.JobScheduled, "schedule", s.Job.Schedule.Text, "change", string(s.Action)}
	if !s.Job.On.IsZero() {
		attrs = append(attrs, "on", s.Job.On.String())
	}
	if next := s.Now.Next(time.Now()); !next.IsZero() {
		attrs = append(attrs, "next", stamp(next))
	}
	e.log.Info("job scheduled", attrs...)
}

func (d *Daemon) logNotes(file job.File) {
	for _, note := range file.Notes {
		d.Log.Warn("note on the file", about.Key, about.Note, "file", note.File, "line", note.Line, "what", note.What, "hint", note.Hint)
	}
}

// workers returns how many runs there may be at once.
func workers(f job.File) int { return max(leastWorkers, 2*len(f.Jobs)) }
