package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable"
)

// here returns the jobs of a file that this daemon puts into the store. Without one that others share, these are the
// jobs for this machine alone: nobody else would run the rest.
func (d *base) here(file job.File) []job.Job {
	if d.Store.shared() || !slices.ContainsFunc(file.Jobs, func(j job.Job) bool { return j.On.Each || !d.Machine.In(j.On) }) {
		return file.Jobs
	}
	var jobs []job.Job
	for _, j := range file.Jobs {
		if d.Machine.In(j.On) {
			j.On.Each = false // there are no others
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// isElsewhere reports whether this daemon does not run a job of its file, nor puts it into the store for others, since
// its machine is none of the job's.
func (d *base) isElsewhere(j job.Job) bool {
	return !d.Machine.In(j.On) && (!d.Store.shared() || j.Schedule.AtStart || j.On.Each)
}

// logElsewhere logs which jobs of a file are for other machines alone.
func (d *base) logElsewhere(file job.File) {
	for _, j := range file.Jobs {
		if d.isElsewhere(j) {
			d.Log.Info("job is not for this machine", about.Key, about.JobElsewhere, "job", j.Name, "schedule", j.Schedule.Text,
				"on", j.On.String(), "machine", d.Machine.String())
		}
	}
}

// isNoLongerHere reports whether a job that is removed is in the file, for other machines.
func (d *base) isNoLongerHere(name string, file job.File) bool {
	name, _, _ = job.CutAt(name)
	return slices.ContainsFunc(file.Jobs, func(j job.Job) bool { return j.Name == name && d.isElsewhere(j) })
}

// isOthers reports whether a job is that of another machine, of one that runs on each.
func (d *base) isOthers(name string) bool {
	_, machine, each := job.CutAt(name)
	return each && machine != d.Machine.Name
}

// serve has the node take the jobs that are for its machine: those of the file, and those of other daemons.
func (d *Daemon) serve(ctx context.Context, file []job.Job) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	queues, err := catalog.Queues(ctx, d.catalog.Jobs, d.Machine, file)
	if err != nil && d.watcher.file != nil {
		return // the next look asks again
	}
	d.catalog.Jobs.SetQueues(queues...)                                   // refuses none that ParseWhere has read
	kinds, _ := catalog.GroupKinds(ctx, d.Store, d.Store.Namespace, file) // else the next look asks again
	for kind, limit := range kinds {
		if !d.kinds[kind] {
			d.kinds[kind] = true
			durable.Handle(d.catalog.Jobs, kind, d.handle, durable.GlobalLimit(limit))
		}
	}
	d.watcher.file = file
}

// leasesPerMachines is how many leases go by between two looks for machines, which come each 20 seconds at least. It is
// documented.
const leasesPerMachines = 2

// machinesEvery returns the time between two looks for machines.
func (d *Daemon) machinesEvery() time.Duration {
	const most = 20 * time.Second
	return min(leasesPerMachines*min(d.Store.Lease, most), most)
}

// stranded is a job that waits, and that no daemon which is running may run.
type stranded struct {
	due    time.Time
	looks  int           // that have found it so; one may have come before a daemon that is new, or has a new file
	told   time.Duration // how late it was when that was told last
	logged bool
}

// lookForMachines takes jobs that other daemons have added for this machine, logs which jobs no machine may run, and
// tells of those that are due. Of the daemons of the namespace the first by its name tells.
func (d *Daemon) lookForMachines(ctx context.Context) {
	if !d.Store.shared() {
		return // all jobs are for this machine
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d.serve(ctx, d.watcher.file)
	nodes, err := catalog.ListNodes(ctx, d.catalog.Jobs, d.Store.Namespace)
	if err != nil {
		return // package durable logs that the store does not answer
	}
	wait, err := catalog.Stranded(ctx, d.catalog.Jobs, d.Store, d.Store.Namespace, nodes)
	if err != nil {
		return
	}
	now, err := d.Store.Now(ctx)
	if err != nil {
		return
	}
	self, _ := d.catalog.Jobs.Node()
	first := len(nodes) > 0 && nodes[0].Name == self.Name
	before := d.watcher.stranded
	d.watcher.stranded = make(map[string]*stranded, len(wait))
	for _, e := range wait {
		s := before[e.Name]
		if s == nil {
			s = new(stranded)
		}
		d.watcher.stranded[e.Name] = s
		if s.looks++; s.looks == 1 {
			continue
		}
		d.noteStranded(e, s, now, first)
		if first && e.Forgotten(now) && d.catalog.Forget(ctx, e) == nil {
			d.entry(e.Name).log.Warn("job removed", "reason", "no daemon has run on its machine for a day", "hint", "a daemon there adds it again")
		}
	}
	for name, s := range before {
		if s.logged && d.watcher.stranded[name] == nil {
			d.entry(name).log.Info("job has a machine again", about.Key, about.MachineFound)
		}
	}
}

// noteStranded logs that a job has no machine, once, and tells of it if it is due.
func (d *Daemon) noteStranded(e catalog.Entry, s *stranded, now time.Time, tells bool) {
	on, entry := e.Spec.On, d.entry(e.Name)
	reason := on.Lacking()
	if !s.logged {
		s.logged = true
		entry.log.Warn("job has no machine", about.Key, about.NoMachine, "due", stamp(e.Due.In(e.Spec.Location())), "on", on.String(),
			"reason", reason, "hint", "start executord there, with --label if that is a label, or change on")
	}
	if !s.due.Equal(e.Due) {
		s.due, s.told = e.Due, 0
	}
	late := now.Sub(e.Due)
	if late <= 0 {
		return
	}
	if tells {
		entry.tell(notify.Event{Kind: notify.Late, Due: e.Due.In(e.Spec.Location()), Late: late, Told: s.told, Reason: reason})
	}
	s.told = late
}
