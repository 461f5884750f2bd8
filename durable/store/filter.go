package store

import (
	"slices"
	"strings"
	"time"
)

// A Filter selects the jobs that match every field that is not zero. The zero Filter selects all jobs.
//
// The stores in databases find jobs by Tags, and by a Prefix that few keys have, with an index. They also have an index
// of ended jobs, by State and Updated; one of waiting jobs, by Kind and Due; and one of the jobs that nodes hold. Each
// of these serves a Filter whose States are all of that group. One of the jobs that have an error serves Error. With any
// other Filter that selects few jobs, such as one of a Kind that has few of many that have succeeded, each page may read
// all jobs, which takes up to a second for 500,000 jobs. A further index would cost a write for each run.
type Filter struct {
	Kind   string   // "" for all
	Queue  string   // see durable.Queue; "" for all
	Prefix string   // of the key
	Keys   []string // the job has one of these keys; none for all
	States []State  // none for all
	Tags   []string // the job has all of these tags
	Error  string   // the Error of the job contains this text; case matters

	Due     TimeRange
	Created TimeRange
	Updated TimeRange // when the job ended; or, before that, when it was last claimed, changed or run

	// LatestFirst has jobs in descending order of their IDs, which begin with the time at which a job was added.
	LatestFirst bool
	After       ID  // the last ID of the previous page; the zero ID for the first page
	Limit       int // the most jobs on a page; 0 means 100
}

// A TimeRange is the times from From on, and before Until. A zero time means no bound.
type TimeRange struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Has reports whether t is in the range.
func (r TimeRange) Has(t time.Time) bool {
	return (r.From.IsZero() || !t.Before(r.From)) && (r.Until.IsZero() || t.Before(r.Until))
}

// Matches reports whether the filter selects a job. It ignores LatestFirst, After and Limit.
func (f *Filter) Matches(j *Job) bool {
	return (f.Kind == "" || j.Kind == f.Kind) && (f.Queue == "" || j.Queue == f.Queue) &&
		strings.HasPrefix(j.Key, f.Prefix) && (len(f.Keys) == 0 || slices.Contains(f.Keys, j.Key)) &&
		(len(f.States) == 0 || slices.Contains(f.States, j.State)) && j.hasTags(f.Tags) &&
		strings.Contains(j.Error, f.Error) &&
		f.Due.Has(j.Due) && f.Created.Has(j.Created) && f.Updated.Has(j.Updated)
}

func (j *Job) hasTags(tags []string) bool {
	for _, tag := range tags {
		if !slices.Contains(j.Tags, tag) {
			return false
		}
	}
	return true
}

// Tag returns the value of the job's first tag of the form name=value, and whether there is one.
func (j *Job) Tag(name string) (value string, ok bool) {
	for _, tag := range j.Tags {
		if value, ok := strings.CutPrefix(tag, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
