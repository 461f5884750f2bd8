package cron

import (
	"fmt"
	"strings"
	"time"
)

// maxSpec is the limit on the length of a spec in bytes. A spec that lists every value
// of every field has a third of it.
const maxSpec = 1024

// words are the @words with the five fields that each of them means.
var words = []struct{ name, fields string }{
	{"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"},
	{"@monthly", "0 0 1 * *"},
	{"@weekly", "0 0 * * 0"},
	{"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"},
	{"@hourly", "0 * * * *"},
}

// A span is a part of a spec.
type span struct {
	text string
	at   int // offset in the spec, in bytes
}

// part returns the part of s with the given text, which begins at from.
func (s span) part(from int, text string) span { return span{text, s.at + from} }

// A parser holds the spec for its errors.
type parser struct {
	spec  string
	notes *[]*ParseError // of a lenient parser: what is allowed though hardly anybody means it
	ext   *language      // nil for the plain language
}

// note keeps what is a note for a lenient parser. For any other it returns the error.
func (p parser) note(e *ParseError) error {
	if p.notes == nil {
		return e
	}
	*p.notes = append(*p.notes, e)
	return nil
}

// fail returns the error for one part of the spec.
func (p parser) fail(field string, where span, problem, hint string) *ParseError {
	return &ParseError{Spec: p.spec, Field: field, Text: where.text, Column: where.at + 1, Problem: problem, Hint: hint}
}

// failWhole returns the error for the spec as a whole.
func (p parser) failWhole(problem, hint string) *ParseError {
	return &ParseError{Spec: p.spec, Problem: problem, Hint: hint}
}

// prefix precedes the name of a zone.
const prefix = "CRON_TZ="

func (p parser) parse(loc *time.Location) (Schedule, error) {
	spec := p.spec
	if loc == nil {
		loc = time.Local
	}
	if len(spec) > maxSpec {
		return Schedule{}, p.failWhole(fmt.Sprintf("%d bytes are too long, the limit is %d", len(spec), maxSpec), "")
	}
	if err := p.checkCharacters(); err != nil {
		return Schedule{}, err
	}
	parts := split(spec)

	zone := ""
	if len(parts) > 0 {
		name, ok, err := p.zoneName(parts[0])
		if err != nil {
			return Schedule{}, err
		}
		if ok {
			if loc, err = p.loadZone(name); err != nil {
				return Schedule{}, err
			}
			zone = prefix + name.text + " "
			parts = parts[1:]
			if len(parts) > 0 && isPrefix(parts[0]) {
				return Schedule{}, p.fail("zone", parts[0], "is a second time zone", "keep one of the two")
			}
		}
	}
	if len(parts) == 0 {
		return Schedule{}, p.failWhole("no time given",
			`write five fields, such as "30 2 * * *", or a word, such as "@daily"`)
	}

	if is(parts[0], marker) {
		p.ext = p.ext.marked(len(parts) - 1)
		parts = parts[1:]
		if n := len(parts); n < 5 || n > 7 {
			return Schedule{}, p.failWhole(fmt.Sprintf("%s after %s, want 5, 6 with seconds first, or 7 with years last, too",
				count(n, "field"), marker), "")
		}
		if strings.HasPrefix(parts[0].text, "@") {
			return Schedule{}, p.fail("word", parts[0], "may not follow "+marker, "remove "+marker)
		}
	}
	s := Schedule{loc: loc}
	var text string
	var err error
	switch {
	case strings.HasPrefix(parts[0].text, "@"):
		text = joined(parts)
		err = p.parseWord(&s, parts)
	case p.ext != nil:
		text, err = p.parseExtended(&s, parts)
	default:
		text = joined(parts)
		err = p.parseFields(&s, parts)
	}
	if err != nil {
		return Schedule{}, err
	}
	if s.spec = zone + text; len(s.spec) > maxSpec {
		return Schedule{}, p.failWhole(fmt.Sprintf("in full it has %d bytes, the limit is %d", len(s.spec), maxSpec), "use fewer items")
	}
	return s, nil
}

// split returns the parts of spec between blanks. Line ends count as blanks, because
// specs are read from files.
func split(spec string) []span {
	parts := make([]span, 0, 8)
	for at := 0; at < len(spec); {
		if isBlank(spec[at]) {
			at++
			continue
		}
		end := at
		for end < len(spec) && !isBlank(spec[end]) {
			end++
		}
		parts = append(parts, span{spec[at:end], at})
		at = end
	}
	return parts
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// joined returns the parts in lower case with single blanks between them.
func joined(parts []span) string {
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ToLower(part.text))
	}
	return b.String()
}

// zoneName returns the name of the zone if part is a CRON_TZ= or TZ= prefix.
func (p parser) zoneName(part span) (name span, ok bool, err error) {
	if !isPrefix(part) {
		return span{}, false, nil // the error of the fields is clearer
	}
	before, after, _ := strings.Cut(part.text, "=")
	if before != "CRON_TZ" && before != "TZ" {
		return span{}, false, p.fail("zone", part, "the prefix for a zone is CRON_TZ= or TZ=",
			"write it in capitals")
	}
	name = part.part(len(before)+1, after)
	if after == "" {
		// time.LoadLocation takes the empty name for UTC.
		return span{}, false, p.fail("zone", name, "no name follows the equals sign",
			"write CRON_TZ=Asia/Tokyo, without blanks, or CRON_TZ=UTC")
	}
	return name, true, nil
}

// isPrefix reports whether part is a prefix for a zone, in any case.
func isPrefix(part span) bool {
	before, _, found := strings.Cut(part.text, "=")
	word := part.part(0, before)
	return found && (is(word, "CRON_TZ") || is(word, "TZ"))
}

func (p parser) loadZone(name span) (*time.Location, error) {
	loc, err := time.LoadLocation(name.text)
	if err != nil {
		return nil, p.fail("zone", name, "unknown time zone", zoneHint(name.text))
	}
	return loc, nil
}

// parseWord parses a spec that begins with an @word.
func (p parser) parseWord(s *Schedule, parts []span) error {
	word := parts[0]
	if is(word, "@every") {
		return p.parseEvery(s, parts[1:])
	}
	if is(word, since) {
		return p.parseSince(s, parts[1:])
	}
	if is(word, "@reboot") {
		return p.fail("word", word, "a program start is not a time", "run the job once when the program starts")
	}
	for _, w := range words {
		if !is(word, w.name) {
			continue
		}
		if len(parts) > 1 {
			return p.fail("word", parts[1], "nothing may follow "+w.name, "remove it")
		}
		return parser{spec: w.fields}.parseFields(s, split(w.fields))
	}
	return p.fail("word", word, "unknown word", wordHint(word.text))
}

// is reports whether s is the given ASCII word, in any case. The lengths must be
// equal, because some letters beyond ASCII fold to ASCII letters.
func is(s span, word string) bool {
	return len(s.text) == len(word) && strings.EqualFold(s.text, word)
}

// parseEvery parses the duration after @every.
func (p parser) parseEvery(s *Schedule, rest []span) error {
	if len(rest) == 0 {
		return p.failWhole("@every needs a duration", `write "@every 90s" or "@every 1h30m"`)
	}
	text := rest[0]
	if len(rest) > 1 {
		return p.fail("interval", rest[1], "@every takes one duration", `write it without blanks, such as "1h30m"`)
	}
	d, err := time.ParseDuration(strings.ToLower(text.text))
	switch {
	case err != nil && isTooLong(text.text):
		return p.fail("interval", text, "is longer than 290 years, the most that a duration can be", "")
	case err != nil:
		return p.fail("interval", text, "not a duration", durationHint(text.text))
	case d <= 0:
		return p.fail("interval", text, "must be longer than zero", "")
	}
	s.every = d
	return nil
}

// parseFields parses the five fields.
func (p parser) parseFields(s *Schedule, parts []span) error {
	if len(parts) != len(fields) {
		return p.failWhole(countProblem(len(parts)), p.countHint(parts))
	}
	var parsed [len(allFields)]values
	parsed[second].set = 1
	for i := range fields {
		var err error
		if parsed[minute+i], err = p.parseField(&fields[i], parts[i]); err != nil {
			return p.unquestionable(parts, parts[i], err)
		}
	}
	s.calendar = calendarOf(&parsed)
	if !s.calendar.possible() {
		return p.fail("day-of-month", parts[dayOfMonth-minute], "none of the months has this day, so it is never due", lastDayHint)
	}
	return nil
}

// calendarOf returns the calendar of the fields.
func calendarOf(v *[len(allFields)]values) calendar {
	relative := v[dayOfMonth].relative
	relative.nth, relative.lastWeek = v[dayOfWeek].relative.nth, v[dayOfWeek].relative.lastWeek
	return calendar{
		seconds:   v[second].set,
		minutes:   v[minute].set,
		hours:     uint32(v[hour].set),
		days:      uint32(v[dayOfMonth].set >> 1),
		months:    uint16(v[month].set),
		weekdays:  uint8(v[dayOfWeek].set),
		starred:   v[second].starred || v[minute].starred || v[hour].starred,
		eitherDay: !v[dayOfMonth].starred && !v[dayOfWeek].starred && !v[dayOfWeek].both,
		relative:  relative,
		years:     v[year].years,
	}
}

func countProblem(n int) string {
	return count(n, "field") + ", want 5 (minute hour day-of-month month day-of-week)"
}

// count returns "1 field" for one, and "2 fields" for two.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
