package durable

import (
	"encoding/json"
	"maps"
	"unicode/utf8"
)

// WithMeta adds to the Meta of the job: data that accompanies the job, such as the ID of a request. Names must not be
// empty. Names and values are UTF-8, and together have up to MaxMeta bytes as JSON. The handler gets them as Job.Meta.
// A Filter can't select by Meta, but by tags, see WithTags. If a periodic job is registered again with a new Meta, the
// Meta is stored only if something else has changed, too.
func WithMeta(meta map[string]string) Option {
	return func(j *addition) error {
		all := make(map[string]string, len(j.Meta)+len(meta))
		maps.Copy(all, j.Meta)
		maps.Copy(all, meta)
		j.Meta = all
		return checkMeta(all)
	}
}

// checkMeta returns what is wrong with the Meta of a job.
func checkMeta(meta map[string]string) error {
	if len(meta) == 0 {
		return nil
	}
	for name, value := range meta {
		switch {
		case name == "":
			return invalid("meta: a name must not be empty; its value is %.40q", value)
		case !utf8.ValidString(name):
			return invalid("meta %.40q: the name must be valid UTF-8", name)
		case !utf8.ValidString(value):
			return invalid("meta %.40q: the value must be valid UTF-8, and is %.40q", name, value)
		}
	}
	data, err := json.Marshal(meta)
	if err == nil && len(data) > MaxMeta {
		err = invalid("meta: it has %d bytes as JSON; at most %d are allowed: put larger data into the payload", len(data), MaxMeta)
	}
	return err
}
