package job

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
)

// Season is when the due times of a job count: from one time until another, but for exceptions. Its texts are those of
// the file, as ParseMoment and ParseException take them; they are read in the zone of the schedule.
type Season struct {
	From   string   `json:"from,omitempty"`  // "" for no limit
	Until  string   `json:"until,omitempty"` // the same
	Except []string `json:"except,omitempty"`
}

// IsZero reports whether all times count.
func (s Season) IsZero() bool { return s.From == "" && s.Until == "" && len(s.Except) == 0 }

// Equal reports whether two seasons have the same texts.
func (s Season) Equal(t Season) bool {
	return s.From == t.From && s.Until == t.Until && slices.Equal(s.Except, t.Except)
}

// Excludes returns why a due time does not count, "" if it does. An error says that a file of exceptions could not be
// read, or has a mistake: what it would exclude counts.
func (s Season) Excludes(due time.Time) (reason string, err error) {
	c, err := s.Calendar()
	if reason = c.Excludes(due); reason != "" {
		return reason, nil
	}
	return "", err
}

// Calendar is a season with the exceptions that its files had when it was made.
type Calendar struct {
	season Season
	except []excepted
	byHand []time.Time
}

// ExcludedByHand is why a time does not count that Without has excluded.
const ExcludedByHand = "by exclude-next"

// Without returns the calendar with more times that do not count, which somebody has excluded by hand.
func (c Calendar) Without(times []time.Time) Calendar {
	c.byHand = times
	return c
}

// excepted is an exception, and how it is called.
type excepted struct {
	Exception
	name string
}

// Calendar reads the files of the season, for many due times. An error is as that of Excludes.
func (s Season) Calendar() (Calendar, error) {
	c := Calendar{season: s}
	var err error
	for _, text := range s.Except {
		if !isPath(text) {
			if e, wrong := ParseException(text); wrong == nil {
				c.except = append(c.except, excepted{e, text})
			}
			continue
		}
		lines, wrong := readExceptions(text)
		c.except, err = append(c.except, lines...), errors.Join(err, wrong)
	}
	return c, err
}

// Excludes returns why a due time does not count, "" if it does.
func (c Calendar) Excludes(due time.Time) (reason string) {
	reason, _ = c.excludes(due)
	return reason
}

// mostExcluded bounds the stretches of times in a row that do not count: after so many, none does. A stretch has a
// minute or more, and of whole days most of a day.
const mostExcluded = 10_000

// Next returns the first time of a trigger after another, in a zone, at which something runs: one that counts. It is the
// zero Time if there is none.
func (c Calendar) Next(times Trigger, after time.Time, zone *time.Location) time.Time {
	for range mostExcluded {
		t := times.Next(after)
		if t.IsZero() {
			break
		}
		t = t.In(zone)
		reason, until := c.excludes(t)
		if reason == "" {
			return t
		}
		if until.IsZero() {
			break
		}
		after = until.Add(-1)
	}
	return time.Time{}
}

// excludes returns why a due time does not count, "" if it does. All times from it until another do not count for that
// reason; that is zero if no later time counts.
func (c Calendar) excludes(due time.Time) (reason string, until time.Time) {
	if slices.ContainsFunc(c.byHand, due.Equal) {
		return ExcludedByHand, due.Add(1)
	}
	s := c.season
	if from, _, wrong := ParseMoment(s.From, due.Location()); s.From != "" && wrong == nil && due.Before(from) {
		return "it is before " + s.From, from
	}
	if s.over(due) {
		return "it is after " + s.Until, time.Time{}
	}
	for _, e := range c.except {
		if !e.has(due) {
			continue
		}
		until = due.Truncate(time.Minute).Add(time.Minute)
		if year, month, day := due.Date(); e.end == 0 { // midnight may come twice, or not at all
			if evening := time.Date(year, month, day, 23, 0, 0, 0, due.Location()); evening.After(until) {
				until = evening
			}
		}
		return "except " + e.name, until
	}
	return "", time.Time{}
}

// over reports whether a time is after the end.
func (s Season) over(t time.Time) bool {
	if s.Until == "" {
		return false
	}
	until, whole, wrong := ParseMoment(s.Until, t.Location())
	if wrong != nil {
		return false
	}
	if whole {
		until = until.AddDate(0, 0, 1).Add(-1) // the day counts
	}
	return t.After(until)
}

// ParseMoment reads a day, 2027-03-28, or a time of it, 2027-03-28 14:00. Whole reports that it is a day.
func ParseMoment(text string, loc *time.Location) (t time.Time, whole bool, err error) {
	if t, err = time.ParseInLocation(time.DateOnly, text, loc); err == nil {
		return t, true, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05"} {
		if t, err = time.ParseInLocation(layout, text, loc); err == nil {
			return t, false, nil
		}
	}
	return time.Time{}, false, fmt.Errorf("%q is neither a day nor a time", text)
}

// ExceptionHint describes exceptions.
const ExceptionHint = "write days such as 2027-12-25, 12-25 for each year, 12-24..01-02, sat-sun; hours as 22:00-06:00, " +
	"fri 18:00-24:00; or a file with one of these on each line, such as /etc/holidays"

// Exception is a set of days, or of hours of days.
type Exception struct {
	first, last string // dates as 2027-12-24 or 12-24; "" for each day
	days        uint8  // bits of weekdays, Sunday is bit 0; 0 for all
	// minutes of the day; end is 0 for whole days, and may be before begin: then it is on the next day
	begin, end int
}

// isPath reports whether an exception is the name of a file.
func isPath(text string) bool { return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") }

// ParseException reads an exception that is no file. Of a file, nothing is looked at.
func ParseException(text string) (e Exception, err error) {
	words := strings.Fields(strings.ToLower(text))
	wrong := fmt.Errorf("%q is not an exception", text)
	if isPath(text) {
		return e, nil
	}
	if len(words) == 0 || len(words) > 2 {
		return e, wrong
	}
	hours := words[len(words)-1]
	if strings.Contains(hours, ":") {
		words = words[:len(words)-1]
		begin, end, ok := strings.Cut(hours, "-")
		if e.begin, err = minuteOf(begin); err != nil || !ok {
			return e, wrong
		}
		if e.end, err = minuteOf(end); err != nil || e.begin == e.end || e.begin == 24*60 || e.end == 0 {
			return e, wrong
		}
	}
	switch {
	case len(words) == 0:
		return e, nil
	case len(words) > 1:
		return e, wrong
	}
	first, last, ranged := strings.Cut(words[0], "..")
	if !ranged {
		last = first
	}
	if isDate(first) && isDate(last) && len(first) == len(last) {
		if e.first, e.last = first, last; len(first) == len(time.DateOnly) && last < first {
			return e, wrong
		}
		return e, nil
	}
	if e.days, err = weekdaysOf(words[0]); err != nil {
		return e, wrong
	}
	return e, nil
}

func minuteOf(text string) (int, error) {
	if text == "24:00" {
		return 24 * 60, nil
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err
}

// isDate reports whether a text is a day, of a year or of each.
func isDate(text string) bool {
	if len(text) == len("01-02") {
		text = "2000-" + text // which has a 29 February
	}
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// weekdaysOf returns the days in a list of names and ranges.
func weekdaysOf(text string) (days uint8, err error) {
	names := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, to := slices.Index(names, first), slices.Index(names, last)
		if from < 0 || to < 0 {
			return 0, errors.New("no day of the week")
		}
		for day := from; ; day = (day + 1) % 7 {
			days |= 1 << day
			if day == to {
				break
			}
		}
	}
	return days, nil
}

// has reports whether a time is in the exception.
func (e Exception) has(t time.Time) bool {
	minute := t.Hour()*60 + t.Minute()
	switch {
	case e.end == 0:
		return e.onDay(t)
	case e.begin < e.end:
		return e.onDay(t) && e.begin <= minute && minute < e.end
	}
	// Past midnight it is that of the day before.
	return e.onDay(t) && minute >= e.begin || minute < e.end && e.onDay(t.AddDate(0, 0, -1))
}

// onDay reports whether the day of a time is one of the exception.
func (e Exception) onDay(t time.Time) bool {
	if e.days != 0 && e.days>>t.Weekday()&1 == 0 {
		return false
	}
	if e.first == "" {
		return true
	}
	date := t.Format(time.DateOnly)
	date = date[len(date)-len(e.first):]
	if e.first <= e.last {
		return e.first <= date && date <= e.last
	}
	return date >= e.first || date <= e.last // over the end of the year
}

// maxExceptions is how large a file of exceptions may be.
const maxExceptions = 1 << 20

// readExceptions returns the exceptions of a file that are right, and what is wrong with the others.
func readExceptions(name string) (all []excepted, err error) {
	data, err := inputfile.Read(name, maxExceptions)
	if err != nil {
		return nil, err
	}
	if len(data) > maxExceptions {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxExceptions>>20)
	}
	var bad error
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		e, err := ParseException(text)
		if err != nil || isPath(text) { // a name may follow, as "2027-12-25 Christmas"
			if e, err = ParseException(strings.Fields(text)[0]); err != nil || isPath(text) {
				bad = errors.Join(bad, fmt.Errorf("%s:%d: %q is not an exception", name, n, text))
				continue
			}
		}
		all = append(all, excepted{e, text + ", in " + name})
	}
	return all, errors.Join(bad, lines.Err())
}
