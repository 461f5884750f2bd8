package durable

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// List returns the jobs that f selects, in the order of their IDs, or the latest first. For the next page set f.After to
// the last ID of this one.
func (j *Jobs) List(ctx context.Context, f Filter) ([]Job, error) {
	mustContext(ctx)
	if err := checkLimit(f.Limit); err != nil {
		return nil, err
	}
	if impossible(&f) {
		return nil, nil
	}
	jobs, err := j.store.List(ctx, f)
	return jobs, failed("list", err)
}

// Counts counts the jobs that f selects, for each kind and state. The result is ordered by kind and state, and has no
// zeros. Use it for a dashboard, or for an alert if the Due of waiting jobs is long past. f.After and f.Limit have no
// effect. With the zero Filter the store reads all jobs; if there are millions, do not call Counts every second, see
// Tally.
func (j *Jobs) Counts(ctx context.Context, f Filter) ([]Count, error) {
	mustContext(ctx)
	if j.parts.Counter == nil {
		return nil, j.lacks("counts", "Counter")
	}
	if impossible(&f) {
		return nil, nil
	}
	counts, err := j.parts.Counter.Counts(ctx, f)
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	})
	return counts, failed("counts", err)
}

// impossible reports whether a filter has a text that no job can have; a database may decline it.
func impossible(f *Filter) bool {
	return f.Kind != "" && checkName("kind", f.Kind, MaxKind) != nil ||
		f.Queue != "" && checkName("queue", f.Queue, MaxKind) != nil ||
		f.Prefix != "" && checkName("prefix", f.Prefix, MaxKey) != nil ||
		slices.ContainsFunc(f.Keys, func(key string) bool { return checkName("key", key, MaxKey) != nil }) ||
		slices.ContainsFunc(f.Tags, func(tag string) bool { return checkName("tag", tag, MaxTag) != nil }) ||
		!utf8.ValidString(f.Error) || strings.Contains(f.Error, "\x00")
}
