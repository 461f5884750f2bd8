package durable

import "slices"

// WithTags adds tags to the job, by which List, Counts and ChangeAll find it: see Filter.Tags. A tag has 1 to MaxTag
// bytes of UTF-8 without control characters, and a job has up to MaxTags different tags, in any order. The handler gets
// them as Job.Tags. For a tag of the form name=value, Job.Tag returns the value.
//
// Registering a periodic job again with other tags counts as a change, like another payload. Each tag is a row that is
// written when the job is added and removed with it; a job without tags costs nothing more.
func WithTags(tags ...string) Option {
	return func(j *addition) error {
		all, err := tagsOf(slices.Concat(j.Tags, tags))
		j.Tags = all
		return err
	}
}

// tagsOf returns tags in order, each once, or what is wrong with them.
func tagsOf(tags []string) ([]string, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	for _, tag := range tags {
		if err := checkName("tag", tag, MaxTag); err != nil {
			return nil, err
		}
	}
	all := slices.Compact(slices.Sorted(slices.Values(tags)))
	if len(all) > MaxTags {
		return nil, invalid("tags: the job has %d; at most %d are allowed: put what no one searches for into its Meta", len(all), MaxTags)
	}
	return all, nil
}
