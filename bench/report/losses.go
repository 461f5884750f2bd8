package report

import (
	"fmt"
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
		own, ok := r.Value(rec.Workload, reference(rec.Workload))
		if s, _ := subject.Find(rec.Subject); ok && !s.Own && rec.Value < own*(1-noise) {
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
				parts = append(parts, fmt.Sprintf("`%s` (%s against our %s %s)", l.Workload, number(l.Theirs), number(l.Ours), l.Unit))
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

// took reports whether the subject took part.
func (r *Report) took(sub string) bool {
	for _, rec := range r.Records {
		if rec.Subject == sub {
			return true
		}
	}
	return false
}
