package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/record"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable"
)

// Figures returns the counters of the jobs in the file, and of others with a run in progress here, by name. It asks no
// store, and does not wait.
func (d *Daemon) Figures() []Figures {
	d.mu.Lock()
	all, file := slices.Clone(d.mu.order), d.mu.file
	d.mu.Unlock()
	var list []Figures
	for _, e := range all {
		f := e.read()
		if _, ours := file[e.name]; ours || f.Running > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b Figures) int { return strings.Compare(a.Job, b.Job) })
	return list
}

// setFile notes a file that was applied.
func (d *Daemon) setFile(file job.File) {
	jobs, elsewhere := make(map[string]*job.Job, len(file.Jobs)), make(map[string]job.Job)
	all := catalog.Of(d.Machine, d.here(file))
	for i := range all {
		j := &all[i]
		if j.Schedule.AtStart && !d.Machine.In(j.On) {
			continue
		}
		d.entry(j.Name) // a job has figures before its first run
		jobs[j.Name] = j
	}
	for _, j := range file.Jobs {
		if d.isElsewhere(j) {
			elsewhere[j.Name] = j
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.file, d.mu.elsewhere = jobs, elsewhere
	d.applied.Store(true)
}

const (
	// freshness is how old an answer of a store may be: however many look, it is asked once in that time. It is
	// documented.
	freshness = 2 * time.Second

	// patienceOfReaders is how long an answer of the store is waited for.
	patienceOfReaders = 5 * time.Second
)

// Ready returns nil if the jobs of the file are in the store, the store answers, and the daemon does not drain.
func (d *Daemon) Ready(ctx context.Context) error {
	if d.leaving.Err() != nil {
		return errors.New("draining")
	}
	d.mu.Lock()
	loaded := d.mu.file != nil
	d.mu.Unlock()
	if !loaded {
		return errors.New("the file is not in the store yet")
	}
	if _, err := d.ask(ctx); err != nil {
		return err
	}
	return d.StoreError(ctx)
}

// StoreError returns why the store does not answer, nil if it does. One that can be read, such as a file on a full disk,
// does not answer if it takes nothing from this daemon.
func (d *Daemon) StoreError(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patienceOfReaders)
	defer cancel()
	if _, err := d.Store.Now(ctx); err != nil {
		return err
	}
	jobs := d.catalog.Jobs
	if node, runs := jobs.Node(); !runs || node.Draining {
		return nil
	}
	return jobs.Healthy(ctx)
}

// ask returns what the store says of the jobs, or has said a moment ago.
func (d *Daemon) ask(ctx context.Context) (answers, error) {
	ctx, cancel := context.WithTimeout(ctx, patienceOfReaders)
	defer cancel()
	select {
	case d.questions <- struct{}{}:
	case <-ctx.Done():
		return answers{}, ctx.Err()
	}
	defer func() { <-d.questions }()
	if a := d.answers; !a.at.IsZero() && (!d.Store.shared() && time.Since(a.at) < freshness/10 ||
		d.Store.shared() && time.Since(a.at) < freshness) {
		return a, nil
	}
	known, err := d.askKnown(ctx, d.answers.known)
	if err != nil {
		return answers{}, err
	}
	d.answers.known = known
	entries := known.jobs
	pasts, err := d.askPasts(ctx, entries, d.answers.pasts)
	if err != nil {
		return answers{}, err
	}
	day, err := d.askDay(ctx, d.answers.day)
	if err != nil {
		return answers{}, err
	}
	var nodes catalog.Nodes
	if slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Queue != durable.DefaultQueue }) {
		if nodes, err = catalog.ListNodes(ctx, d.catalog.Jobs, d.Store.Namespace); err != nil {
			return answers{}, err
		}
	}
	ends, err := catalog.PausedUntil(ctx, d.catalog.Jobs, entries)
	if err != nil {
		return answers{}, err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), catalog.Entry.Removed)
	d.answers = answers{entries, time.Now(), known, pasts, day, nodes, ends}
	return d.answers, nil
}

// askKnown returns the jobs of the store, with their runs.
func (d *Daemon) askKnown(ctx context.Context, old known) (known, error) {
	if !d.applied.Swap(false) && time.Now().Before(old.until) {
		jobs, err := catalog.Again(ctx, d.Store, old.jobs)
		return known{jobs, old.until}, err
	}
	began := time.Now()
	jobs, err := catalog.Select(ctx, d.Store, d.Store.Namespace)
	if err != nil {
		d.applied.Store(true)
		return old, err
	}
	return known{jobs, time.Now().Add(listShare * time.Since(began))}, nil
}

// Jobs returns the jobs of the namespace, and those that run at the start, by name.
func (d *Daemon) Jobs(ctx context.Context) ([]view.Job, error) {
	a, err := d.ask(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	var list []view.Job
	for _, e := range a.entries {
		p := a.pasts[e.ID]
		var last *durable.Run
		if p.last.Seq > 0 {
			last = &p.last.Run
			if e.Last.ID != last.Job { // a later one never began
				e.Last = catalog.RowOf(p.last)
			}
		}
		j := view.Of(e, last, now)
		j.Past = p.runs
		if end, ok := a.ends[e.ID]; ok {
			j.Until = end.In(e.Spec.Location())
		}
		if a.nodes.Lack(e) {
			j.State = catalog.Status{State: catalog.StateNoMachine}
		}
		if !d.Store.shared() {
			if j.Node = ""; j.Running != nil {
				j.Running.Node = ""
			}
		}
		d.addLatest(&j, 2)
		list = append(list, j)
	}
	d.mu.Lock()
	file, elsewhere := d.mu.file, d.mu.elsewhere
	d.mu.Unlock()
	for _, j := range file {
		if j.Schedule.AtStart {
			list = append(list, d.unstored(*j, catalog.StateEnded))
		}
	}
	for _, j := range elsewhere {
		list = append(list, d.unstored(j, catalog.StateElsewhere))
	}
	slices.SortFunc(list, func(a, b view.Job) int { return strings.Compare(a.Job, b.Job) })
	return list, nil
}

// unstored returns a job of the file that is not in the store.
func (d *Daemon) unstored(j job.Job, state catalog.State) view.Job {
	spec := catalog.NewSpec(j)
	v := view.Job{Namespace: d.Store.Namespace, Job: j.Name, Schedule: j.Schedule.Text, Zone: j.Schedule.ZoneName(),
		Command: j.Command.Text(), State: catalog.Status{State: state}, Attempt: 1, Tags: j.Tags, On: j.On.Values(),
		Parameters: j.Parameters, Spec: &spec}
	d.addLatest(&v, view.MostPast)
	return v
}

// addLatest adds what is known here of the latest runs of a job: the store was asked a moment ago, or has none of them.
func (d *Daemon) addLatest(j *view.Job, most int) {
	var ended []view.Past
	known := int64(0)
	if n := len(j.Past); n > 0 {
		known = j.Past[n-1].Run
	}
	last := int64(0)
	for _, f := range d.Record.Latest(j.Job, most) {
		r := f.Run
		switch {
		case r.Finished.IsZero():
			if j.Running = &r; j.State.State != catalog.StateRunning {
				j.State = catalog.Status{State: catalog.StateRunning} // the store has said something else a moment ago
			}
		case j.Last == nil || j.Last.Run <= r.Run && (j.Last.Run > 0 || j.Last.Started.Before(r.Started)):
			j.Last = &r
			j.Runs = max(j.Runs, r.Run)
			if j.Running != nil && j.Running.Run <= r.Run { // the store has said so a moment ago
				j.Running, j.State = nil, j.State.Ended()
			}
		}
		if !r.Finished.IsZero() && r.Run > known && r.Run != last { // of several attempts it is the last
			ended = append(ended, view.Past{Run: r.Run, Outcome: r.Outcome, Finished: r.Finished, Took: r.Duration()})
		}
		last = r.Run
	}
	if len(ended) > 0 {
		slices.Reverse(ended)
		j.Past = slices.Concat(j.Past, ended)
		j.Past = j.Past[max(len(j.Past)-view.MostPast, 0):]
	}
	j.Health = view.HealthOf(j.Past)
}

// Runs returns the latest runs of a job, n at most, the latest first; false if there is no such job.
func (d *Daemon) Runs(ctx context.Context, name string, n int) ([]view.Run, bool, error) {
	a, err := d.ask(ctx)
	if err != nil {
		return nil, false, err
	}
	d.mu.Lock()
	_, found := d.mu.file[name]
	if !found {
		_, found = d.mu.elsewhere[name]
	}
	d.mu.Unlock()
	var list []view.Run
	here, goingOn := make(map[[2]int64]bool), make(map[int64]bool)
	for _, f := range d.Record.Latest(name, n) {
		r := f.Run
		list = append(list, r)
		here[[2]int64{r.Run, int64(r.Attempt)}] = true
		goingOn[r.Run] = r.Finished.IsZero()
		found = true
	}
	for _, e := range a.entries {
		if e.Name != name {
			continue
		}
		found = true
		if !d.Store.shared() {
			continue
		}
		v := client.Client{Store: d.Store, Jobs: d.catalog.Jobs}
		others, err := v.Runs(ctx, []catalog.Entry{e}, min(n, keptRuns))
		if err != nil {
			return nil, true, err
		}
		for _, r := range others {
			if r.Run == 0 || !here[[2]int64{r.Run, int64(r.Attempt)}] && !(r.Outcome == outcome.InProgress && goingOn[r.Run]) {
				list = append(list, r)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b view.Run) int { return b.Started.Compare(a.Started) })
	return list[:min(n, len(list))], found, nil
}

// Output returns a run that is known here, and what it has written; the latest if the number is 0. It returns false if
// it is not known here.
func (d *Daemon) Output(name string, number int) (record.Facts, *record.Output, bool) {
	return d.Record.Find(name, number)
}

// End ends a run that is in progress here, as a timeout does; the schedule goes on. A number of 0 is that of the only one.
// It returns the number, and false if there is none.
func (d *Daemon) End(name string, number int) (int, bool) {
	d.mu.Lock()
	e := d.mu.entries[name]
	d.mu.Unlock()
	if e == nil {
		return 0, false
	}
	return e.end(number, executor.ErrCanceled)
}

// Find returns the entry of a job of the store, false if there is none.
func (d *Daemon) Find(ctx context.Context, name string) (e catalog.Entry, found bool, err error) {
	row, err := d.Store.Find(ctx, catalog.Key(d.catalog.Namespace, name))
	if errors.Is(err, durable.ErrNotFound) {
		return e, false, nil
	}
	if err == nil {
		e, found = catalog.Read(row)
	}
	if found {
		one := []catalog.Entry{e}
		err = catalog.AddRuns(ctx, d.Store, one)
		e = one[0]
	}
	return e, found, err
}

// Upcoming returns the next times of a job, at most n.
func (d *Daemon) Upcoming(ctx context.Context, name string, n int) ([]time.Time, error) {
	a, err := d.ask(ctx)
	for _, e := range a.entries {
		if e.Name == name {
			return e.Upcoming(time.Now(), n), err
		}
	}
	return nil, err
}

// Durable returns what acts on the jobs.
func (d *Daemon) Durable() *durable.Jobs { return d.catalog.Jobs }

// Forget has the next look ask the store: somebody has changed a job.
func (d *Daemon) Forget(ctx context.Context) {
	select {
	case d.questions <- struct{}{}:
		d.answers.at = time.Time{}
		<-d.questions
	case <-ctx.Done():
	}
}

// Stored returns what the store has kept of a run whose output is not here; false if there is no such run.
func (d *Daemon) Stored(ctx context.Context, name string, number int) (record.Stored, bool, error) {
	if !d.Store.shared() {
		return record.Stored{}, false, nil
	}
	a, err := d.ask(ctx)
	if err != nil {
		return record.Stored{}, false, err
	}
	for _, e := range a.entries {
		if e.Name == name {
			row, err := d.Store.Find(ctx, durable.RunKey(e.Key, int64(number)))
			if errors.Is(err, durable.ErrNotFound) {
				return record.Stored{}, false, nil
			}
			if err != nil {
				return record.Stored{}, false, err
			}
			o, err := d.catalog.Jobs.Output(ctx, row.ID, row.Runs)
			if errors.Is(err, durable.ErrNotFound) {
				return record.Stored{}, false, nil
			}
			return record.Decode(o.Head, o.Tail, o.Omitted()), err == nil, err
		}
	}
	return record.Stored{}, false, nil
}

// Successes returns when each job of the store last succeeded, as far as its history has been asked for.
func (d *Daemon) Successes(ctx context.Context) (map[string]time.Time, error) {
	a, err := d.ask(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]time.Time)
	for _, e := range a.entries {
		if p := a.pasts[e.ID]; !p.success.IsZero() {
			found[e.Name] = p.success
		}
	}
	return found, nil
}
