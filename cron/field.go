package cron

import (
	"fmt"
	"strings"
)

// A field describes one of the five fields of a spec.
type field struct {
	name      string
	low, high int      // the least and the greatest number that may be written
	last      int      // the last value of * and of 5/15
	names     []string // names of the numbers from low on
}

var fields = [5]field{
	{name: "minute", low: 0, high: 59, last: 59},
	{name: "hour", low: 0, high: 23, last: 23},
	{name: "day-of-month", low: 1, high: 31, last: 31},
	{name: "month", low: 1, high: 12, last: 12, names: []string{
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	// 7 is another name of Sunday, so * and 1/2 end at 6.
	{name: "day-of-week", low: 0, high: 7, last: 6, names: []string{
		"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// hasSunday reports whether f is day-of-week, in which 7 means 0.
func (f *field) hasSunday() bool { return f.last < f.high }

// parseField returns the values of a field as a set in which bit v is the value v.
func (p parser) parseField(f *field, where span) (set uint64, err error) {
	at := 0
	for item := range strings.SplitSeq(where.text, ",") {
		if item == "" {
			return 0, p.fail(f.name, where, "an item of the list is empty",
				"remove the extra comma, and any blank beside a comma")
		}
		values, err := p.parseItem(f, where.part(at, item))
		if err != nil {
			return 0, err
		}
		set |= values
		at += len(item) + 1
	}
	if f.hasSunday() && set>>7&1 != 0 {
		set = set&^(1<<7) | 1
	}
	return set, nil
}

// parseItem parses an item of a list: a star, a value or a range, with or without a step.
func (p parser) parseItem(f *field, item span) (set uint64, err error) {
	body, stepText, stepped := strings.Cut(item.text, "/")
	low, high, err := p.parseRange(f, item.part(0, body), stepped)
	if err != nil {
		return 0, err
	}
	step := 1
	if stepped {
		var ok bool
		step, ok = number(stepText)
		switch {
		case !ok:
			return 0, p.fail(f.name, item, "a step must be a number", `write a step such as "*/15" or "10-40/5"`)
		case step == 0:
			return 0, p.fail(f.name, item, "a step must be at least 1", zeroHint(body))
		case step > 1 && step > high-low:
			err := p.fail(f.name, item,
				fmt.Sprintf("the step is too long for %d to %d and selects only %d", low, high, low),
				stepHint(f, body == "*", low, step))
			if p.notes == nil {
				return 0, err
			}
			*p.notes = append(*p.notes, err)
		}
	}
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set, nil
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
	if f.hasSunday() && high == 0 && low > 0 && is(end, "sun") {
		high = 7
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
	n, ok := number(value.text)
	if !ok {
		return 0, p.fail(f.name, value, f.must(), valueHint(f, value.text))
	}
	if n < f.low || n > f.high {
		return 0, p.fail(f.name, value, f.must(), "")
	}
	return n, nil
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
