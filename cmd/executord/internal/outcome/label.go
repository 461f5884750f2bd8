package outcome

import (
	"fmt"
	"strconv"
	"strings"
)

// Label is what the history of a store has of a run besides its error, as its label.
type Label struct {
	Outcome Outcome // "" if the handler has said nothing
	// of its command, all but the last of which have failed; 0 stands for 1, and for none of a run that was Delayed
	Attempts int
}

// Open reports whether the run goes on: all of its attempts have failed, and the next run of the job begins with the
// one after them.
func (l Label) Open() bool { return l.Outcome == Delayed && l.Attempts > 0 }

// String returns the text of the label: "" for a run that was ok at once, "timeout", or "failed, attempt 3".
func (l Label) String() string {
	switch {
	case l.Attempts > 1 || l.Open():
		return fmt.Sprintf("%s, attempt %d", l.Outcome, l.Attempts)
	case l.Outcome == OK: // the verdict of the store says so
		return ""
	}
	return string(l.Outcome)
}

// ParseLabel reads the text of a label. Any other text is the zero Label.
func ParseLabel(text string) Label {
	word, rest, several := strings.Cut(text, ", attempt ")
	l := Label{Outcome: Outcome(word)}
	if several {
		l.Attempts, _ = strconv.Atoi(rest)
	}
	if !l.Outcome.known() || l.String() != text {
		return Label{}
	}
	return l
}
