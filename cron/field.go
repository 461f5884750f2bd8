package cron

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A field describes one of the fields of a spec.
type field struct {
	name      string
	low, high int      // the least and the greatest number that may be written
	last      int      // the last value of * and of 5/15
	names     []string // names of the numbers from low on
}

// The fields of the extended language. The plain language has those from minute to
// day-of-week.
const (
	second = iota
	minute
	hour
	dayOfMonth
	month
	dayOfWeek
	year
)

var allFields = [...]field{
	second:     {name: "second", low: 0, high: 59, last: 59},
	minute:     {name: "minute", low: 0, high: 59, last: 59},
	hour:       {name: "hour", low: 0, high: 23, last: 23},
	dayOfMonth: {name: "day-of-month", low: 1, high: 31, last: 31},
	month: {name: "month", low: 1, high: 12, last: 12, names: []string{
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	// 7 is another name of Sunday, so * and 1/2 end at 6.
	dayOfWeek: {name: "day-of-week", low: 0, high: 7, last: 6, names: []string{
		"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	year: {name: "year", low: firstYear, high: lastYear, last: lastYear},
}

// fields are those of the plain language.
var fields = allFields[minute : dayOfWeek+1]

// is reports whether f is the field with that index.
func (f *field) is(index int) bool { return f == &allFields[index] }

// isDay reports whether f is one of the two fields of days.
func (f *field) isDay() bool { return f.is(dayOfMonth) || f.is(dayOfWeek) }

// values are what a field selects.
type values struct {
	set      uint64 // bit v is the value v; not of years
	years    yearSet
	relative relativeDays
	starred  bool

	// Of the extended language only:
	text  string // the field in its one spelling
	both  bool   // a plus: a day must match both day fields
	extra bool   // the plain language cannot say it
}

// add adds one value, which may be beyond the last one by less than the field has
// values, and then counts from the first one on.
func (v *values) add(f *field, value int) {
	if value > f.last {
		value -= f.last - f.low + 1
	}
	if f.is(year) {
		v.years.add(value)
	} else {
		v.set |= 1 << value
	}
}

// parseField returns the values of a field.
func (p parser) parseField(f *field, where span) (v values, err error) {
	if p.ext != nil && f.isDay() {
		if where.text == "?" {
			where.text = "*"
		}
		if text, ok := strings.CutPrefix(where.text, "+"); ok && f.is(dayOfWeek) {
			where, v.both = where.part(1, text), true
		}
	}
	v.starred = strings.HasPrefix(where.text, "*")
	var texts []string
	at := 0
	for item := range strings.SplitSeq(where.text, ",") {
		if item == "" {
			return values{}, p.fail(f.name, where, "an item of the list is empty",
				"remove the extra comma, and any blank beside a comma")
		}
		text, err := p.parseItem(f, where.part(at, item), &v)
		if err != nil {
			return values{}, err
		}
		if p.ext != nil {
			for one := range strings.SplitSeq(text, ",") { // H and ~ may stand for several
				if !slices.Contains(texts, one) {
					texts = append(texts, one)
				}
			}
		}
		at += len(item) + 1
	}
	v.text = strings.Join(texts, ",")
	return v, nil
}

// parseItem parses an item of a list, adds its values to v, and returns its one
// spelling. Besides the items of the extended language it is a star, a value or a
// range, with or without a step.
func (p parser) parseItem(f *field, item span, v *values) (text string, err error) {
	if p.ext != nil {
		if text, done, err := p.parseSpecial(f, item, v); done || err != nil {
			return text, err
		}
	}
	body, stepText, stepped := strings.Cut(item.text, "/")
	low, high, err := p.parseRange(f, item.part(0, body), stepped)
	if err != nil {
		return "", err
	}
	step := 1
	if stepped {
		if step, err = p.parseStep(f, item, stepText, zeroHint(body)); err != nil {
			return "", err
		}
		if step > 1 && step > high-low {
			err := p.note(p.fail(f.name, item,
				fmt.Sprintf("the step is too long for %d to %d and selects only %d", low, high, low),
				stepHint(f, body == "*", low, step)))
			if err != nil {
				return "", err
			}
		}
	}
	for value := low; value <= high; value += step {
		v.add(f, value)
	}
	if p.ext == nil {
		return "", nil
	}
	if f.is(dayOfWeek) && p.ext.sundayIsOne && body != "*" {
		v.extra = v.extra || high > f.high // a range that continues past the end
		text = f.names[low%7]
		if strings.Contains(body, "-") {
			text += "-" + f.names[high%7]
		}
		if stepped {
			text += "/" + strconv.Itoa(step)
		}
		return text, nil
	}
	text = strings.ToLower(item.text)
	switch _, _, err := (parser{spec: p.spec}).parseRange(f, item.part(0, body), stepped); {
	case err == nil: // the plain language has it, too
	case high > f.high: // it continues past the end
		v.extra = true
	default: // it ends at Sunday as 0, or begins with it as 7
		text = strconv.Itoa(low) + "-" + strconv.Itoa(high)
		if stepped {
			text += "/" + stepText
		}
	}
	return text, nil
}

// parseStep parses the step of an item.
func (p parser) parseStep(f *field, item span, text, ifZero string) (int, error) {
	step, ok := number(text)
	switch {
	case !ok:
		return 0, p.fail(f.name, item, "a step must be a number", `write a step such as "*/15" or "10-40/5"`)
	case step == 0:
		return 0, p.fail(f.name, item, "a step must be at least 1", ifZero)
	}
	return step, nil
}

// parseRange parses an item without its step: a star, a value, or a range of values.
func (p parser) parseRange(f *field, body span, stepped bool) (low, high int, err error) {
	if body.text == "*" {
		return f.low, f.last, nil
	}
	if strings.HasPrefix(body.text, "*") {
		return 0, 0, p.fail(f.name, body, "a star may be followed only by a slash and a step", `write "*" or "*/15"`)
	}
	first, second, isRange := strings.Cut(body.text, "-")
	if isRange && (first == "" || second == "" || strings.Contains(second, "-")) {
		return 0, 0, p.fail(f.name, body, "a range has two ends and one dash",
			fmt.Sprintf(`write it as "%d-%d"`, f.low+1, f.low+3))
	}
	if low, err = p.parseValue(f, body.part(0, first)); err != nil {
		return 0, 0, err
	}
	if !isRange {
		if stepped {
			return low, max(low, f.last), nil
		}
		return low, low, nil
	}
	end := body.part(len(first)+1, second)
	if high, err = p.parseValue(f, end); err != nil {
		return 0, 0, err
	}
	// The name sun ends a range as 7, as in fri-sun, unless the range begins with it.
	if f.is(dayOfWeek) && high == 0 && low > 0 && is(end, "sun") {
		high = 7
	}
	if low > high && p.ext != nil && !f.is(year) {
		if low > f.last { // 7, which is Sunday
			low = f.low
			return low, high, nil
		}
		return low, high + f.last - f.low + 1, nil
	}
	if low > high {
		return 0, 0, p.fail(f.name, body, "the range runs backwards", wrapHint(f, low, high, stepped))
	}
	return low, high, nil
}

// parseValue parses a number or a name.
func (p parser) parseValue(f *field, value span) (int, error) {
	for i, name := range f.names {
		if is(value, name) {
			return f.low + i, nil
		}
	}
	low, must := f.low, f.must()
	if p.ext != nil && p.ext.sundayIsOne && f.is(dayOfWeek) {
		low, must = 1, "must be 1 (Sunday) to 7 or sun to sat"
	}
	n, ok := number(value.text)
	if !ok {
		return 0, p.fail(f.name, value, must, valueHint(f, value.text, p.ext != nil))
	}
	if n < low || n > f.high {
		return 0, p.fail(f.name, value, must, "")
	}
	return n - (low - f.low), nil
}

// must returns the text that says which values f takes.
func (f *field) must() string {
	s := fmt.Sprintf("must be %d to %d", f.low, f.high)
	if f.names != nil {
		s += fmt.Sprintf(" or %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return s
}

// number parses an unsigned decimal number. A number too large for any field may be
// returned as another one that is too large for any field.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), 9999)
	}
	return n, s != ""
}
