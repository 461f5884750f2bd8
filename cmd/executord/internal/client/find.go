package client

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/durable"
)

// Find returns the jobs with the names, all jobs if there are none. A name may
// have its namespace before it: shop/backup. The name of a job that runs on each
// machine stands for all of these. If some are not there, it returns
// the others, and a MissingError. It reports whether there are several namespaces,
// so that jobs are shown by their full names.
func (c Client) Find(ctx context.Context, namespace string, names []string) (found []catalog.Entry, full bool,
	err error) {
	return c.FindSome(ctx, namespace, names, durable.Filter{})
}

// FindSome is find among the jobs that a filter of tags and errors selects, if there are no names, and returns those of
// them that it selects, if there are.
func (c Client) FindSome(ctx context.Context, namespace string, names []string,
	f durable.Filter) (found []catalog.Entry, full bool, err error) {
	among := f
	if len(names) > 0 {
		among = durable.Filter{} // one that is there is not to be missing
	}
	all, err := catalog.Select(ctx, c.Store, namespace, among)
	full = SeveralNamespaces(all, func(e catalog.Entry) string { return e.Namespace })
	if err != nil || len(names) == 0 {
		return all, full, err
	}
	var missing []string
	for _, name := range names {
		name = job.CanonicalName(name)
		var match, each []catalog.Entry // each are those for one machine
		var known []string
		for _, e := range all {
			if known = append(known, e.Name); e.Name == name || Called(e, true) == name {
				match = append(match, e)
			}
			if base, _, ok := job.CutAt(e.Name); ok && !e.Removed() && (base == name || CalledIn(e.Namespace, base, true) == name) {
				each = append(each, e)
			}
		}
		if len(match) == 0 && len(each) > 0 && !SeveralNamespaces(each, func(e catalog.Entry) string { return e.Namespace }) {
			for _, e := range each {
				if !slices.ContainsFunc(found, func(f catalog.Entry) bool { return f.ID == e.ID }) {
					found = append(found, e)
				}
			}
			continue
		}
		switch match = append(match, each...); len(match) {
		case 0:
			missing = append(missing, c.notFound(name, namespace, known))
		case 1:
			if !slices.ContainsFunc(found, func(e catalog.Entry) bool { return e.ID == match[0].ID }) {
				found = append(found, match[0])
			}
		default:
			missing = append(missing, fmt.Sprintf("%s: there are several: say %s or %s", name, Called(match[0], true), Called(match[1], true)))
		}
	}
	if len(missing) > 0 {
		return found, full, &MissingError{missing}
	}
	return slices.DeleteFunc(found, func(e catalog.Entry) bool {
		with := e.Job
		with.Error = e.Last.Error
		return !f.Matches(&with)
	}), full, nil
}

func (c Client) notFound(name, namespace string, known []string) string {
	text := fmt.Sprintf("%s: no such job in %s", job.Printable(name), c.Shown)
	if namespace != "" {
		text = fmt.Sprintf("%s: no such job in namespace %s of %s", job.Printable(name), namespace, c.Shown)
	}
	if like := job.Closest(name, known); like != "" {
		text += "; is it " + job.Printable(like) + "?"
	}
	return text
}

// MissingError says which of several jobs are not there, or are not named well enough.
type MissingError struct{ what []string }

func (e *MissingError) Error() string { return strings.Join(e.what, "\nexecutord: ") }

// SeveralNamespaces reports whether jobs are of different namespaces, so that they are shown by their full names.
func SeveralNamespaces[T any](list []T, namespace func(T) string) bool {
	return slices.ContainsFunc(list, func(one T) bool { return namespace(one) != namespace(list[0]) })
}
