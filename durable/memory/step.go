package memory

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// KeptSteps returns the steps and signals of a job.
func (s *Store) KeptSteps(ctx context.Context, id durable.ID) ([]durable.KeptStep, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.steps[id]), nil
}

// KeepStep keeps a step of a run.
func (s *Store) KeepStep(ctx context.Context, of store.Ref, kept durable.KeptStep) (result []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.mu.jobs[of.ID]
	if j == nil || j.Epoch != of.Epoch || !j.State.Granted() {
		return nil, false, nil
	}
	s.forgetStepsLocked(j.ID, kept.Occasion)
	if there := s.stepLocked(j.ID, kept.Occasion, kept.Name, kept.Signal); there != nil {
		return there.Result, true, nil
	}
	kept.At = s.nowLocked()
	s.mu.steps[j.ID] = append(s.mu.steps[j.ID], kept)
	return kept.Result, true, nil
}

// forgetStepsLocked removes what is kept of a job's occasions before one.
func (s *Store) forgetStepsLocked(id durable.ID, before time.Time) {
	s.mu.steps[id] = slices.DeleteFunc(s.mu.steps[id], func(k durable.KeptStep) bool { return k.Occasion.Before(before) })
}

// stepLocked returns a step, nil if it is not there.
func (s *Store) stepLocked(id durable.ID, occasion time.Time, name string, signal bool) *durable.KeptStep {
	i := slices.IndexFunc(s.mu.steps[id], func(k durable.KeptStep) bool {
		return k.Occasion.Equal(occasion) && k.Name == name && k.Signal == signal
	})
	if i < 0 {
		return nil
	}
	return &s.mu.steps[id][i]
}

// Signal keeps a signal.
func (s *Store) Signal(ctx context.Context, id durable.ID, name string, payload []byte) (durable.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.mu.jobs[id]
	switch {
	case j == nil:
		return durable.NotFound, nil
	case j.State.Done():
		return durable.TooLate, nil
	}
	there := s.stepLocked(id, j.Occasion(), name, true)
	switch {
	case there == nil:
		s.forgetStepsLocked(id, j.Occasion())
		s.mu.steps[id] = append(s.mu.steps[id],
			durable.KeptStep{Name: name, Signal: true, Occasion: j.Occasion(), Result: payload, At: s.nowLocked()})
	case there.Result == nil:
		there.Result = payload
		transition.Wake(j, s.nowLocked())
		delete(s.mu.lined, id)
	case !bytes.Equal(there.Result, payload):
		return durable.TooLate, nil
	}
	return durable.Applied, nil
}

// signaledLocked makes a job due for which a signal has come that its run waits for.
func (s *Store) signaledLocked(j *durable.Job, names []string, now time.Time) {
	for _, name := range names {
		if there := s.stepLocked(j.ID, j.Occasion(), name, true); there != nil && there.Result != nil {
			transition.Wake(j, now)
		}
	}
}
