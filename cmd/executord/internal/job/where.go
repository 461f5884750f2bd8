package job

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// Where is on which machines a job runs: on one of them, or on each.
type Where struct {
	Each bool

	// Among has the machines, by their names or labels, in order: a machine has one of these. An element with a + is
	// for machines that have all of its parts. A * stands for any characters. Empty means all machines.
	Among []string
}

// mostWhere is how many bytes the Among of a Where has as text. It is documented.
const mostWhere = 100

// ParseWhere reads names and labels of machines; with the word all before the first of them, or alone, it is Each.
// Without values it is the zero Where.
func ParseWhere(values []string) (Where, error) {
	var w Where
	for i, value := range values {
		text := strings.ToLower(strings.TrimSpace(value))
		if i == 0 && (text == "all" || strings.HasPrefix(text, "all ")) {
			w.Each, text = true, strings.TrimSpace(text[len("all"):])
			if text == "" {
				continue
			}
		}
		for part := range strings.SplitSeq(text, "+") {
			switch {
			case part == "all":
				return Where{}, errors.New("all has to come first, once, before names and labels")
			case !validLabel(strings.ReplaceAll(part, "*", "x")):
				return Where{}, fmt.Errorf("%.80q cannot be the name or a label of a machine", value)
			}
		}
		w.Among = append(w.Among, text)
	}
	slices.Sort(w.Among)
	w.Among = slices.Compact(w.Among)
	if text := strings.Join(w.Among, ","); len(text) > mostWhere {
		return Where{}, fmt.Errorf("%q is longer than %d bytes", text, mostWhere)
	}
	return w, nil
}

// IsZero reports whether the job may run on any machine.
func (w Where) IsZero() bool { return !w.Each && len(w.Among) == 0 }

// String returns the text of a Where, "" for the zero one.
func (w Where) String() string {
	text := strings.Join(w.Among, ", ")
	if w.Each {
		return strings.TrimSpace("all " + text)
	}
	return text
}

// Lacking says that no daemon is running which may run the job: "no running daemon has the name or label db or gpu".
func (w Where) Lacking() string {
	return "no running daemon has the name or label " + strings.Join(w.Among, " or ")
}

// Values returns what ParseWhere reads as the same, nil for the zero Where.
func (w Where) Values() []string {
	if !w.Each {
		return w.Among
	}
	if len(w.Among) == 0 {
		return []string{"all"}
	}
	return append([]string{"all " + w.Among[0]}, w.Among[1:]...)
}

// MarshalJSON writes Values.
func (w Where) MarshalJSON() ([]byte, error) { return json.Marshal(w.Values()) }

// UnmarshalJSON reads what MarshalJSON has written. Values that cannot be those of machines, of another version, are none.
func (w *Where) UnmarshalJSON(data []byte) error {
	var values []string
	err := json.Unmarshal(data, &values)
	*w, _ = ParseWhere(values)
	return err
}

// LabelHint describes the names and labels that a machine may have.
const LabelHint = "use letters, digits and . _ - = : (no longer than 64 bytes)"

// validLabel reports whether a machine may have a name or a label, in lower case.
func validLabel(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789._-=:") == ""
}

// Machine is what a daemon says of the machine that it runs on. All of it is in lower case.
type Machine struct {
	Name   string
	Labels []string // in order, each once
	short  string   // another name: that of the host without its domain; "" for none
}

// NewMachine returns the machine with that name, or with that of the host if it is "". An error says what the name or a
// label cannot be.
func NewMachine(name string, labels []string) (Machine, error) {
	m := Machine{Name: strings.ToLower(name)}
	switch {
	case name == "":
		host, _ := os.Hostname()
		host = strings.Map(func(r rune) rune {
			if !validLabel(string(r)) {
				return '-'
			}
			return r
		}, strings.ToLower(host))
		m.Name = cmp.Or(host[:min(len(host), 64)], "localhost")
		m.short, _, _ = strings.Cut(m.Name, ".")
	case !validLabel(m.Name) || m.Name == "all":
		return m, fmt.Errorf("%q cannot be the name of a machine: %s", name, LabelHint)
	}
	for _, label := range labels {
		if label = strings.ToLower(strings.TrimSpace(label)); !validLabel(label) || label == "all" {
			return m, fmt.Errorf("%q cannot be a label of a machine: %s", label, LabelHint)
		}
		m.Labels = append(m.Labels, label)
	}
	slices.Sort(m.Labels)
	m.Labels = slices.Compact(m.Labels)
	return m, nil
}

// IsDefault reports whether the machine has the name of its host, and no labels.
func (m Machine) IsDefault() bool { return m.short != "" && len(m.Labels) == 0 }

// In reports whether it is one of the machines.
func (m Machine) In(w Where) bool {
	return len(w.Among) == 0 || slices.ContainsFunc(w.Among, func(text string) bool {
		for part := range strings.SplitSeq(text, "+") {
			if !m.has(part) {
				return false
			}
		}
		return true
	})
}

// has reports whether the machine has a name or a label that matches a pattern.
func (m Machine) has(pattern string) bool {
	return slices.ContainsFunc(append([]string{m.Name, m.short}, m.Labels...), func(text string) bool {
		matched, _ := path.Match(pattern, text)
		return matched && text != ""
	})
}

// String returns the name of the machine, and its labels: "web-1 with eu, gpu".
func (m Machine) String() string {
	if len(m.Labels) == 0 {
		return m.Name
	}
	return m.Name + " with " + strings.Join(m.Labels, ", ")
}

// At returns the name that a job has on one machine if it runs on each of several: cleanup@web-1. No other job has such
// a name.
func At(name, machine string) string { return name + "@" + machine }

// CutAt returns the name and the machine of At; ok is false for the name of any other job.
func CutAt(at string) (name, machine string, ok bool) { return strings.Cut(at, "@") }
