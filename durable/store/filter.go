package store

import (
	"slices"
	"strings"
	"time"
)

// A Filter selects jobs: those that match each of its fields that is not zero. The zero Filter selects all.
//
// Tags, and a Prefix that few keys have, are looked up by an index. The stores in databases also have indexes of the
// jobs that are over, by State and Updated, of those that wait, by Kind and Due, and of those that nodes hold. They
// serve a Filter whose States are all of one of these groups. For any other Filter that selects few jobs, each page may
// read all jobs, which takes up to a second for 100,000: another index would have to be written for each run.
type Filter struct {
	Kind   string   // "" for all
	Queue  string   // see durable.Queue; "" for all
	Prefix string   // of the key
	States []State  // none for all
	Tags   []string // the job has all of these
	Error  string   // the Error of the job has this text in it, with the same case

	Due     TimeRange
	Created TimeRange
	Updated TimeRange // of a job that is over, when it ended; otherwise when it was claimed, changed or run last

	After ID  // of the page before, the zero ID for the first
	Limit int // of the page; 0 is 100
}

// A TimeRange is the times not before From, and before Until. A zero time is no bound.
type TimeRange struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Has reports whether t is in the range.
func (r TimeRange) Has(t time.Time) bool {
	return (r.From.IsZero() || !t.Before(r.From)) && (r.Until.IsZero() || t.Before(r.Until))
}

// Matches reports whether the filter selects a job, on whatever page that is.
func (f *Filter) Matches(j *Job) bool {
	return (f.Kind == "" || j.Kind == f.Kind) && (f.Queue == "" || j.Queue == f.Queue) &&
		strings.HasPrefix(j.Key, f.Prefix) &&
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

// Tag returns the value of the job's tag that is name=value, and whether there is one: the first of several.
func (j *Job) Tag(name string) (value string, ok bool) {
	for _, tag := range j.Tags {
		if value, ok := strings.CutPrefix(tag, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
