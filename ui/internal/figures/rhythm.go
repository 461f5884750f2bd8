package figures

import (
	"strings"
	"time"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/ui/page"
)

// A Rhythm says when periodic work is due, for people.
type Rhythm struct {
	Text string // as "every 1h", or the expression of cron without its zone
	More string // the expression in words, with its zone; "" if there is nothing to add
}

const (
	rhythmText = 80  // runes of the text
	rhythmMore = 120 // of what is added
)

// NewRhythm returns the rhythm that the schedule of a job has, or ScheduleInfo.Rhythm.
func NewRhythm(schedule string) Rhythm {
	text := schedule
	switch word, rest, _ := strings.Cut(schedule, " "); word {
	case "rate":
		text = "every " + rest
	case "delay":
		text = rest + " after each run"
	case "cron", "trigger":
		text = rest
	}
	if zone, ok := strings.CutPrefix(text, "CRON_TZ="); ok {
		zone, expression, _ := strings.Cut(zone, " ")
		r := Rhythm{page.Printable(expression, rhythmText), page.Printable(strings.Replace(zone, "Local", "local time", 1), rhythmMore)}
		if s, _, err := cron.ParseLenient(text, nil); err == nil {
			r.More = page.Printable(s.Describe(), rhythmMore)
		}
		return r
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		if d, err := time.ParseDuration(word); err == nil {
			words[i] = admin.Span(d)
		}
	}
	return Rhythm{Text: page.Printable(strings.Join(words, " "), rhythmText)}
}
