// Package subject adapts everything that is compared to the loops of package
// drive: a file for each.
package subject

import (
	"maps"
	"runtime/debug"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/workload"
)

// Ours is the id of the subject that the others are compared with; where the work
// is with a database, it is OursDurable.
const Ours = "executor"

// Reference gives the id of the subject that the others are compared with in a
// kind of work.
func Reference(k workload.Kind) string {
	if k.Durable() {
		return OursDurable
	}
	return Ours
}

// Subject is one of the things that are compared.
type Subject struct {
	ID     string
	Title  string
	Module string // its path; "" for the standard library and the JDK
	How    string // how it is used here, which is what its documentation recommends for the load
	Choose string // when one would choose it rather than us
	Can    drive.Can

	Own      bool // it is one of ours, not a rival
	Postgres bool // it needs a PostgreSQL server

	// Charts lets it appear in the charts of cost as the work grows.
	Charts bool

	// Few bounds the operations of a run, and the tasks that wait, for a subject
	// that was not made for many. The cost of one operation is comparable all
	// the same. 0 is no bound.
	Few int

	// Spawns says that it runs each task in a goroutine of its own, without a
	// limit. Ten millions at once need more memory than most machines have.
	Spawns bool

	// Forgets says that it leaves out runs that it missed and does not tell when
	// the others were due, so that lateness above a period can't be measured.
	Forgets bool
}

// All gives the subjects in the order of the tables.
func All() []Subject {
	return []Subject{
		ours, jdk,
		goroutine, channel, errGroup, concPool, pondPool, antsPool, workerPool,
		afterFunc, timingWheel, gocronScheduler, cronRunner,
		durablePostgres, durableSQLite, riverQueue,
	}
}

// Find gives the subject with the id.
func Find(id string) (Subject, bool) {
	for _, s := range All() {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// Fit gives w's numbers as s can bear them, and false if s does not take part.
func (s Subject) Fit(w workload.Workload, quick bool) (workload.Params, bool) {
	p, ok := w.Size(quick)
	if _, can := s.Can[w.Kind]; !ok || !can || w.Growth && !s.Charts && s.Few == 0 {
		return p, false
	}
	if s.Forgets && p.Busy || s.Spawns && w.Kind == workload.Fire && p.Pending > 1_000_000 {
		return p, false
	}
	if s.ID == "jdk" && quick && w.Growth {
		return p, false // its warm-up takes too long
	}
	if s.Few > 0 {
		periodic := w.Kind == workload.Lateness
		if p.Pending > s.Few || periodic && p.Tasks > s.Few || w.Growth && periodic {
			return p, false
		}
		p.Tasks = min(p.Tasks, 10*s.Few)
	}
	return p, true
}

// Version gives the version of the module that this program was built with.
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

// both joins what a subject can do.
func both(cans ...drive.Can) drive.Can {
	all := drive.Can{}
	for _, c := range cans {
		maps.Copy(all, c)
	}
	return all
}

// only leaves a subject those kinds of work that it can do.
func only(can drive.Can, kinds ...workload.Kind) drive.Can {
	left := drive.Can{}
	for _, k := range kinds {
		left[k] = can[k]
	}
	return left
}

// executes is a subject that runs tasks and does nothing else.
func executes(open func(workers int, task func()) drive.Pool) drive.Can {
	return drive.Can{workload.Execute: drive.Execute(open)}
}

// must stops the run: its numbers would mean nothing.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
