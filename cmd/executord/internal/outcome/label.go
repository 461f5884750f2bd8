package outcome

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Label is what the history of a store has of a run besides its error, as its label.
type Label struct {
	Outcome Outcome // "" if the handler has said nothing
	// of its command, all but the last of which have failed; 0 stands for 1, and for none of a run that was Delayed
	Attempts int

	// Took is how long the command ran, as the log says. Timed is false, and Took 0, if it did not come to that. The times
	// of the store are those of all that was done for the run.
	Took  time.Duration
	Timed bool
}

// Open reports whether the run goes on: all of its attempts have failed, and the next run of the job begins with the
// one after them.
func (l Label) Open() bool { return l.Outcome == Delayed && l.Attempts > 0 }

// String returns the text of the label: "" for a run that was ok at once, "timeout", or "failed, attempt 3, took 1.5s".
func (l Label) String() string {
	text := string(l.Outcome)
	if l.Attempts > 1 || l.Open() {
		text += fmt.Sprintf(", attempt %d", l.Attempts)
	}
	if l.Timed {
		text += ", took " + l.Took.String()
	}
	if text == string(OK) { // the verdict of the store says so
		return ""
	}
	return text
}

// ParseLabel reads the text of a label. Any other text is the zero Label.
func ParseLabel(text string) (l Label) {
	rest, took, timed := strings.Cut(text, ", took ")
	word, attempt, several := strings.Cut(rest, ", attempt ")
	l.Outcome, l.Timed = Outcome(word), timed
	if several {
		l.Attempts, _ = strconv.Atoi(attempt)
	}
	if timed {
		l.Took, _ = time.ParseDuration(took)
	}
	if _, known := l.Outcome.end(); !known || l.String() != text {
		return Label{}
	}
	return l
}

// ParseFired reports whether a label is that of a schedule, which has fired. The outcome is excluded or missed if that is
// what became of the due times, with the reason, and else "".
func ParseFired(label string) (o Outcome, why string, is bool) {
	why, left := strings.CutPrefix(label, "left out, ")
	word, _, _ := strings.Cut(why, ": ")
	if o = Outcome(word); left && (o == Excluded || o == Missed) {
		return o, why, true
	}
	return "", "", left || strings.HasPrefix(label, "run ")
}

// beforeWord begins what Before returns, behind what a label says of a run.
const beforeWord = "missed "

// Before returns what the label of a schedule has of due times that were missed, and that its run makes up for.
func Before(n int, first time.Time) string {
	return fmt.Sprintf("%s%d from %s", beforeWord, n, first.UTC().Format(time.RFC3339Nano))
}

// ParseBefore returns the due times that Before has put into a label, 0 if there are none.
func ParseBefore(label string) (n int, first time.Time) {
	_, text, _ := strings.Cut(label, ", "+beforeWord)
	count, from, _ := strings.Cut(text, " from ")
	n, err := strconv.Atoi(count)
	if err == nil {
		first, err = time.Parse(time.RFC3339Nano, from)
	}
	if err != nil || n < 1 {
		return 0, time.Time{}
	}
	return n, first
}
