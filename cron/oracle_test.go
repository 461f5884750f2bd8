package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// An oracle tells what is due by walking through real time, as the main loop of ISC cron
// does, with no shortcut and with nothing in common with the package: its own
// reading of specs, fields as maps, and time.Time for all calendar questions.
type oracle struct {
	fields       [5]map[int]bool
	wild, either bool
}

// newOracle reads a valid spec of five fields.
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
	o.wild = parts[0][0] == '*' || parts[1][0] == '*'
	o.either = parts[2][0] != '*' && parts[4][0] != '*'
	return o
}

// oracleOf returns the oracle of a schedule, and false for @every and the other @words.
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

// matches reports whether the wall clock that t shows, seconds aside, is a match.
func (o oracle) matches(t time.Time) bool {
	day, weekday := o.fields[2][t.Day()], o.fields[4][int(t.Weekday())]
	if o.either {
		day = day || weekday
	} else {
		day = day && weekday
	}
	return o.fields[0][t.Minute()] && o.fields[1][t.Hour()] && o.fields[3][int(t.Month())] && day
}

// wall returns the time in UTC whose clock reads as t's does.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// due returns the instants from start up to but not including end at which the spec is due in loc. It
// walks by tick, which must divide the offsets of loc around there.
func (o oracle) due(loc *time.Location, start, end time.Time, tick time.Duration) []time.Time {
	var due []time.Time
	// Walk in early, so that the virtual clock has seen what may be repeated: no
	// more than the 24 hours of a move across the date line.
	begin := start.Add(-25 * time.Hour).Truncate(tick)
	virtual := wall(begin.In(loc))
	for t := begin.Add(tick); t.Before(end); t = t.Add(tick) {
		local := t.In(loc)
		now := wall(local)
		hit := false
		if o.wild {
			hit = now.Second() == 0 && o.matches(now)
		}
		for virtual.Before(now) { // nothing to do while an hour is repeated
			virtual = virtual.Add(tick)
			hit = hit || !o.wild && virtual.Second() == 0 && o.matches(virtual)
		}
		if hit && !t.Before(start) {
			due = append(due, local)
		}
	}
	return due
}

// compare holds Next against the oracle in one window.
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

// oracleZones are zones with something odd about them, now or once.
var oracleZones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia",
	"Africa/Casablanca", "Antarctica/Troll", "America/Havana", "Asia/Kathmandu", "America/Caracas", "Africa/Cairo",
	"Pacific/Kwajalein", "America/St_Johns", "Asia/Gaza", "Asia/Pyongyang", "Europe/Dublin", "Pacific/Chatham",
	"America/Scoresbysund", "America/Santiago", "Asia/Amman", "Asia/Tehran", "Pacific/Norfolk", "Antarctica/Casey",
}

// randomSpec makes a valid spec whose hours are near the usual hours of change.
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

// Next agrees with a minute-by-minute walk, around the clock changes of odd zones
// and on ordinary days.
func TestNextAgreesWithOracle(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		loc := zone(t, oracleZones[r.IntN(len(oracleZones))])
		// Since 1972 all zones have whole minutes, Liberia's last change aside.
		middle := time.Date(1973+r.IntN(140), 1, 1, 0, r.IntN(365*24*60), 0, 0, time.UTC)
		if _, change := middle.In(loc).ZoneBounds(); !change.IsZero() && r.IntN(4) > 0 {
			middle = change
		}
		// Most windows begin before the change, some in the midst of what it repeats.
		start := middle.Add(-time.Duration(r.IntN(36*60)) * time.Minute)
		if r.IntN(4) == 0 {
			start = middle.Add(time.Duration(r.IntN(2*60)) * time.Minute)
		}
		compare(t, randomSpec(r), loc, start, start.Add(72*time.Hour), time.Minute)
	}
}

// Next agrees with a second-by-second walk where zones left their local mean time, which
// has odd seconds.
func TestNextAgreesWithOracleAtOddSeconds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, name := range []string{"America/New_York", "Africa/Monrovia", "Asia/Manila", "America/Juneau", "Europe/Amsterdam"} {
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

// A crafted zone with several changes within two days, in which a repeat is cut
// short by a gap, agrees with the oracle too.
func TestNextAgreesWithOracleInCrowdedZone(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		day := 60 + r.IntN(200)
		rule := fmt.Sprintf("AST%dADT%d,J%d/%d,J%d/%d", r.IntN(6)-3, r.IntN(6)-3, day, r.IntN(24), day+r.IntN(2), r.IntN(24))
		loc := crafted(t, rule)
		start := time.Date(2027, 1, day-1, 0, r.IntN(48*60), 0, 0, time.UTC)
		t.Log(rule)
		compare(t, randomSpec(r), loc, start, start.Add(96*time.Hour), time.Minute)
	}
}
