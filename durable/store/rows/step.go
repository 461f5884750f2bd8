package rows

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/store/transition"
)

// stepsOf returns the steps and signals of a job, in the order in which they were kept.
func (t *Tx) stepsOf(id store.ID) (kept []store.KeptStep) {
	var all []*step
	for _, k := range t.steps.of(id) {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *step) int { return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.Name, b.Name)) })
	for _, k := range all {
		kept = append(kept, k.KeptStep)
	}
	return kept
}

func keyOf(id store.ID, k *store.KeptStep) stepKey {
	return stepKey{id, k.Occasion.UnixMicro(), k.Name, k.Signal}
}

// keep keeps a step after those that there are, and removes those of earlier occasions.
func (t *Tx) keep(id store.ID, k store.KeptStep) {
	nth := int64(0)
	for key, old := range t.steps.of(id) {
		if nth = max(nth, old.nth+1); old.Occasion.Before(k.Occasion) {
			t.steps.del(key)
		}
	}
	t.steps.put(keyOf(id, &k), step{k, nth})
}

// KeptSteps returns the steps and signals of a job.
func (s *Store) KeptSteps(ctx context.Context, id store.ID) ([]store.KeptStep, error) {
	return look(ctx, s, func(t *Tx) []store.KeptStep { return t.stepsOf(id) })
}

// KeepStep keeps a step of a run.
func (s *Store) KeepStep(ctx context.Context, of store.Ref, k store.KeptStep) (result []byte, ok bool, err error) {
	err = s.do(ctx, func(t *Tx) {
		j, there := t.jobs.get(of.ID)
		if ok = there && j.Epoch == of.Epoch && j.State.Granted(); !ok {
			result = nil
			return
		}
		if old, there := t.steps.get(keyOf(of.ID, &k)); there {
			result = old.Result
			return
		}
		k.At, result = t.now, k.Result
		t.keep(of.ID, k)
	})
	if err != nil {
		return nil, false, err
	}
	return result, ok, nil
}

// Signal keeps a signal.
func (s *Store) Signal(ctx context.Context, id store.ID, name string, payload []byte) (store.Answer, error) {
	return look(ctx, s, func(t *Tx) store.Answer {
		j, ok := t.jobs.get(id)
		switch {
		case !ok:
			return store.NotFound
		case j.State.Done():
			return store.TooLate
		}
		k := store.KeptStep{Name: name, Signal: true, Occasion: j.Occasion(), Result: payload, At: t.now}
		switch there, ok := t.steps.get(keyOf(id, &k)); {
		case !ok:
			t.keep(id, k)
			t.jobs.put(id, j) // so that who removes the job at the same time decides again, and finds the signal
		case there.Result == nil:
			there.Result = payload
			t.steps.put(keyOf(id, &k), there)
			transition.Wake(&j, t.now)
			t.jobs.put(id, j)
			t.lined.del(id)
		case !bytes.Equal(there.Result, payload):
			return store.TooLate
		}
		return store.Applied
	})
}

// heed makes a job due for which a signal has come that its run waits for.
func (t *Tx) heed(j *store.Job, signals []string) {
	for _, name := range signals {
		k := store.KeptStep{Name: name, Signal: true, Occasion: j.Occasion()}
		if there, ok := t.steps.get(keyOf(j.ID, &k)); ok && there.Result != nil {
			transition.Wake(j, t.now)
		}
	}
}
