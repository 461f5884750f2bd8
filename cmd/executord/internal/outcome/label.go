package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// Apart is the label of a run that is over for the store alone: it went on beside the next one, and its end is in the
// log.
const Apart = "apart"

// Label is what the history of a store has of a run besides its error, as its label.
type Label struct {
	Attempts int  // of its command, all but the last of which have failed; 0 stands for 1
	Open     bool // the last has failed, too, and the next run of the job goes on with the one after it
}

// String returns the text of the label: "" for a run of one attempt, "3 attempts", or "2 attempts so far".
func (l Label) String() string {
	switch {
	case l.Open:
		return fmt.Sprintf("%d attempts so far", l.Attempts)
	case l.Attempts > 1:
		return fmt.Sprintf("%d attempts", l.Attempts)
	}
	return ""
}

// ParseLabel reads the text of a label. Any other text is the zero Label.
func ParseLabel(text string) Label {
	number, rest, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if l := (Label{n, rest == "attempts so far"}); err == nil && n > 0 && l.String() == text {
		return l
	}
	return Label{}
}
