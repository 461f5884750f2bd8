package cron

import (
	"fmt"
	"strings"
	"time"
)

// MarshalText returns the spec with a prefix for the zone of the schedule. A schedule in [time.Local] has no prefix,
// and is in the local time of the machine that reads the text. The text of the zero Schedule is empty. MarshalText
// returns an error if [time.LoadLocation] does not load the same zone by its name, as for results of [time.FixedZone].
func (s Schedule) MarshalText() ([]byte, error) {
	if s.loc == nil || s.loc == time.Local || strings.HasPrefix(s.spec, prefix) {
		return []byte(s.spec), nil
	}
	name := s.loc.String()
	loaded, err := time.LoadLocation(name)
	switch {
	case err != nil || name == "" || loaded == time.Local: // "" and "Local" are loaded, but name no zone
		return nil, fmt.Errorf("cron: %q: its zone %q is not in the time zone database, so it has no text; use a zone of time.LoadLocation", s.spec, s.loc)
	case !sameOffsets(s.loc, loaded):
		return nil, fmt.Errorf("cron: %q: its zone %q differs from the one of that name in the time zone database, so it has no text; use a zone of time.LoadLocation", s.spec, s.loc)
	}
	return []byte(prefix + name + " " + s.spec), nil
}

// sameOffsets reports whether two zones have the same offset in January and in July of a year. That distinguishes a
// fixed zone from the one whose name it has.
func sameOffsets(a, b *time.Location) bool {
	for _, month := range []time.Month{time.January, time.July} {
		t := time.Date(2025, month, 1, 0, 0, 0, 0, time.UTC)
		_, inA := t.In(a).Zone()
		_, inB := t.In(b).Zone()
		if inA != inB {
			return false
		}
	}
	return true
}

// UnmarshalText parses text as [Parse] does, and sets s to the result. For an empty text s becomes the zero Schedule.
// If the text is not valid, UnmarshalText returns a *[ParseError] and s stays as it was.
func (s *Schedule) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Schedule{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}
