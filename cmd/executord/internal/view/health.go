package view

import (
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
)

// MostPast is how many ended runs of a job are known, the latest ones.
const MostPast = 30

// Past is a run of a job that has ended.
type Past struct {
	Run      int64 // its number
	Outcome  outcome.Outcome
	Finished time.Time
	Took     time.Duration
}

// Health is how well a job is, by its latest runs.
type Health struct {
	State  Wellness
	Bad    int       // how many of the runs that are looked at went wrong
	Of     int       // how many are looked at
	InARow int       // of a failing job, how many runs have failed since it was well
	Since  time.Time // of a failing job, when the first of these ended
	Always bool      // none of the runs that are known went well
}

// Wellness is what the latest runs of a job say of it.
type Wellness string

const (
	Well    Wellness = "well"
	Failing Wellness = "failing" // its last run went wrong
	Flaky   Wellness = "flaky"   // some of its latest runs went wrong, and others between them did not
)

const (
	// healthRuns is how many of the latest runs say whether a job is flaky. It is documented.
	healthRuns = 20
	// recovery is after how many good runs in a row a job is well, whatever was before. It is documented.
	recovery = 5
	// broken is after how many bad runs in a row a flaky job fails. It is documented.
	broken = 3
)

// HealthOf returns the health of a job, by its ended runs in the order of their numbers. A job whose runs go wrong now and
// then is flaky all the time, and does not fail and recover with each of them.
func HealthOf(runs []Past) Health {
	var bad []bool // the runs that say something, the latest first
	var ends []time.Time
	for i := len(runs) - 1; i >= 0; i-- {
		if o := runs[i].Outcome; o == outcome.OK || o.IsBad() {
			bad, ends = append(bad, o != outcome.OK), append(ends, runs[i].Finished)
		}
	}
	h := Health{State: Well, Of: min(len(bad), healthRuns)}
	spells := 0 // of bad runs
	for i, b := range bad[:h.Of] {
		if b {
			h.Bad++
			if i == 0 || !bad[i-1] {
				spells++
			}
		}
	}
	first := func(is bool) int { // how many of the latest runs are so
		n := 0
		for n < len(bad) && bad[n] == is {
			n++
		}
		return n
	}
	switch row := first(true); {
	case spells > 1 && row < broken && first(false) < recovery:
		h.State = Flaky
	case row > 0:
		h.State, h.InARow, h.Since, h.Always = Failing, row, ends[row-1], row == len(bad)
	}
	return h
}

// Trouble is why a job needs somebody: one of these, "" for no reason.
type Trouble string

const (
	TroubleFailing Trouble = "failing"
	TroubleFlaky   Trouble = "flaky"

	TroubleMissed    = Trouble(outcome.Missed)         // its last due time
	TroubleDead      = Trouble(catalog.StateDead)      // it does not run any more
	TroubleNoMachine = Trouble(catalog.StateNoMachine) // no daemon is running that may run it
)

// Trouble returns why the job needs somebody.
func (j *Job) Trouble() Trouble {
	switch {
	case j.State.State == catalog.StateNoMachine:
		return TroubleNoMachine
	case j.State.State == catalog.StateDead:
		return TroubleDead
	case j.Health.State == Failing:
		return TroubleFailing
	case j.Last != nil && j.Last.Outcome == outcome.Missed:
		return TroubleMissed
	case j.Health.State == Flaky:
		return TroubleFlaky
	}
	return ""
}

// Hour is how many runs ended in an hour, well and not.
type Hour struct {
	From       time.Time
	OK, Failed int
}

// Day is the last 24 hours, of which the last is not over.
type Day struct {
	Hours []Hour
	// Since is when the first of the hours that have been counted begins. Earlier ones are being counted.
	Since time.Time
}

// Whole reports whether all of the hours have been counted.
func (d Day) Whole() bool { return len(d.Hours) > 0 && !d.Since.After(d.Hours[0].From) }

// Sum returns how many runs ended in the day.
func (d Day) Sum() (sum Hour) {
	for _, h := range d.Hours {
		sum.OK += h.OK
		sum.Failed += h.Failed
	}
	return sum
}
