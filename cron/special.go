package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// parseSpecial parses an item that only the extended language has, adds its values to v, and returns its one spelling.
// It reports whether it is such an item.
func (p parser) parseSpecial(f *field, item span, v *values) (text string, done bool, err error) {
	switch {
	case f.is(year):
	case isHash(item.text):
		text, err = p.parseHash(f, item, v)
		return text, true, err
	case strings.Contains(item.text, "~"):
		text, err = p.parseRandom(f, item, v)
		return text, true, err
	case f.is(dayOfMonth):
		return p.parseRelativeDay(f, item, v)
	case f.is(dayOfWeek):
		return p.parseRelativeWeekday(f, item, v)
	}
	return "", false, nil
}

// parseRelativeDay parses L, L-3, LW, L-3W and 15W.
func (p parser) parseRelativeDay(f *field, item span, v *values) (text string, done bool, err error) {
	upper := strings.ToUpper(item.text)
	body, nearest := strings.CutSuffix(upper, "W")
	fromLast, last := strings.CutPrefix(body, "L")
	if !nearest && !last {
		return "", false, nil
	}
	v.extra = true
	if body == "" {
		return "", true, p.fail(f.name, item, "W needs a day before it",
			`write "15W" for the weekday nearest to the 15th, or "LW" for the last of the month`)
	}
	if !last {
		day, err := p.parseValue(f, item.part(0, item.text[:len(body)]))
		if err != nil {
			return "", true, err
		}
		v.relative.nearest |= 1 << (day - 1)
		return strconv.Itoa(day) + "W", true, nil
	}
	before := 0
	if fromLast != "" {
		digits, dash := strings.CutPrefix(fromLast, "-")
		n, ok := number(digits)
		if !dash || !ok || n > 30 {
			return "", true, p.fail(f.name, item, "must be L, LW, or L-1 to L-30", "")
		}
		before = n
	}
	text = "L"
	if before > 0 {
		text += "-" + strconv.Itoa(before)
	}
	if nearest {
		v.relative.lastNearest |= 1 << before
		return text + "W", true, nil
	}
	v.relative.last |= 1 << before
	return text, true, nil
}

// parseRelativeWeekday parses 5L, fri#2, fri#L and, where Sunday is 1, L.
func (p parser) parseRelativeWeekday(f *field, item span, v *values) (text string, done bool, err error) {
	day, nth, ok := strings.Cut(item.text, "#")
	last := ok && strings.EqualFold(nth, "L")
	if !ok {
		n := len(item.text) - 1
		if last = n >= 0 && item.text[n]|0x20 == 'l'; !last {
			return "", false, nil
		}
		day = item.text[:n]
	}
	if last && !ok && day == "" {
		if p.ext.sundayIsOne {
			v.add(f, 6)
			return "sat", true, nil
		}
		return "", true, p.fail(f.name, item, "L needs a day before it", `write "5L" for the last Friday of the month, or "6" for Saturdays`)
	}
	if day == "" {
		return "", true, p.fail(f.name, item, "# needs a day before it", `write "fri#2" for the second Friday of the month`)
	}
	weekday, err := p.parseValue(f, item.part(0, day))
	if err != nil {
		return "", true, err
	}
	weekday %= 7
	v.extra = true
	if last {
		v.relative.lastWeek |= 1 << weekday
		return f.names[weekday] + "L", true, nil
	}
	n, isNumber := number(nth)
	if !isNumber || n < 1 || n > 5 {
		return "", true, p.fail(f.name, item.part(len(day)+1, nth), "must be 1 to 5, or L for the last of the month", "")
	}
	v.relative.nth[weekday] |= 1 << n
	return f.names[weekday] + "#" + strconv.Itoa(n), true, nil
}

// isHash reports whether text is an H, perhaps with a range or a step.
func isHash(text string) bool {
	return text != "" && text[0]|0x20 == 'h' && (len(text) == 1 || text[1] == '(' || text[1] == '/')
}

// parseHash parses H, H(0-29), H/15 and H(0-29)/10.
func (p parser) parseHash(f *field, item span, v *values) (string, error) {
	low, high := f.low, f.last
	if f.is(dayOfMonth) {
		high = 28
	}
	rest := item.text[1:]
	if strings.HasPrefix(rest, "(") {
		end := strings.IndexByte(rest, ')')
		if end < 0 || !strings.Contains(rest[:end], "-") || rest[end+1:] != "" && rest[end+1] != '/' {
			return "", p.fail(f.name, item, "after H comes a range in parentheses, or a step", `write it as "H(0-29)" or "H(0-29)/10"`)
		}
		var err error
		body := item.part(2, rest[1:end])
		if low, high, err = p.parseRange(f, body, false); err != nil {
			return "", err
		}
		rest = rest[end+1:]
	}
	_, step, stepped := strings.Cut(rest, "/")
	return p.choose(f, item, v, low, high, step, stepped)
}

// parseRandom parses ~, 5~, ~29 and 5~29, perhaps with a step.
func (p parser) parseRandom(f *field, item span, v *values) (string, error) {
	body, step, stepped := strings.Cut(item.text, "/")
	from, to, _ := strings.Cut(body, "~")
	low, high := f.low, f.last
	var err error
	if from != "" {
		if low, err = p.parseValue(f, item.part(0, from)); err != nil {
			return "", err
		}
	}
	if to != "" {
		if high, err = p.parseValue(f, item.part(len(from)+1, to)); err != nil {
			return "", err
		}
	}
	if low > high {
		return "", p.fail(f.name, item, "the range runs backwards", "swap its ends")
	}
	return p.choose(f, item, v, low, high, step, stepped)
}

// choose adds the values from low to high that the name selects, and returns them as a list.
func (p parser) choose(f *field, item span, v *values, low, high int, stepText string, stepped bool) (string, error) {
	if p.ext.name == "" {
		return "", p.fail(f.name, item, "there is no name to compute it from", "set Extended.Name, or write a value of your own")
	}
	step := high - low + 1
	if stepped {
		n, err := p.parseStep(f, item, stepText, "leave the step out for one value")
		if err != nil {
			return "", err
		}
		if n > 1 && n > high-low {
			err := p.note(p.fail(f.name, item, fmt.Sprintf("the step is too long for %d to %d and selects only one value", low, high),
				"leave the step out for one value"))
			if err != nil {
				return "", err
			}
		}
		step = min(step, n)
	}
	var texts []string
	for value := low + hash(p.ext.name, f.name, step); value <= high; value += step {
		v.add(f, value)
		written := value
		if written > f.last {
			written -= f.last - f.low + 1
		}
		texts = append(texts, strconv.Itoa(written))
	}
	return strings.Join(texts, ","), nil
}

// hash returns a number from 0 to n-1 that depends on the name and the field. Schedules rely on it: it never changes.
// It is FNV-1a with 64 bits, mixed as in SplitMix64, since the last letters of a name
// hardly change the upper bits of FNV-1a.
func hash(name, field string, n int) int {
	h := uint64(14695981039346656037)
	for _, text := range []string{field, "\x00", name} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * 1099511628211
		}
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	return int(h % uint64(n))
}
