package pages

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/act"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// readSteps reads what is kept of the steps of a job; it is nothing in a store that keeps none.
func readSteps(ctx context.Context, s *source.Source, id durable.ID) ([]durable.KeptStep, error) {
	kept, err := s.Jobs.Steps(ctx, id)
	if errors.Is(err, executor.ErrInvalid) {
		err = nil
	}
	return kept, err
}

// stepsPart is what the page of a job shows of its steps.
type stepsPart struct {
	Title   string
	Waits   []waitRow // the signals that it waits for
	Sleeps  string    // until when
	Rows    []stepRow // in the order in which they were kept
	More    string    // how many are not shown
	Results bool      // are shown
	Other   string    // where to send a signal that it does not wait for, "" if that can't be
}

type waitRow struct {
	Name, Since, Until string
	Send               string // where to send it, "" if that can't be
}

type stepRow struct{ Name, What, Class, At, After, Run, Result string }

// steps returns what the page of a job has of its steps, nil if it has none. With acts, signals can be sent.
func (r *jobRead) steps(sourceName string, acts, results bool, now time.Time) *stepsPart {
	if len(r.kept) == 0 {
		return nil
	}
	j := &r.job
	p := &stepsPart{Title: "Steps", Results: results}
	ofPresent := func(k durable.KeptStep) bool { return k.Occasion.Equal(j.Occasion()) }
	present := slices.ContainsFunc(r.kept, ofPresent)
	if !present {
		p.Title = "Steps of the occurrence before"
	}
	waits := present && (j.State == durable.Waiting || j.State == durable.Paused)
	acts = acts && !j.State.Done()
	var last time.Time
	for _, k := range r.kept {
		if present && !ofPresent(k) {
			continue
		}
		if k.Signal && k.Result == nil {
			if waits {
				w := waitRow{Name: page.Printable(k.Name, durable.MaxStep), Since: page.Clock(k.At, now)}
				if !distant(j.Due, now) {
					w.Until = page.Clock(j.Due, now) + ", " + page.Since(j.Due, now)
				}
				if acts {
					w.Send = act.LinkTo("signal", sourceName, j.ID, "signal", k.Name)
				}
				p.Waits = append(p.Waits, w)
			}
			continue
		}
		row := stepRow{Name: page.Printable(k.Name, durable.MaxStep), What: "kept", Class: "good", At: page.Clock(k.At, now), After: "–", Run: "–"}
		if until, ok := sleptUntil(&k); ok && waits && until.Equal(j.Due) {
			p.Sleeps = page.Clock(until, now) + ", " + page.Since(until, now)
			row.What, row.Class = "sleeps", "held"
		}
		switch seq, began, ok := r.runAt(k.At); {
		case k.Signal: // it came, whatever runs
			row.What = "came"
		case ok:
			row.Run, row.After = strconv.FormatInt(seq, 10), page.Short(max(k.At.Sub(later(began, last)), 0))
		}
		if results {
			row.Result = page.Printable(oneLine(string(k.Result)), 200)
		}
		p.Rows, last = append(p.Rows, row), k.At
	}
	if len(p.Waits) > 0 {
		p.Sleeps = "" // the limit of the wait
	}
	if n := len(p.Rows) - rowLimit; n > 0 {
		p.Rows, p.More = p.Rows[:rowLimit], page.Count(n)
	}
	if acts {
		p.Other = act.LinkTo("signal", sourceName, j.ID)
	}
	return p
}

// sleptUntil returns the time that a step has kept, if it is one, as that of a Sleep. The store keeps microseconds.
func sleptUntil(k *durable.KeptStep) (until time.Time, ok bool) {
	if k.Signal || json.Unmarshal(k.Result, &until) != nil {
		return until, false
	}
	if cut := until.Truncate(time.Microsecond); !cut.Equal(until) {
		until = cut.Add(time.Microsecond)
	}
	return until, true
}

// runAt returns the run that was in progress at a time, and when it began.
func (r *jobRead) runAt(at time.Time) (seq int64, began time.Time, ok bool) {
	for i := range r.runs {
		run := &r.runs[i]
		if !run.Started.IsZero() && !at.Before(run.Started) && !at.After(run.Finished) {
			return run.Seq, run.Started, true
		}
	}
	if j := &r.job; j.State == durable.Running && !at.Before(j.Started) {
		return j.Runs + 1, j.Started, true
	}
	return 0, began, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
