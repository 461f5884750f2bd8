package cron_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// An oracle computes due times by stepping through real time, as the main loop of ISC
// cron does. It shares nothing with the package: it parses specs itself, holds fields as
// maps, and uses time.Time for the calendar.
type oracle struct {
	fields             [5]map[int]bool
	starred, eitherDay bool
}

// newOracle parses a valid spec of five fields.
func newOracle(spec string) oracle {
	var o oracle
	parts := strings.Fields(strings.ToLower(spec))
	months := strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	days := strings.Fields("sun mon tue wed thu fri sat")
	o.fields = [5]map[int]bool{
		oracleField(parts[0], 0, 59, nil),
		oracleField(parts[1], 0, 23, nil),
		oracleField(parts[2], 1, 31, nil),
		oracleField(parts[3], 1, 12, months),
		oracleField(parts[4], 0, 6, days),
	}
	o.fields[4][0] = o.fields[4][0] || o.fields[4][7]
	o.starred = parts[0][0] == '*' || parts[1][0] == '*'
	o.eitherDay = parts[2][0] != '*' && parts[4][0] != '*'
	return o
}

// oracleOf returns the oracle of a schedule. It reports false if the spec is an @word.
func oracleOf(s cron.Schedule) (oracle, bool) {
	spec := s.String()
	if strings.HasPrefix(spec, "CRON_TZ=") {
		_, spec, _ = strings.Cut(spec, " ")
	}
	if strings.HasPrefix(spec, "@") {
		return oracle{}, false
	}
	return newOracle(spec), true
}

func oracleField(text string, low, high int, names []string) map[int]bool {
	set := make(map[int]bool)
	value := func(s string) int {
		for i, name := range names {
			if s == name {
				return low + i
			}
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	for _, item := range strings.Split(text, ",") {
		body, step, stepped := strings.Cut(item, "/")
		from, to, ranged := strings.Cut(body, "-")
		first, last, by := value(from), value(from), 1
		switch {
		case body == "*":
			first, last = low, high
		case ranged && to == "sun" && first > 0:
			last = 7
		case ranged:
			last = value(to)
		case stepped:
			last = max(high, first)
		}
		if stepped {
			by, _ = strconv.Atoi(step)
		}
		for v := first; v <= last; v += by {
			set[v] = true
		}
	}
	return set
}

// matches reports whether the minute of t matches.
func (o oracle) matches(t time.Time) bool {
	day, weekday := o.fields[2][t.Day()], o.fields[4][int(t.Weekday())]
	if o.eitherDay {
		day = day || weekday
	} else {
		day = day && weekday
	}
	return o.fields[0][t.Minute()] && o.fields[1][t.Hour()] && o.fields[3][int(t.Month())] && day
}

// wall returns the time in UTC that has the same wall time as t.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// due returns the instants from start up to but not including end at which the spec is
// due in loc. It steps by tick, which must divide the offsets of loc in that window.
func (o oracle) due(loc *time.Location, start, end time.Time, tick time.Duration) []time.Time {
	var due []time.Time
	// Start early enough for the virtual clock to pass all that may be repeated in the
	// window: at most the 24 hours of a move across the date line.
	begin := start.Add(-25 * time.Hour).Truncate(tick)
	virtual := wall(begin.In(loc))
	for t := begin.Add(tick); t.Before(end); t = t.Add(tick) {
		local := t.In(loc)
		now := wall(local)
		hit := false
		if o.starred {
			hit = now.Second() == 0 && o.matches(now)
		}
		for virtual.Before(now) { // nothing to do while an hour is repeated
			virtual = virtual.Add(tick)
			hit = hit || !o.starred && virtual.Second() == 0 && o.matches(virtual)
		}
		if hit && !t.Before(start) {
			due = append(due, local)
		}
	}
	return due
}

// compare requires that Next agrees with the oracle in one window.
func compare(t *testing.T, spec string, loc *time.Location, start, end time.Time, tick time.Duration) {
	t.Helper()
	s := in(t, loc, spec)
	o, ok := oracleOf(s)
	if !ok {
		t.Fatalf("no oracle for %q", spec)
	}
	want := o.due(s.Location(), start, end, tick)
	got := between(s, start, end)
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || !want[i].Equal(got[i]) {
			t.Fatalf("%q in %v from %v to %v: due time %d differs\n\tgot  %v\n\twant %v",
				spec, loc, start.In(loc), end.In(loc), i, at(got, i), at(want, i))
		}
	}
}

func at(list []time.Time, i int) string {
	if i < len(list) {
		return list[i].Format("Mon 2006-01-02 15:04:05 -07:00:00")
	}
	return "none"
}

// oracleZones are zones with unusual clock changes, now or in the past.
var oracleZones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia",
	"Africa/Casablanca", "Antarctica/Troll", "America/Havana", "Asia/Kathmandu", "America/Caracas", "Africa/Cairo",
	"Pacific/Kwajalein", "America/St_Johns", "Asia/Gaza", "Asia/Pyongyang", "Europe/Dublin", "Pacific/Chatham",
	"America/Scoresbysund", "America/Santiago", "Asia/Amman", "Asia/Tehran", "Pacific/Norfolk", "Antarctica/Casey",
}

// randomSpec returns a valid spec with hours close to those of clock changes.
func randomSpec(r *rand.Rand) string {
	pick := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	for {
		spec := strings.Join([]string{
			pick("*", "*/7", "*/15", "0", "30", "0,30", "15-45/10", "59", "5/20", fmt.Sprint(r.IntN(60))),
			pick("*", "*/2", "*/5", "0", "1", "2", "1-3", "0,2,23", "22-23", "3/4", "0-23", fmt.Sprint(r.IntN(24))),
			pick("*", "*", "*", "*/2", "1", "1-7", "8-14,31", "29-31", "5/9", fmt.Sprint(1+r.IntN(28))),
			pick("*", "*", "*", "mar,nov", "3-11", "*/3", "oct-dec", fmt.Sprint(1+r.IntN(12))),
			pick("*", "*", "*", "sun", "7", "fri-sun", "*/2", "1-5", "1/2", fmt.Sprint(r.IntN(7))),
		}, " ")
		if _, err := cron.Parse(spec); err == nil {
			return spec
		}
	}
}

// Next agrees with an oracle that steps by minutes, at clock changes of unusual zones and
// on ordinary days.
func TestScheduleNextAgreesWithOracle(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 150
	if os.Getenv("EXECUTOR_LONG") == "" {
		rounds = 20
	}
	for range rounds {
		loc := zone(t, oracleZones[r.IntN(len(oracleZones))])
		// From 1973 on all offsets are whole minutes.
		middle := time.Date(1973+r.IntN(140), 1, 1, 0, r.IntN(365*24*60), 0, 0, time.UTC)
		if _, change := middle.In(loc).ZoneBounds(); !change.IsZero() && r.IntN(4) > 0 {
			middle = change
		}
		// Most windows begin before the change, some within the time that it repeats.
		start := middle.Add(-time.Duration(r.IntN(36*60)) * time.Minute)
		if r.IntN(4) == 0 {
			start = middle.Add(time.Duration(r.IntN(2*60)) * time.Minute)
		}
		compare(t, randomSpec(r), loc, start, start.Add(72*time.Hour), time.Minute)
	}
}

// Next agrees with an oracle that steps by seconds where a zone left its local mean time,
// whose offset is not a whole number of minutes.
func TestScheduleNextAgreesWithOracleAtOddSeconds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"America/New_York", "Africa/Monrovia", "Asia/Manila", "America/Juneau", "Europe/Amsterdam"}
	if os.Getenv("EXECUTOR_LONG") == "" {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = names[:2]
	}
	for _, name := range names {
		loc := zone(t, name)
		_, change := time.Time{}.In(loc).ZoneBounds()
		if name == "Africa/Monrovia" {
			change = time.Date(1972, 1, 7, 0, 44, 30, 0, time.UTC)
		}
		spec := randomSpec(r)
		start := change.Add(-time.Duration(r.IntN(3*60*60)) * time.Second)
		compare(t, spec, loc, start, start.Add(4*time.Hour), time.Second)
	}
}

// Next agrees with the oracle in a crafted zone that has several changes within two days,
// so that a gap interrupts a repeat.
func TestScheduleNextAgreesWithOracleInCrowdedZone(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		day := 60 + r.IntN(200)
		rule := fmt.Sprintf("AST%dADT%d,J%d/%d,J%d/%d",
			r.IntN(6)-3, r.IntN(6)-3, day, r.IntN(24), day+r.IntN(2), r.IntN(24))
		loc := crafted(t, rule)
		start := time.Date(2027, 1, day-1, 0, r.IntN(48*60), 0, 0, time.UTC)
		t.Log(rule)
		compare(t, randomSpec(r), loc, start, start.Add(96*time.Hour), time.Minute)
	}
}
