package rows

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/executor-go/executor/durable/store"
)

// Report keeps what a node reports.
func (s *Store) Report(ctx context.Context, name string, r store.Report) error {
	return s.do(ctx, func(t *Tx) {
		if _, alive := t.nodes.get(name); alive && r.Details != nil {
			t.details.put(name, *r.Details)
		}
		for _, p := range r.Progress {
			_, there := t.jobs.get(p.Job) // what comes behind the removal of the job would stay for good
			if old, _ := t.progress.get(p.Job); there && p.Epoch >= old.Epoch {
				t.progress.put(p.Job, p)
			}
		}
	})
}

// Nodes returns the nodes that are alive.
func (s *Store) Nodes(ctx context.Context) ([]store.NodeInfo, error) {
	return look(ctx, s, func(t *Tx) (nodes []store.NodeInfo) {
		for name, n := range t.nodes.scan {
			info := store.NodeInfo{Name: name, Joined: n.joined, Jobs: len(t.rows.held[name]), Draining: n.drain}
			if b := t.beats.look(name); b != nil {
				info.Beat, info.Lease = b.until.Add(-b.length), b.length
			}
			if d := t.details.look(name); d != nil {
				info.NodeDetails = *d
			}
			nodes = append(nodes, info)
		}
		return nodes
	})
}

// Progress returns the last reports of running jobs.
func (s *Store) Progress(ctx context.Context, ids []store.ID) ([]store.RunProgress, error) {
	return look(ctx, s, func(t *Tx) (all []store.RunProgress) {
		for _, id := range ids {
			p, j := t.progress.look(id), t.jobs.look(id)
			if p != nil && j != nil && j.State.Granted() && j.Epoch == p.Epoch {
				all = append(all, *p)
			}
		}
		return all
	})
}

// Runs returns a page of a job's history.
func (s *Store) Runs(ctx context.Context, id store.ID, before int64, limit int) ([]store.Run, error) {
	return look(ctx, s, func(t *Tx) (page []store.Run) {
		seqs := slices.Collect(t.rows.seqs(id).from(0))
		for _, seq := range slices.Backward(seqs) {
			if (before == 0 || seq < before) && len(page) < limit {
				page = append(page, t.runs.look(runKey{id, seq}).Run)
			}
		}
		return page
	})
}

// Latest returns the latest runs of all jobs.
func (s *Store) Latest(ctx context.Context, f store.LatestFilter) ([]store.JobRun, error) {
	return look(ctx, s, func(t *Tx) (page []store.JobRun) {
		of := store.Filter{Kind: f.Kind, Keys: f.Keys, Tags: f.Tags}
		for r := range t.ran(&of) {
			if !slices.Contains(f.Verdicts, r.Verdict) || !strings.HasPrefix(r.Node, f.Node) || !f.Finished.Has(r.Finished) ||
				!f.Before.Finished.IsZero() && later(&f.Before, &r.Run) >= 0 {
				continue
			}
			if j := t.jobs.look(r.Job); j != nil && of.Matches(j) {
				page = append(page, store.JobRun{Run: r.Run, Key: j.Key, Kind: j.Kind, Queue: j.Queue})
			}
		}
		slices.SortFunc(page, func(a, b store.JobRun) int { return later(&a.Run, &b.Run) })
		return page[:min(len(page), f.Limit)]
	})
}

// ran yields the runs among which are those of the jobs that a filter selects.
func (t *Tx) ran(f *store.Filter) iter.Seq[*run] {
	return func(yield func(*run) bool) {
		if len(f.Keys) == 0 {
			for _, r := range t.runs.scan {
				if !yield(r) {
					return
				}
			}
			return
		}
		for id := range t.listed(f) {
			for seq := range t.rows.seqs(id).from(0) {
				if !yield(t.runs.look(runKey{id, seq})) {
					return
				}
			}
		}
	}
}

// later compares runs, of which the latest is the first.
func later(a, b *store.Run) int {
	return cmp.Or(b.Finished.Compare(a.Finished), compareIDs(b.Job, a.Job), cmp.Compare(b.Seq, a.Seq))
}

// Output returns the output of a run.
func (s *Store) Output(ctx context.Context, id store.ID, seq int64) ([]byte, error) {
	return answer(ctx, s, func(t *Tx) ([]byte, error) {
		r := t.runs.look(runKey{id, seq})
		if r == nil {
			return nil, store.ErrNotFound
		}
		return r.output, nil
	})
}

// Kinds returns the kinds that have waiting jobs.
func (s *Store) Kinds(ctx context.Context) ([]string, error) {
	return look(ctx, s, func(t *Tx) (kinds []string) {
		for l := range t.rows.waiting {
			kinds = append(kinds, l.kind)
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	})
}

// Counts counts the jobs that f selects, of each kind in each state.
func (s *Store) Counts(ctx context.Context, f store.Filter) ([]store.Count, error) {
	return look(ctx, s, func(t *Tx) (counts []store.Count) {
		for _, j := range t.jobs.scan {
			if f.Matches(j) {
				counts = counted(counts, j)
			}
		}
		return counts
	})
}

// counted returns counts with one job more.
func counted(counts []store.Count, j *store.Job) []store.Count {
	i := slices.IndexFunc(counts, func(c store.Count) bool { return c.Kind == j.Kind && c.State == j.State })
	if i < 0 {
		i, counts = len(counts), append(counts, store.Count{Kind: j.Kind, State: j.State, Due: j.Due})
	}
	counts[i].Jobs++
	if j.Due.Before(counts[i].Due) {
		counts[i].Due = j.Due
	}
	return counts
}

// Dead returns the jobs that are dead.
func (s *Store) Dead(ctx context.Context, limit int) ([]store.DeadJob, error) {
	return look(ctx, s, func(t *Tx) (dead []store.DeadJob) {
		for _, j := range t.jobs.scan {
			if j.State == store.Dead {
				dead = append(dead, store.DeadJob{ID: j.ID, Kind: j.Kind, Error: j.Error, Ended: j.Updated})
			}
		}
		slices.SortFunc(dead, func(a, b store.DeadJob) int { return b.Ended.Compare(a.Ended) })
		return dead[:min(len(dead), limit)]
	})
}

// PauseKind pauses a kind, or ends its pause.
func (s *Store) PauseKind(ctx context.Context, kind string, pause bool) error {
	return s.do(ctx, func(t *Tx) {
		if t.paused.del(kind); pause {
			t.paused.put(kind, struct{}{})
		}
	})
}

// PausedKinds returns the kinds that are paused.
func (s *Store) PausedKinds(ctx context.Context) ([]string, error) {
	return look(ctx, s, func(t *Tx) (kinds []string) {
		for kind := range t.paused.scan {
			kinds = append(kinds, kind)
		}
		return kinds
	})
}
