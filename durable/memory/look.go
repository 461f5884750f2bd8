package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Report keeps what a node reports.
func (s *Store) Report(ctx context.Context, node string, r store.Report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, alive := s.mu.leases[node]; alive && r.Details != nil {
		n.details = *r.Details
		s.mu.leases[node] = n
	}
	for _, p := range r.Progress {
		if p.Epoch >= s.mu.progress[p.Job].Epoch {
			s.mu.progress[p.Job] = p
		}
	}
	return nil
}

// Nodes returns the nodes that are alive.
func (s *Store) Nodes(ctx context.Context) ([]durable.NodeInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[string]int)
	for _, j := range s.mu.jobs {
		if j.State.Held() {
			held[j.Owner]++
		}
	}
	var nodes []durable.NodeInfo
	for name, n := range s.mu.leases {
		nodes = append(nodes, durable.NodeInfo{Name: name, NodeDetails: n.details, Joined: n.joined,
			Beat: n.until.Add(-n.length), Lease: n.length, Jobs: held[name], Draining: n.drain})
	}
	return nodes, nil
}

// Progress returns the last reports of running jobs.
func (s *Store) Progress(ctx context.Context, ids []durable.ID) ([]durable.RunProgress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []durable.RunProgress
	for _, id := range ids {
		p, ok := s.mu.progress[id]
		if j := s.mu.jobs[id]; ok && j != nil && j.State.Granted() && j.Epoch == p.Epoch {
			all = append(all, p)
		}
	}
	return all, nil
}

// Latest returns the latest runs of all jobs.
func (s *Store) Latest(ctx context.Context, f durable.LatestFilter) ([]durable.JobRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page []durable.JobRun
	for id, lines := range s.mu.runs {
		j := s.mu.jobs[id]
		if f.Kind != "" && j.Kind != f.Kind {
			continue
		}
		for _, l := range lines {
			if slices.Contains(f.Verdicts, l.Verdict) && strings.HasPrefix(l.Node, f.Node) &&
				(f.Before.Finished.IsZero() || later(f.Before, l.Run) < 0) {
				page = append(page, durable.JobRun{Run: l.Run, Key: j.Key, Kind: j.Kind})
			}
		}
	}
	slices.SortFunc(page, func(a, b durable.JobRun) int { return later(a.Run, b.Run) })
	return page[:min(len(page), f.Limit)], nil
}

// later compares runs, of which the latest is the first.
func later(a, b durable.Run) int {
	return cmp.Or(b.Finished.Compare(a.Finished), bytes.Compare(b.Job[:], a.Job[:]), cmp.Compare(b.Seq, a.Seq))
}

// Output returns the output of a run.
func (s *Store) Output(ctx context.Context, id durable.ID, seq int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.mu.runs[id] {
		if l.Seq == seq {
			return l.output, nil
		}
	}
	return nil, durable.ErrNotFound
}

// Dead returns the jobs that are dead.
func (s *Store) Dead(ctx context.Context, limit int) ([]store.DeadJob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dead []store.DeadJob
	for _, j := range s.mu.jobs {
		if j.State == durable.Dead {
			dead = append(dead, store.DeadJob{ID: j.ID, Kind: j.Kind, Error: j.Error, Ended: j.Updated})
		}
	}
	slices.SortFunc(dead, func(a, b store.DeadJob) int { return b.Ended.Compare(a.Ended) })
	return dead[:min(len(dead), limit)], nil
}
