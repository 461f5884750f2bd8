package client

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Named is by what a job of a list is found.
type Named struct {
	Namespace, Name string
	Removed         bool // from its file: only its own name stands for it
}

// Choose returns the indexes of those jobs of a list that names stand for, each once, in the order of the names. A name may
// have its namespace before it: shop/backup. That of a job which runs on each machine stands for all of these. One with *
// is a pattern, for any text, or with ?, for any character: sync/*. Of names that stand for no job, or for several by
// mistake, it returns what is wrong; where is such as "in jobs.db".
func Choose(all []Named, names []string, where string) (found []int, wrong []string) {
	add := func(some ...int) {
		for _, i := range some {
			if !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
	}
	for _, name := range names {
		name = job.CanonicalName(name)
		if pattern := patternOf(name); pattern != nil {
			some := indexes(all, func(n Named) bool {
				return !n.Removed && (pattern.MatchString(n.Name) || pattern.MatchString(n.Namespace+"/"+n.Name))
			})
			if add(some...); len(some) == 0 {
				wrong = append(wrong, noSuch(nil, name, where))
			}
			continue
		}
		match := indexes(all, func(n Named) bool { return n.Name == name || n.Namespace+"/"+n.Name == name })
		each := indexes(all, func(n Named) bool { // those for one machine
			base, _, ok := job.CutAt(n.Name)
			return ok && !n.Removed && (base == name || n.Namespace+"/"+base == name)
		})
		several := slices.ContainsFunc(each, func(i int) bool { return all[i].Namespace != all[each[0]].Namespace })
		switch both := slices.Concat(match, each); {
		case len(match) == 0 && len(each) > 0 && !several, len(both) == 1:
			add(both...)
		case len(both) == 0:
			wrong = append(wrong, noSuch(all, name, where))
		default:
			wrong = append(wrong, fmt.Sprintf("%s: there are several: say %s or %s", job.Printable(name), all[both[0]], all[both[1]]))
		}
	}
	return found, wrong
}

func (n Named) String() string { return CalledIn(n.Namespace, n.Name, true) }

// patternOf returns what a name with * or ? stands for; nil for any other, which is what jobs have.
func patternOf(name string) *regexp.Regexp {
	if !strings.ContainsAny(name, "*?") {
		return nil
	}
	text := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(name))
	return regexp.MustCompile("^(?s:" + text + ")$")
}

// indexes returns those of the elements for which is is true.
func indexes[T any](all []T, is func(T) bool) (found []int) {
	for i, one := range all {
		if is(one) {
			found = append(found, i)
		}
	}
	return found
}

// noSuch says that there is no job of a name.
func noSuch(all []Named, name, where string) string {
	text := fmt.Sprintf("%s: no such job %s", job.Printable(name), where)
	known := make([]string, len(all))
	for i, n := range all {
		known[i] = n.Name
	}
	if like := job.Closest(name, known); like != "" {
		text += "; is it " + job.Printable(like) + "?"
	}
	return text
}

// MissingError says which of several jobs are not there, or are not named well enough.
type MissingError struct{ What []string }

func (e *MissingError) Error() string { return strings.Join(e.What, "\nexecutord: ") }
