package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/executor-go/executor/bench/subject"
)

// Loss is a number in which a rival is better than we are.
type Loss struct {
	Workload, Subject, Unit string
	Theirs, Ours            float64
}

// noise is the part by which two numbers may differ without one being better.
const noise = 0.03

// Losses gives all of them, in order of the tables.
func (r *Report) Losses() []Loss {
	var ls []Loss
	for _, rec := range r.Records {
		ratio, ok := r.ratio(rec.Workload, rec.Subject)
		if s, _ := subject.Find(rec.Subject); ok && !s.Own && ratio < 1-noise {
			own, _ := r.Value(rec.Workload, reference(rec.Workload))
			ls = append(ls, Loss{rec.Workload, rec.Subject, rec.Unit, rec.Value, own})
		}
	}
	return ls
}

// confession says for each rival where it is better and when to choose it.
func (r *Report) confession() []string {
	var lines []string
	for _, s := range subject.All() {
		var parts []string
		for _, l := range r.Losses() {
			if l.Subject == s.ID {
				theirs, own := apart(l.Theirs, l.Ours)
				parts = append(parts, fmt.Sprintf("`%s` (%s against our %s %s)", l.Workload, theirs, own, l.Unit))
			}
		}
		switch {
		case len(parts) > 0:
			lines = append(lines, fmt.Sprintf("**%s** is better at %s. Choose it %s", s.Title, strings.Join(parts, ", "), s.Choose))
		case !s.Own && r.took(s.ID):
			lines = append(lines, fmt.Sprintf("**%s** is better at none of these. Choose it %s", s.Title, s.Choose))
		}
	}
	return lines
}

// apart writes two numbers, with one more digit if they would look the same.
func apart(a, b float64) (string, string) {
	x, y := number(a), number(b)
	if x == y {
		return strconv.FormatFloat(a, 'f', 1, 64), strconv.FormatFloat(b, 'f', 1, 64)
	}
	return x, y
}

// took reports whether the subject took part.
func (r *Report) took(sub string) bool {
	for _, rec := range r.Records {
		if rec.Subject == sub {
			return true
		}
	}
	return false
}
