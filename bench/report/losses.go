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

// concession says where a rival is better, and when to choose it.
type concession struct{ title, better, choose string }

// confession returns a line for each rival that took part.
func (r *Report) confession() []concession {
	var lines []concession
	losses := r.Losses()
	for _, s := range subject.All() {
		if s.Own || !r.took(s.ID) {
			continue
		}
		var parts []string
		for _, l := range losses {
			if l.Subject == s.ID {
				theirs, own := apart(l.Theirs, l.Ours)
				parts = append(parts, fmt.Sprintf("`%s` (%s against %s %s)", l.Workload, theirs, own, l.Unit))
			}
		}
		better := "none of these"
		if len(parts) > 0 {
			better = strings.Join(parts, ", ")
		}
		lines = append(lines, concession{s.Title, better, strings.TrimSuffix(s.Choose, ".")})
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
