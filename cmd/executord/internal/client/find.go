package client

import (
	"context"
	"slices"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
)

// Find returns the jobs that names stand for, see Choose, all jobs if there are none. If some are not there, it returns the
// others, and a MissingError. It reports whether there are several namespaces, so that jobs are shown by their full names.
func (c Client) Find(ctx context.Context, namespace string, names []string) (found []catalog.Entry, full bool,
	err error) {
	all, err := catalog.Select(ctx, c.Store, namespace)
	full = SeveralNamespaces(all, func(e catalog.Entry) string { return e.Namespace })
	if err != nil || len(names) == 0 {
		return all, full, err
	}
	known := make([]Named, len(all))
	for i, e := range all {
		known[i] = Named{e.Namespace, e.Name, e.Removed()}
	}
	where := "in " + c.Shown
	if namespace != "" {
		where = "in namespace " + namespace + " of " + c.Shown
	}
	chosen, wrong := Choose(known, names, where)
	for _, i := range chosen {
		found = append(found, all[i])
	}
	if len(wrong) > 0 {
		return found, full, &MissingError{wrong}
	}
	return found, full, nil
}

// SeveralNamespaces reports whether jobs are of different namespaces, so that they are shown by their full names.
func SeveralNamespaces[T any](list []T, namespace func(T) string) bool {
	return slices.ContainsFunc(list, func(one T) bool { return namespace(one) != namespace(list[0]) })
}
