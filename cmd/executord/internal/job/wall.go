package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cron"
)

// Wall returns the times at which a clock shows what the schedule says, as times in UTC, whether the zone of the
// schedule has them or not. It is false for @every, @reboot and @after, which no clock is asked for.
func (s Schedule) Wall() (cron.Schedule, bool) {
	if s.AtStart || s.After || s.every > 0 {
		return cron.Schedule{}, false
	}
	text := strings.Join(s.fields(), " ")
	if len(s.fields()) > 5 || s.isExtended() {
		text = "@extended " + text
	}
	wall, _, err := cron.ParseLenient(text, time.UTC)
	return wall, err == nil
}

// Fixed reports whether the schedule has fixed times, each of which is due once on a day when clocks change. Others
// follow the clock.
func (s Schedule) Fixed() bool { return !s.AtStart && !s.After && s.times.Fixed() }

// fields returns the fields of the schedule, or its @word with what belongs to that, @since as one, without the zone.
func (s Schedule) fields() []string {
	words := strings.Fields(s.times.String())
	if len(words) > 0 && strings.HasPrefix(words[0], "CRON_TZ=") {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "@extended" {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "@since" {
		return []string{strings.Join(words, " ")}
	}
	return words
}

func (s Schedule) isExtended() bool { return strings.Contains(s.times.String(), "@extended") }

// odd returns what a schedule of five fields says that is seldom meant.
func (s Schedule) odd() (notes []*ScheduleError) {
	fields := s.fields()
	if len(fields) != 5 {
		return nil
	}
	if !strings.ContainsRune("*?", rune(fields[2][0])) && !strings.ContainsRune("*?+", rune(fields[4][0])) {
		notes = append(notes, &ScheduleError{
			What: fmt.Sprintf("the job is due on days that match either field, %s or %s, as in cron", fields[2], fields[4]),
			Hint: fmt.Sprintf("if both have to match, write @extended %s +%s", strings.Join(fields[:4], " "), fields[4]),
		})
	}
	for i, unit := range []struct {
		name, of, letter string
		n                int
	}{{"minutes", "hour", "m", 60}, {"hours", "day", "h", 24}} {
		step, ok := strings.CutPrefix(fields[i], "*/")
		n, err := strconv.Atoi(step)
		if !ok || err != nil || n < 2 || n >= unit.n || unit.n%n == 0 {
			continue
		}
		notes = append(notes, &ScheduleError{
			What: fmt.Sprintf("*/%d starts again in each %s: the last interval is %d %s", n, unit.of, unit.n-(unit.n-1)/n*n, unit.name),
			Hint: fmt.Sprintf("for %d %s between all runs, write @every %d%s", n, unit.name, n, unit.letter),
		})
	}
	return notes
}

// Gaps returns which months or years a schedule of five fields has no day in, though it seems to be due each month or
// each year.
func (s Schedule) Gaps() (gaps []string) {
	fields := s.fields()
	if len(fields) != 5 || fields[4][0] != '*' && fields[4] != "?" {
		return nil
	}
	first, _, _ := strings.Cut(fields[2], "-")
	day, err := strconv.Atoi(first)
	if err != nil {
		return nil
	}
	switch {
	case fields[3] == "*" && day == 31:
		gaps = append(gaps, "only seven months have a 31st: the schedule is not due in the others")
	case fields[3] == "*" && day >= 29:
		gaps = append(gaps, fmt.Sprintf("February has no %dth, or not each year: the schedule is not due then", day))
	case fields[3] == "2" && day == 29:
		gaps = append(gaps, "29 February comes every fourth year")
	}
	return gaps
}
