package cron_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// A judge decides whether a wall time matches a text of the extended language, one field and one item
// at a time, with the calendar of package time. It shares nothing with the package, nor with the oracle
// of the plain language, whose clocks it follows.
type judge struct {
	fields  []string // second, minute, hour, day-of-month, month, day-of-week, year
	starred bool
	either  bool
	both    bool
}

// newJudge reads a text as String writes it.
func newJudge(text string) judge {
	if strings.HasPrefix(text, "CRON_TZ=") {
		_, text, _ = strings.Cut(text, " ")
	}
	f := strings.Fields(strings.TrimPrefix(text, "@extended "))
	if len(f) == 5 {
		f = append([]string{"0"}, f...)
	}
	if len(f) == 6 {
		f = append(f, "*")
	}
	var j judge
	f[5], j.both = strings.CutPrefix(f[5], "+")
	j.fields = f
	j.starred = f[0][0] == '*' || f[1][0] == '*' || f[2][0] == '*'
	j.either = f[3][0] != '*' && f[5][0] != '*' && !j.both
	return j
}

func (j judge) matches(t time.Time) bool {
	date := j.any(3, t.Day(), 1, 31, "", func(item string) bool { return dateMatches(item, t) })
	weekday := j.any(5, int(t.Weekday()), 0, 6, "sun mon tue wed thu fri sat", func(item string) bool { return weekdayMatches(item, t) })
	day := date && weekday
	if j.either {
		day = date || weekday
	}
	no := func(string) bool { return false }
	return day && j.any(0, t.Second(), 0, 59, "", no) && j.any(1, t.Minute(), 0, 59, "", no) &&
		j.any(2, t.Hour(), 0, 23, "", no) && j.any(6, t.Year(), 1970, 2099, "", no) &&
		j.any(4, int(t.Month()), 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec", no)
}

// any reports whether an item of the field has the value, or matches otherwise.
func (j judge) any(field, value, low, high int, names string, other func(string) bool) bool {
	if j.fields[field] == "*" {
		return true
	}
	number := func(s string) (int, bool) {
		if i := slices.Index(strings.Fields(names), s); i >= 0 {
			return low + i, true
		}
		n, err := strconv.Atoi(s)
		return n, err == nil
	}
	for _, item := range strings.Split(j.fields[field], ",") {
		if other(item) {
			return true
		}
		body, stepText, stepped := strings.Cut(item, "/")
		step, _ := strconv.Atoi(stepText)
		step = max(step, 1)
		from, to, ranged := strings.Cut(body, "-")
		first, ok := number(from)
		if body == "*" {
			first, ok = low, true
		}
		if !ok {
			continue
		}
		last := first
		switch {
		case body == "*" || stepped && !ranged:
			last = max(first, high)
		case ranged:
			if last, ok = number(to); !ok {
				continue
			}
		}
		size := high - low + 1
		if last < first {
			last += size
		}
		for v := first; v <= last; v += step {
			if v == value || v-size == value {
				return true
			}
		}
	}
	return false
}

// dateMatches reports whether t is the day of an L or W.
func dateMatches(item string, t time.Time) bool {
	lastDay := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	item, nearest := strings.CutSuffix(item, "W")
	back, isLast := strings.CutPrefix(item, "L")
	day := 0
	switch {
	case isLast && back == "":
		day = lastDay
	case isLast:
		n, _ := strconv.Atoi(back[1:])
		day = lastDay - n
	case nearest:
		day, _ = strconv.Atoi(item)
	}
	if day < 1 || day > lastDay {
		return false
	}
	if !nearest {
		return day == t.Day()
	}
	// The working day of the month that is least far; no two are equally far.
	best := 0
	for d := 1; d <= lastDay; d++ {
		weekday := time.Date(t.Year(), t.Month(), d, 0, 0, 0, 0, time.UTC).Weekday()
		if weekday == time.Saturday || weekday == time.Sunday {
			continue
		}
		if best == 0 || max(d-day, day-d) < max(best-day, day-best) {
			best = d
		}
	}
	return best == t.Day()
}

// weekdayMatches reports whether t is the day of an L or #.
func weekdayMatches(item string, t time.Time) bool {
	name := strings.ToLower(t.Weekday().String()[:3])
	if item == name+"L" {
		return t.AddDate(0, 0, 7).Month() != t.Month()
	}
	n := 0
	for d := t; d.Month() == t.Month(); d = d.AddDate(0, 0, -7) {
		n++
	}
	return item == name+"#"+strconv.Itoa(n)
}

// due steps through real time as oracle.due does.
func (j judge) due(loc *time.Location, start, end time.Time, tick time.Duration) (due []time.Time) {
	begin := start.Add(-25 * time.Hour).Truncate(tick)
	virtual := wall(begin.In(loc))
	for t := begin.Add(tick); t.Before(end); t = t.Add(tick) {
		now := wall(t.In(loc))
		hit := j.starred && j.matches(now)
		for virtual.Before(now) {
			virtual = virtual.Add(tick)
			hit = hit || !j.starred && j.matches(virtual)
		}
		if hit && !t.Before(start) {
			due = append(due, t)
		}
	}
	return due
}

// randomExtended returns a text of the extended language that has seconds if asked.
func randomExtended(r *rand.Rand, seconds bool) string {
	pick := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	first := "0"
	if seconds {
		first = pick("*", "*/20", "0,30", "5/15", "59", "0", "50-10/7")
	}
	for {
		text := strings.Join([]string{"@extended", first,
			pick("*", "*/7", "0", "30", "15-45/10", "59", "55-5/3", fmt.Sprint(r.IntN(60))),
			pick("*", "*/5", "0", "1", "2", "1-3", "22-2", "0,2,23", fmt.Sprint(r.IntN(24))),
			pick("*", "*", "?", "*/2", "1W", "LW", "L", "L-3", "L-30", "L-2W", "15W,L", "31W", "29-2", "1-7", fmt.Sprint(1+r.IntN(31))),
			pick("*", "*", "*", "nov-feb", "*/3", "2", fmt.Sprint(1+r.IntN(12))),
			pick("*", "*", "?", "friL", "sun#5", "1#1,3#L", "+mon-fri", "+sat#1", "fri-mon", "+0L", "5,2#3", "+7"),
			pick("*", "*", "*", "2026", "2027-2090/3", "2024,2028"),
		}, " ")
		if _, err := cron.Parse(text); err == nil {
			return text
		}
	}
}

// checkExtended requires that Next and Prev agree with the judge in one window.
func checkExtended(t *testing.T, s cron.Schedule, want []time.Time, start, end time.Time) {
	t.Helper()
	got := between(s, start, end)
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		for i := range max(len(got), len(want)) {
			if at(got, i) != at(inZone(want, s.Location()), i) {
				t.Fatalf("%q: due time %d of %d differs\n\tgot  %v\n\twant %v of %d", s, i, len(got), at(got, i), at(inZone(want, s.Location()), i), len(want))
			}
		}
	}
	for i, due := range want {
		for _, before := range []time.Time{due.Add(1), due.Add(time.Second)} {
			if prev := s.Prev(before); !prev.Equal(due) {
				t.Fatalf("%q: before %v due at %v, want %v", s, before.In(s.Location()), prev, due.In(s.Location()))
			}
		}
		if i > 0 {
			if prev := s.Prev(due); !prev.Equal(want[i-1]) {
				t.Fatalf("%q: before %v due at %v, want %v", s, due.In(s.Location()), prev, want[i-1].In(s.Location()))
			}
		}
	}
	if len(want) > 0 {
		if prev := s.Prev(end); !prev.Equal(want[len(want)-1]) {
			t.Fatalf("%q: before %v due at %v, want %v", s, end, prev, want[len(want)-1])
		}
	}
}

func inZone(times []time.Time, loc *time.Location) (in []time.Time) {
	for _, t := range times {
		in = append(in, t.In(loc))
	}
	return in
}

// Next and Prev agree with the judge over all minutes of a year of several zones.
func TestExtendedAgreesWithJudgeOverYears(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	years := []int{2024, 2026, 2027, 2035, 2096}
	if os.Getenv("EXECUTOR_LONG") == "" {
		years = years[:1]
	}
	for _, year := range years {
		loc := zone(t, oracleZones[r.IntN(len(oracleZones))])
		start := time.Date(year, 1, 1, 0, 0, 0, 0, loc)
		text := randomExtended(r, false)
		t.Logf("%q in %v in %d", text, loc, year)
		s := in(t, loc, text)
		end := start.AddDate(1, 0, 0)
		checkExtended(t, s, newJudge(s.String()).due(loc, start, end, time.Minute), start, end)
	}
}

// Next and Prev agree with the judge at clock changes, to the minute.
func TestExtendedAgreesWithJudgeAtClockChanges(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 150
	if os.Getenv("EXECUTOR_LONG") == "" {
		rounds = 20
	}
	for range rounds {
		loc := zone(t, oracleZones[r.IntN(len(oracleZones))])
		middle := time.Date(1973+r.IntN(120), 1, 1, 0, r.IntN(365*24*60), 0, 0, time.UTC)
		if _, change := middle.In(loc).ZoneBounds(); !change.IsZero() {
			middle = change
		}
		start := middle.Add(-time.Duration(r.IntN(36*60)) * time.Minute)
		end := start.Add(72 * time.Hour)
		s := in(t, loc, randomExtended(r, false))
		checkExtended(t, s, newJudge(s.String()).due(loc, start, end, time.Minute), start, end)
	}
}

// Next and Prev agree with the judge at clock changes, to the second.
func TestExtendedAgreesWithJudgeToTheSecond(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 12
	if os.Getenv("EXECUTOR_LONG") == "" {
		rounds = 3
	}
	for range rounds {
		loc := zone(t, oracleZones[r.IntN(len(oracleZones))])
		middle := time.Date(2026+r.IntN(10), 1, 1, 0, r.IntN(365*24*60), 0, 0, time.UTC)
		if _, change := middle.In(loc).ZoneBounds(); !change.IsZero() {
			middle = change
		}
		start := middle.Add(-time.Duration(r.IntN(2*60*60)) * time.Second)
		end := start.Add(4 * time.Hour)
		s := in(t, loc, randomExtended(r, true))
		checkExtended(t, s, newJudge(s.String()).due(loc, start, end, time.Second), start, end)
	}
}

// Prev of the plain language agrees with the oracle in a crafted zone with several changes within
// two days.
func TestSchedulePrevAgreesWithOracleInCrowdedZone(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		day := 60 + r.IntN(200)
		rule := fmt.Sprintf("AST%dADT%d,J%d/%d,J%d/%d",
			r.IntN(6)-3, r.IntN(6)-3, day, r.IntN(24), day+r.IntN(2), r.IntN(24))
		loc := crafted(t, rule)
		start := time.Date(2027, 1, day-1, 0, r.IntN(48*60), 0, 0, time.UTC)
		end := start.Add(96 * time.Hour)
		t.Log(rule)
		s := in(t, loc, randomSpec(r))
		o, _ := oracleOf(s)
		checkExtended(t, s, o.due(loc, start, end, time.Minute), start, end)
	}
}

// No text makes Extended.Parse panic. What it accepts has a text with the same times, which
// match, and Prev goes back where Next came from.
func FuzzExtended(f *testing.F) {
	for _, spec := range slices.Concat(seedSpecs, []string{
		"H H * * *", "H(0-29)/10 * * * *", "~ 5~9 ~10 * *", "0 0 L * *", "0 0 L-3,LW,L-1W,15W * *", "0 0 * * friL,5#2,mon#l",
		"0 0 13 * +fri", "0 22-2 ? nov-feb ?", "@extended 0 0 0 1 1 * 2027", "@extended */10 * * * * *", "0 0 12 ? * 6L 2027/2",
		"H/0 * * * *", "H( * * * *", "0 0 W * *", "0 0 L-31 * *", "0 0 * * #", "0 0 * * L", "0 0 +1 * *", "@extended @daily", "@extended",
	}) {
		f.Add(spec, int64(1772952000), uint8(len(spec)))
	}
	ny := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, spec string, unix int64, settings uint8) {
		has := func(bit uint8) bool { return settings>>bit&1 != 0 }
		x := cron.Extended{Seconds: has(0), Years: has(1), SundayIsOne: has(2), BothDays: has(3), Name: "name", Location: ny}
		s, err := x.Parse(spec)
		if err != nil {
			checkPlace(t, err)
			return
		}
		again, err := cron.ParseIn(s.String(), s.Location())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q became %q: %q, %v", spec, s, again, err)
		}
		if again.Describe() != s.Describe() {
			t.Fatalf("%q: %q, and %q when parsed again", spec, s.Describe(), again.Describe())
		}
		after := time.Unix(unix, 0)
		for range 4 {
			next := s.Next(after)
			if other := again.Next(after); !other.Equal(next) {
				t.Fatalf("%q after %v: %v, and %v when parsed again", spec, after, next, other)
			}
			if next.IsZero() {
				return
			}
			if strings.Contains(s.String(), "@every") {
				return // it has no due times of its own
			}
			if prev := s.Prev(next.Add(1)); !next.After(after) || !prev.Equal(next) {
				t.Fatalf("%q: Next(%v) is %v, whose Prev is %v", spec, after, next, prev)
			}
			if prev := s.Prev(next); !prev.IsZero() && (!prev.Before(next) || !s.Next(prev).Equal(next)) {
				t.Fatalf("%q: Prev(%v) is %v, whose Next is %v", spec, next, prev, s.Next(prev))
			}
			if gapEnd, _ := next.ZoneBounds(); !plainWord(s) && !next.Equal(gapEnd) {
				if !newJudge(s.String()).matches(next) {
					t.Fatalf("%q is due at %v, which does not match", s, next)
				}
			}
			after = next
		}
	})
}

// plainWord reports whether a schedule is an @word of the plain language.
func plainWord(s cron.Schedule) bool {
	text := s.String()
	return strings.Contains(text, "@") && !strings.Contains(text, "@extended")
}
