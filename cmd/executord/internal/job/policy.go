package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Overlap is what becomes of a due time of a job while a run of it is in progress.
type Overlap struct {
	Do   OverlapDo
	Most int // runs at a time, if they are allowed; else 0
}

// OverlapDo is what an Overlap does.
type OverlapDo string

const (
	SkipOverlap    OverlapDo = ""        // the time is left out
	QueueOverlap   OverlapDo = "queue"   // one run follows when the run has ended
	AllowOverlap   OverlapDo = "allow"   // it is run beside it
	ReplaceOverlap OverlapDo = "replace" // the run is ended, and one for the time follows
)

// MostOverlap is the greatest Overlap.Most.
const MostOverlap = 100

// ParseOverlap reads skip, queue, replace, or allow with a number, as "allow 3". The empty text is skip.
func ParseOverlap(text string) (Overlap, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch do := OverlapDo(word); {
	case text == "" || text == "skip":
		return Overlap{}, nil
	case do == AllowOverlap:
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil || n < 1 || n > MostOverlap {
			return Overlap{}, fmt.Errorf("overlap %q does not say how many runs are allowed at a time, 1 to %d", text, MostOverlap)
		}
		return Overlap{do, n}, nil
	case rest == "" && (do == QueueOverlap || do == ReplaceOverlap):
		return Overlap{Do: do}, nil
	}
	return Overlap{}, fmt.Errorf("overlap %q is neither skip, queue or replace nor allow with a number", text)
}

// String returns the text of the policy, "" for skip.
func (o Overlap) String() string {
	if o.Do == AllowOverlap {
		return fmt.Sprintf("%s %d", o.Do, o.Most)
	}
	return string(o.Do)
}

// Misfire is what becomes of due times at which a job could not be run: no daemon was there, or had a place for it, the
// machine slept, the job was paused. The zero Misfire has one run make up for all of them.
type Misfire struct {
	All    bool          // each of them is run, one after the other
	Within time.Duration // one run makes up for them if the last of them is not longer ago; 0 for any
}

// SkipWithin is the Misfire.Within of skip: how late a run may begin that is no misfire. It is documented.
const SkipWithin = time.Minute

// ParseMisfire reads once, skip, all, or a duration. The empty text is once.
func ParseMisfire(text string) (Misfire, error) {
	switch text {
	case "", "once":
		return Misfire{}, nil
	case "all":
		return Misfire{All: true}, nil
	case "skip":
		return Misfire{Within: SkipWithin}, nil
	}
	within, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return Misfire{}, fmt.Errorf("misfire %q is neither once, skip or all nor a duration", text)
	case within < time.Second:
		return Misfire{}, fmt.Errorf("misfire %q is shorter than 1s, the least", text)
	}
	return Misfire{Within: within}, nil
}

// String returns the text of the policy, "" for once.
func (m Misfire) String() string {
	switch {
	case m.All:
		return "all"
	case m.Within == SkipWithin:
		return "skip"
	case m.Within > 0:
		return m.Within.String()
	}
	return ""
}
