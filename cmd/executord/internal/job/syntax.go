package job

import (
	"fmt"
	"strings"
	"time"

	"github.com/executor-go/executor/cron"
)

// Languages are the names of the languages in which fields of a schedule may be written. Plain is that of cron.
var Languages = []string{Plain, "extended", "seconds", "supercronic", "quartz"}

// Plain is the name of cron's own language.
const Plain = "plain"

// LanguageHint describes the languages of schedules.
const LanguageHint = "write plain for cron's five fields, extended for L, W, #, ? and H in them, seconds for six fields with seconds " +
	"first, supercronic for five to seven with years last, or quartz"

// Syntax says how the fields of a schedule are read.
type Syntax struct {
	Zone     *time.Location // unless the schedule has a prefix for it
	Language string         // one of Languages; "" is Plain
	Name     string         // of the job; H and ~ select by it
}

// Extends reports whether the language is another one than cron's.
func (x Syntax) Extends() bool { return x.Language != "" && x.Language != Plain }

// Counts returns how many fields a schedule may have, the most first.
func (x Syntax) Counts() []int {
	switch x.Language {
	case "seconds":
		return []int{6}
	case "supercronic":
		return []int{7, 6, 5}
	case "quartz":
		return []int{7, 6}
	}
	return []int{5}
}

// EndsWithYears reports whether the last of so many fields is one of years.
func (x Syntax) EndsWithYears(fields int) bool {
	return fields == 7 || fields == 6 && x.Language == "supercronic"
}

// parse reads the fields, or an @word of package cron.
func (x Syntax) parse(text string) (times cron.Schedule, notes []*cron.ParseError, err error) {
	if !x.Extends() {
		times, notes, err = cron.ParseLenient(text, x.Zone)
		if err == nil || !strings.Contains(text, "~") {
			return times, notes, err
		}
		// The crons of Debian, Fedora and OpenBSD have ~ without being asked.
	}
	n := len(strings.Fields(text))
	if strings.HasPrefix(text, "CRON_TZ=") || strings.HasPrefix(text, "TZ=") {
		n--
	}
	ext := cron.Extended{
		Name: x.Name, Location: x.Zone, Note: func(n *cron.ParseError) { notes = append(notes, n) },
		Seconds:     x.Language == "seconds" || x.Language == "quartz" || x.Language == "supercronic" && n == 7,
		Years:       x.Language == "quartz" || x.Language == "supercronic",
		SundayIsOne: x.Language == "quartz",
	}
	times, err = ext.Parse(text)
	return times, notes, err
}

// plainText returns a text for a schedule that all parse functions of package cron read: the given one, if it is
// such a text.
func plainText(text string, times cron.Schedule) string {
	if same, _, err := cron.ParseLenient(text, time.UTC); err == nil && same.String() == times.String() {
		return text
	}
	return times.String()
}

// CountHint returns which language has so many fields, "" if none has or plain does. The setting is how a file says
// the language of a schedule, with %s for the name of that.
func CountHint(fields []string, setting string) string {
	if len(fields) < 6 {
		return ""
	}
	reads := func(language string) bool {
		_, _, wrong := Syntax{Zone: time.UTC, Language: language, Name: "x"}.ParseSchedule(strings.Join(fields, " "))
		return wrong == nil
	}
	var hints []string
	add := func(language, condition string) { hints = append(hints, fmt.Sprintf(setting, language)+condition) }
	if last := fields[len(fields)-1]; reads("supercronic") && (len(last) > 2 || last == "*") {
		add("supercronic", " if the last field has years")
	}
	if len(hints) == 0 || fields[len(fields)-1] == "*" {
		if reads("seconds") {
			add("seconds", " if the first field has seconds")
		}
		if reads("quartz") {
			add("quartz", " if Sunday is 1")
		}
	}
	if len(hints) == 0 {
		return ""
	}
	return "write " + strings.Join(hints, ", or ")
}
