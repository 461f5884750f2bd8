package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/executor-go/executor/bench/subject"
)

// A Loss is a record in which a rival is better than ours.
type Loss struct {
	Workload, Subject, Unit string
	Theirs, Ours            float64
}

// noise is the relative difference up to which two values count as equal.
const noise = 0.03

// Losses returns the losses in the order of the tables.
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

// rival says at what a subject is better, and when to choose it.
type rival struct{ title, better, choose string }

// rivals returns a line for each rival with records.
func (r *Report) rivals() []rival {
	var lines []rival
	losses := r.Losses()
	for _, s := range subject.All() {
		if s.Own || !r.hasRecords(s.ID) {
			continue
		}
		var parts []string
		for _, l := range losses {
			if l.Subject == s.ID {
				theirs, own := distinct(l.Theirs, l.Ours)
				parts = append(parts, fmt.Sprintf("`%s` (%s against %s %s)", l.Workload, theirs, own, l.Unit))
			}
		}
		better := "none of these"
		if len(parts) > 0 {
			better = strings.Join(parts, ", ")
		}
		lines = append(lines, rival{s.Title, better, strings.TrimSuffix(s.Choose, ".")})
	}
	return lines
}

// distinct returns two numbers as text, with one more digit if the texts would be equal.
func distinct(a, b float64) (string, string) {
	x, y := number(a), number(b)
	if x == y {
		return strconv.FormatFloat(a, 'f', 1, 64), strconv.FormatFloat(b, 'f', 1, 64)
	}
	return x, y
}

// hasRecords reports whether the subject has records.
func (r *Report) hasRecords(sub string) bool {
	for _, rec := range r.Records {
		if rec.Subject == sub {
			return true
		}
	}
	return false
}
