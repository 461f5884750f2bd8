package cron

import (
	"fmt"
	"strings"
	"time"
)

// MarshalText returns the spec, with the zone of the schedule as its prefix, unless
// that is [time.Local]: a schedule in local time stays one wherever the text is read.
// The text of the zero Schedule is empty. A zone that [time.LoadLocation] does not know
// by its name, such as one of [time.FixedZone], is an error.
func (s Schedule) MarshalText() ([]byte, error) {
	if s.loc == nil || s.loc == time.Local || strings.HasPrefix(s.spec, prefix) {
		return []byte(s.spec), nil
	}
	if _, err := time.LoadLocation(s.loc.String()); err != nil {
		return nil, fmt.Errorf("cron: %q: its zone %q is not in the time zone database, so it has no text; use a zone of time.LoadLocation", s.spec, s.loc)
	}
	return []byte(prefix + s.loc.String() + " " + s.spec), nil
}

// UnmarshalText sets s to the schedule with that spec, as [Parse] does. An empty text
// is the zero Schedule. If the text is not valid, s stays as it was.
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
