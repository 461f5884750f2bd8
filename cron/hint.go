package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// This file guesses what an invalid spec was meant to be. Nothing here decides whether
// a spec is valid, except that characters outside of ASCII never are.

// checkCharacters fails at the first character that is not allowed in a spec, such as
// the full-width digits and no-break spaces that word processors insert.
func (p parser) checkCharacters() error {
	for i, r := range p.spec {
		if r > ' ' && r < 0x7f || r < 0x80 && isBlank(byte(r)) {
			continue
		}
		if r == utf8.RuneError && !strings.HasPrefix(p.spec[i:], string(r)) {
			return p.fail("character", span{p.spec[i : i+1], i}, "is not UTF-8 text", "")
		}
		where := span{string(r), i}
		if r < 0x80 {
			return p.fail("character", where, "is a control character", "remove it")
		}
		if r == '\ufeff' {
			return p.fail("character", where, "is a byte order mark (BOM)", "remove it; editors save UTF-8 without BOM, too")
		}
		if unicode.Is(unicode.Cf, r) {
			return p.fail("character", where, fmt.Sprintf("is %U, which cannot be seen", r), "remove it")
		}
		hint := "use plain ASCII"
		if twin, ok := asciiTwin(r); ok {
			hint = fmt.Sprintf("write a plain %q", twin)
		}
		return p.fail("character", where, fmt.Sprintf("is %U, not ASCII", r), hint)
	}
	return nil
}

// asciiTwin returns the ASCII character that r looks like.
func asciiTwin(r rune) (rune, bool) {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
		return r - 0xFEE0, true
	case unicode.Is(unicode.Zs, r):
		return ' ', true
	case unicode.Is(unicode.Pd, r) || r == '−':
		return '-', true
	case r == '∗' || r == '⁎' || r == '✱':
		return '*', true
	case r == '∕' || r == '⁄':
		return '/', true
	case r == '،' || r == '、':
		return ',', true
	}
	return 0, false
}

// countHint guesses why a spec does not have five fields.
func (p parser) countHint(parts []span) string {
	for _, part := range parts {
		if strings.HasPrefix(part.text, ",") || strings.HasSuffix(part.text, ",") {
			return "a list has no blanks"
		}
	}
	first, last := parts[:min(len(fields), len(parts))], parts[max(0, len(parts)-len(fields)):]
	switch n := len(parts); {
	case n == 1 && !strings.ContainsAny(parts[0].text, "*0123456789"):
		return wordHint("@" + parts[0].text)
	case n < len(fields):
		return `write "*" for a field that does not matter`
	case n == len(fields)+1:
		quartz, with := unquestioned(last)
		bySeconds, byYears := p.isSecond(parts[0]) && p.valid(quartz), isYear(parts[n-1].text) && p.valid(first)
		switch {
		case with && strings.ContainsAny(quartz[4].text, "1234567"):
			return quartzDays
		case bySeconds && byYears: // some have seconds first, and others years last
			return fmt.Sprintf("seconds and years are not supported: if the first field has seconds, write %s; if the last has years, %s",
				short(joined(quartz)), short(joined(first)))
		case bySeconds:
			return fmt.Sprintf("seconds are not supported: without them it is %s; for less than a minute use @every",
				short(joined(quartz)))
		case p.valid(quartz) && byYears:
			return fmt.Sprintf("seconds and years are not supported: if the first field has seconds, use @every; if the last has years, write %s",
				short(joined(first)))
		case p.valid(quartz) && (with || !p.valid(first)):
			return "seconds are not supported; for less than a minute use @every"
		}
	case n == len(fields)+2 && isYear(parts[n-1].text):
		quartz, with := unquestioned(parts[1 : len(fields)+1])
		switch {
		case with && strings.ContainsAny(quartz[4].text, "1234567"):
			return quartzDays
		case p.valid(quartz) && p.isSecond(parts[0]):
			return fmt.Sprintf("seconds and years are not supported: without them it is %s; for less than a minute use @every",
				short(joined(quartz)))
		case p.valid(quartz):
			return "seconds and years are not supported; for less than a minute use @every"
		}
	}
	if p.valid(first) {
		return fmt.Sprintf("years and commands are not supported: without them it is %s", short(joined(first)))
	}
	return "seconds, years and commands are not supported"
}

const quartzDays = `seconds, years and "?" are Quartz's, which also counts Sunday as 1`

// unquestioned returns the parts with a star for each question mark, and whether there is one. Quartz has them.
func unquestioned(parts []span) (stars []span, found bool) {
	stars = slices.Clone(parts)
	for i := range stars {
		if stars[i].text == "?" {
			stars[i].text, found = "*", true
		}
	}
	return stars, found
}

// isSecond reports whether part is one second of a minute: without it, a schedule is as often due as before.
func (p parser) isSecond(part span) bool {
	n, ok := number(part.text)
	return ok && n < 60
}

// isYear reports whether a last field may be one of years.
func isYear(text string) bool {
	return text == "*" || len(text) >= 4 && strings.Trim(text, "0123456789,-/*") == ""
}

// valid reports whether the parts are five valid fields.
func (p parser) valid(parts []span) bool {
	var s Schedule
	p.notes, p.ext = nil, nil
	return len(parts) == len(fields) && p.parseFields(&s, parts) == nil
}

// valueHint guesses what was meant by a text that is neither a number nor a name.
func valueHint(f *field, text string, extended bool) string {
	if quartz := "L, W and # are for the extended language: write \"@extended\" before the fields"; !extended {
		switch {
		case strings.Contains(text, "~"):
			return `a random value, "~", is not supported: write one of your own`
		case isHash(text):
			return "H, Jenkins' hash of a name, is for the extended language; here write a value of your own"
		case isQuartz(f, text):
			return quartz
		}
	}
	switch text {
	case "":
		return ""
	case "?":
		return `write "*"; the question mark is Quartz's`
	case "@":
		return "an @word takes the place of all five fields"
	}
	for i := range fields {
		other := &fields[i]
		for j, name := range other.names {
			if !strings.HasPrefix(strings.ToLower(text), name) {
				continue
			}
			if other != f {
				return fmt.Sprintf("%s is a name for the field %s", name, other.name)
			}
			return fmt.Sprintf("write %q or \"%d\"", name, other.low+j)
		}
	}
	if near, ok := nearest(text, f.names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if strings.Trim(text, "0123456789") == "." {
		return "write whole numbers"
	}
	if strings.Contains(text, "=") {
		return "settings go on lines of their own"
	}
	return ""
}

// unquestionable returns the error of the fields of a plain spec: err, that of one of them, or if that is a question mark
// that of an L, W or #. Both are Quartz's, but only the latter has no equivalent in the plain language.
func (p parser) unquestionable(parts []span, at span, err error) error {
	for i := range fields {
		if f := &fields[i]; at.text == "?" && isQuartz(f, parts[i].text) {
			if _, other := p.parseField(f, parts[i]); other != nil {
				return other
			}
		}
	}
	return err
}

// isQuartz reports whether text looks like an L, W or # of Quartz's.
func isQuartz(f *field, text string) bool {
	text = strings.ToLower(text)
	for _, name := range f.names {
		text = strings.TrimPrefix(text, name)
	}
	switch strings.Trim(text, "0123456789#") {
	case "l", "w", "lw":
		return true
	}
	return strings.Contains(text, "#") && strings.Trim(text, "0123456789#l") == ""
}

const lastDayHint = `for the last day of a month write "L" for it, and "@extended" before the fields`

// wrapHint returns how to write a range that continues past the end of its field.
func wrapHint(f *field, low, high int, stepped bool) string {
	if low > f.last { // 7 is Sunday, but only at the end of a range
		return fmt.Sprintf("write %q to begin on Sunday", rangeText(f.low, high))
	}
	if stepped {
		return fmt.Sprintf("swap its ends, or write two ranges, one that ends at %d and one that begins at %d",
			f.last, f.low)
	}
	if f.is(dayOfWeek) && high == 0 {
		return fmt.Sprintf(`write "%d-7" to end on Sunday`, low)
	}
	return fmt.Sprintf(`swap its ends, or write "%s,%s" to continue past the end`,
		rangeText(low, f.last), rangeText(f.low, high))
}

func rangeText(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// stepHint returns how to write what a step longer than its range may have meant. Without a star, a schedule may follow
// clock changes otherwise, and a day of the week would count beside a day of the month, and not with it.
func stepHint(f *field, starred bool, low, step int) string {
	hint := fmt.Sprintf(`write "%d" if that is meant`, low)
	switch {
	case !starred || f.name == "month":
	case f.name == "minute" || f.name == "hour":
		hint = fmt.Sprintf(`write "%d" for a fixed time`, low)
	default:
		return "write the days that are meant"
	}
	switch f.name {
	case "minute":
		hint += fmt.Sprintf(`, or "@every %dm" for every %d minutes of real time`, step, step)
	case "hour":
		hint += fmt.Sprintf(`, or "@every %dh" for every %d hours of real time`, step, step)
	}
	return hint
}

// zeroHint returns what a step of zero after body may have meant.
func zeroHint(body string) string {
	switch {
	case body == "*":
		return `write "*" for every value`
	case strings.Contains(body, "-"):
		return fmt.Sprintf("write %q for every value of the range", body)
	}
	return fmt.Sprintf("write %q for that value alone, or %q for every value from it on", body, body+"/1")
}

// wordHint guesses which @word was meant.
func wordHint(text string) string {
	names := []string{"@every", since, "@reboot"}
	for _, w := range words {
		names = append(names, w.name)
	}
	if near, ok := nearest(text, names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the words are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, @since and @every"
}

// durationHint guesses what is wrong with a duration.
func durationHint(text string) string {
	if n, ok := number(text); ok && n > 0 && n < 9999 {
		return fmt.Sprintf("give it a unit, such as %q or %q", text+"s", text+"m")
	}
	switch d, unit := looseDuration(strings.ToLower(text)); {
	case unit == "month" || unit == "year":
		return `months and years differ in length: write "@monthly", "@yearly" or five fields`
	case d <= 0:
	case unit == "day" || unit == "week":
		return fmt.Sprintf("there is no unit for %ss: write %q", unit, brief(d))
	default:
		return fmt.Sprintf("write %q", brief(d))
	}
	return `write it like "90s" or "1h30m", up to about 290 years`
}

// isTooLong reports whether text is a duration but for its length.
func isTooLong(text string) bool {
	var ones strings.Builder
	for i, c := range text {
		if c < '0' || c > '9' {
			ones.WriteRune(c)
		} else if i == 0 || text[i-1] < '0' || text[i-1] > '9' {
			ones.WriteByte('1')
		}
	}
	_, err := time.ParseDuration(strings.ToLower(ones.String()))
	return err == nil
}

// looseUnits are units as people write them, from the longest to the shortest. Months and years have no length.
var looseUnits = []struct {
	name   string
	length time.Duration
}{
	{"year", 0}, {"month", 0}, {"week", 7 * 24 * time.Hour}, {"day", 24 * time.Hour},
	{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second},
}

// looseDuration reads a duration in units of any spelling, such as 1w2d or 5min. It returns the greatest of its units
// by name. The duration is 0 if the text is none, or a month or a year, which have no length.
func looseDuration(text string) (total time.Duration, greatest string) {
	most := len(looseUnits)
	for text != "" {
		digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
		n, ok := number(digits)
		text = text[len(digits):]
		name := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz"))]
		text = text[len(name):]
		unit := looseUnit(name)
		if !ok || n >= 9999 || unit < 0 {
			return 0, ""
		}
		total += time.Duration(n) * looseUnits[unit].length
		most = min(most, unit)
	}
	if most == len(looseUnits) {
		return 0, ""
	}
	return total, looseUnits[most].name
}

// looseUnit returns the index of the unit with that name, its plural, or a short form of it. It returns -1 if there is
// none.
func looseUnit(name string) int {
	switch name {
	case "hr", "hrs":
		name = "hour"
	case "ms":
		return -1 // neither months nor minutes
	case "m": // the month is mo
		name = "minute"
	case "yr", "yrs":
		name = "year"
	}
	for i, unit := range looseUnits {
		if name != "" && strings.HasPrefix(unit.name+"s", strings.TrimSuffix(name, "s")) {
			if name != "s" || unit.name == "second" {
				return i
			}
		}
	}
	return -1
}

// brief returns d, which is whole seconds, without units that are zero.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-2]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-2]
	}
	return text
}

// zoneHint guesses why a zone could not be loaded.
func zoneHint(name string) string {
	const known = "America/New_York"
	if _, err := time.LoadLocation(known); err != nil {
		return `this machine has no zone database: import _ "time/tzdata" in package main`
	}
	if likely := titled(name); likely != name {
		if _, err := time.LoadLocation(likely); err == nil {
			return fmt.Sprintf("did you mean %q?", likely)
		}
	}
	return fmt.Sprintf("names are capitalized, as in %q; abbreviations such as PST are not names", known)
}

// titled capitalizes the letters that begin a word and puts the others in lower case.
func titled(s string) string {
	b := []byte(strings.ToLower(s))
	for i := range b {
		if (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
