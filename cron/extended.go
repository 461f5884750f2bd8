package cron

import (
	"fmt"
	"strings"
	"time"
)

// Extended parses specs of the extended language, which has what Quartz, Jenkins and the crons of OpenBSD and Fedora
// add to the five fields. The zero Extended is ready to use and takes five fields.
//
// Besides the items of the plain language, a field takes these:
//
//	field         item      selects
//	day-of-month  L         the last day of the month
//	              L-3       the day three days before the last
//	              15W       the weekday, Monday to Friday, nearest to the 15th
//	              LW        the weekday nearest to the last day
//	              L-3W      the weekday nearest to the day three days before the last
//	day-of-week   5L  friL  the last Friday of the month; also fri#L
//	              5#2 fri#2 the second Friday of the month; 1 to 5
//	              +fri      see below
//	both of them  ?         every day, as * does
//	all but year  H         one value, computed from Name
//	              H(0-29)   one value of a range
//	              H/15      every fifteenth value, the first computed from Name
//	              H(0-29)/10
//	              0~29      OpenBSD's spelling of H(0-29); ~ is the whole field
//	              22-2      a range that continues past the end; also nov-feb
//
// W stays in the month: 1W is the 3rd if the 1st is a Saturday. A month that lacks the day, such as the 31st or a fifth
// Friday, is left out. Letters may be in lower case. Each item may be part of a list.
//
// # H and ~
//
// H and ~ spread the schedules of many jobs, so that not all of them are due at midnight. Their values depend only on
// Name, the field and the range: a name has the same values on each machine, at each start, and with each version of
// this package. In day-of-month H is at most 28, so that each month has the day; write H(1-31) or ~ for all days. The
// name of a job is a good Name.
//
// # Both days
//
// As in the plain language, a day need match only one of the day fields if neither begins with a star. If BothDays is
// set, or day-of-week begins with a plus, the day must match both: "0 0 13 * +fri" means every Friday the 13th. A
// question mark counts as a star.
//
// # Text
//
// [Schedule.String] writes the computed values in place of H and ~. If the plain language can express the schedule, the
// text is a spec of the plain language. Otherwise the text begins with "@extended", as in "@extended 0 0 L * *". All
// parse functions and UnmarshalText read such a text: after that word there are 5 fields, or 6 with seconds first, or 7
// with seconds first and years last. Seconds, Years, SundayIsOne and BothDays do not apply to it.
//
// # Quartz, Jenkins, Kubernetes
//
// Extended{Seconds: true, Years: true, SundayIsOne: true} reads the specs of Quartz. For Jenkins set Name, and for
// supercronic Years. CronJobs of Kubernetes have the plain language and the question mark, which the zero Extended
// reads.
type Extended struct {
	// Seconds says that the fields of a spec begin with one of seconds, 0-59.
	Seconds bool

	// Years says that a spec may end with a field of years, 1970-2099.
	Years bool

	// SundayIsOne says that the numbers in day-of-week are 1 for Sunday to 7 for Saturday, as in Quartz. L alone then
	// means Saturday.
	SundayIsOne bool

	// BothDays says that a day must match both day fields.
	BothDays bool

	// Name is what H and ~ are computed from. If Name is empty, a spec with H or ~ is an error.
	Name string

	// Location is the zone of a spec without a prefix for it. Nil means [time.Local].
	Location *time.Location

	// Note, if it is not nil, makes Parse lenient, see [ParseLenient]. The goroutine that calls Parse calls Note, once
	// for each note, before Parse returns a schedule.
	Note func(*ParseError)
}

// Parse parses a spec of the extended language. If the spec is not valid, it returns the zero Schedule and a
// *[ParseError], as the function [Parse] does.
func (x Extended) Parse(spec string) (Schedule, error) {
	var notes []*ParseError
	p := parser{spec: spec, ext: &language{
		seconds: x.Seconds, years: x.Years, sundayIsOne: x.SundayIsOne, bothDays: x.BothDays, name: x.Name}}
	if x.Note != nil {
		p.notes = &notes
	}
	s, err := p.parse(x.Location)
	if err != nil {
		return Schedule{}, err
	}
	for _, note := range notes {
		x.Note(note)
	}
	return s, nil
}

// marker is the word before fields of the extended language.
const marker = "@extended"

// A language says which fields a spec has, and what they mean.
type language struct {
	seconds, years        bool
	sundayIsOne, bothDays bool
	name                  string
}

// marked returns the language of n fields after the marker. Of x, which may be nil, it has the name.
func (x *language) marked(n int) *language {
	y := &language{seconds: n > 5, years: n > 6}
	if x != nil {
		y.name = x.name
	}
	return y
}

// parseExtended parses the fields of the extended language and returns the text of the schedule.
func (p parser) parseExtended(s *Schedule, parts []span) (string, error) {
	from, to := minute, dayOfWeek
	if p.ext.seconds {
		from = second
	}
	n := to - from + 1
	if p.ext.years && len(parts) == n+1 {
		to, n = year, n+1
	}
	if len(parts) != n {
		return "", p.failWhole(p.countExtended(len(parts)))
	}
	var parsed [len(allFields)]values
	parsed[second] = values{set: 1, text: "0"}
	for i, part := range parts {
		var err error
		if parsed[from+i], err = p.parseField(&allFields[from+i], part); err != nil {
			return "", err
		}
	}
	if parsed[year].text == "*" { // every year, also those that a field of years can't name
		parsed[year] = values{}
	}
	days := &parsed[dayOfWeek]
	days.both = (days.both || p.ext.bothDays) && !days.starred && !parsed[dayOfMonth].starred

	s.calendar = calendarOf(&parsed)
	if !s.calendar.possible() {
		return "", p.fail("day-of-month", parts[dayOfMonth-from], "no day matches this, the month, the day of the week and the year, so it is never due", "")
	}
	return extendedText(&parsed), nil
}

// extendedText returns the fields as text: of the plain language if it has them all.
func extendedText(v *[len(allFields)]values) string {
	texts := make([]string, 0, 1+len(allFields))
	withYears := v[year].text != ""
	withSeconds := withYears || v[second].set != 1 || v[second].starred
	extra := withSeconds || v[dayOfWeek].both
	for i := range v {
		extra = extra || v[i].extra
	}
	if extra {
		texts = append(texts, marker)
	}
	if withSeconds {
		texts = append(texts, v[second].text)
	}
	for i := minute; i <= dayOfWeek; i++ {
		text := v[i].text
		if v[i].both {
			text = "+" + text
		}
		texts = append(texts, text)
	}
	if withYears {
		texts = append(texts, v[year].text)
	}
	return strings.Join(texts, " ")
}

// countExtended returns what is wrong with a spec of n fields, and a hint.
func (p parser) countExtended(n int) (problem, hint string) {
	least, list := 5, "minute hour day-of-month month day-of-week"
	if p.ext.seconds {
		least, list = 6, "second "+list
	}
	want := fmt.Sprint(least)
	if p.ext.years {
		want, list = fmt.Sprintf("%d or %d", least, least+1), list+" [year]"
	}
	if n < least {
		hint = `write "*" for a field that does not matter`
	} else if !p.ext.seconds || !p.ext.years {
		hint = `after "@extended" 6 fields begin with seconds, and 7 end with years, too`
	}
	return fmt.Sprintf("%s, want %s (%s)", count(n, "field"), want, list), hint
}
