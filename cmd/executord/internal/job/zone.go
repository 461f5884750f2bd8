package job

import (
	"fmt"
	"time"

	_ "time/tzdata" // so that zones are known in images without a zone database
)

// ZoneMend tells how a zone is written.
const ZoneMend = "write a name of the IANA zone database, such as Europe/Berlin or UTC (capitals matter)"

// LoadZone returns the zone of that name. The empty name means the daemon's
// own zone, as an empty TZ does not: in a file, it undoes an earlier choice.
func LoadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q", name)
	}
	return loc, nil
}
