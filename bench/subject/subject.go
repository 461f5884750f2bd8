// Package subject adapts each library that is compared to the loops of package drive, in a
// file of its own.
package subject

import (
	"maps"
	"runtime/debug"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

// Ours is the id of the reference for work without a database.
const Ours = "executor"

// Reference returns the id of the subject with which a kind of work compares the others.
func Reference(k workload.Kind) string {
	if k.Durable() {
		return OursDurable
	}
	return Ours
}

// A Subject is one of the libraries that are compared.
type Subject struct {
	ID     string
	Title  string
	Module string // module path; "" for the standard library and the JDK
	How    string // how the benchmark uses it, which is as its documentation recommends
	Choose string // when to choose it in place of ours
	Funcs  drive.Funcs

	Own      bool   // part of this module, not a rival
	Of       string // the id of what it is at another revision; "" for this revision
	Postgres bool   // needs a PostgreSQL server

	// Missing returns an error if this machine lacks something else that the subject needs;
	// nil needs nothing.
	Missing func() error

	// Charts includes the subject in the charts of growing work.
	Charts bool

	// MaxTasks limits the pending tasks, and a tenth of the operations, for a subject that
	// was not made for many. The cost of one operation is still comparable. 0 is no limit.
	MaxTasks int

	// StartsGoroutines means that each task runs in a goroutine of its own, without a
	// limit. Ten million at once need more memory than most machines have.
	StartsGoroutines bool

	// SkipsMissed means that the subject skips missed runs and does not report the due
	// times of the others, so that a lateness above the period cannot be measured.
	SkipsMissed bool
}

// All returns the subjects in the order of the tables.
func All() []Subject {
	return []Subject{
		ours, base, observed64, observedEvery, jdk,
		goroutine, channel, errGroup, concPool, pondPool, antsPool, workerPool,
		afterFunc, timingWheel, gocronScheduler, cronRunner,
		durablePostgres, basePostgres, durableSQLite, baseSQLite, durableEtcd, riverQueue, asynqQueue, gocronLocked,
	}
}

// Before returns the id of the subject that is another one, of this revision, at another revision.
func Before(id string) string {
	for _, s := range All() {
		if s.Of == id {
			return s.ID
		}
	}
	return ""
}

// Find returns the subject with the id.
func Find(id string) (Subject, bool) {
	for _, s := range All() {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// Fit returns the parameters of w within the limits of s. It reports false if s does not
// support w.
func (s Subject) Fit(w workload.Workload, quick bool) (workload.Params, bool) {
	p, ok := w.Size(quick)
	if _, can := s.Funcs[w.Kind]; !ok || !can || w.Growth && !s.Charts && s.MaxTasks == 0 {
		return p, false
	}
	if s.SkipsMissed && p.Busy || s.StartsGoroutines && w.Kind == workload.Fire && p.Pending > 1_000_000 {
		return p, false
	}
	if s.ID == "jdk" && (quick && w.Growth || p.Pending > 1_000_000 && w.Kind == workload.ScheduleCancel) {
		return p, false // its warm-up takes too long: some two and a half minutes beside ten million tasks
	}
	if s.MaxTasks > 0 {
		periodic := w.Kind.Periodic()
		if p.Pending > s.MaxTasks || periodic && p.Tasks > s.MaxTasks || w.Growth && periodic {
			return p, false
		}
		p.Tasks = min(p.Tasks, 10*s.MaxTasks)
	}
	return p, true
}

// Version returns the version of the module in this program.
func (s Subject) Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || s.Module == "" {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == s.Module {
			return dep.Version
		}
	}
	return ""
}

// merge returns the functions of all arguments.
func merge(list ...drive.Funcs) drive.Funcs {
	all := drive.Funcs{}
	for _, c := range list {
		maps.Copy(all, c)
	}
	return all
}

// only returns the functions for these kinds of work.
func only(funcs drive.Funcs, kinds ...workload.Kind) drive.Funcs {
	some := drive.Funcs{}
	for _, k := range kinds {
		some[k] = funcs[k]
	}
	return some
}

// executes returns the functions of a subject that runs tasks.
func executes(open func(workers int, task func()) drive.Pool) drive.Funcs {
	return drive.Runs(open)
}

// must panics if err is not nil, because the values of the run have no meaning then.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
