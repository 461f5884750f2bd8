package job

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "time/tzdata" // so that zones are known in images without a zone database
)

// ZoneHint describes how a zone is written.
const ZoneHint = "write a name of the IANA zone database, such as Europe/Berlin or UTC (capitals matter)"

// LoadZone returns the zone of that name. The empty name means the daemon's
// own zone, as an empty TZ does not: in a file, it undoes an earlier choice.
func LoadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	zones.Store(name, loc)
	return loc, nil
}

// zones has the zones that were loaded, by name: package time reads a file for each.
var zones sync.Map

// ForgetZones has zones loaded anew, with the rules that the zone database has by now.
func ForgetZones() { zones.Clear() }

// Misnamed returns the value of TZ if it does not name a zone that is known, and
// an empty string otherwise. Package time takes UTC for it, and says nothing;
// other programs may understand it, for there are rules that are no names.
func Misnamed() string {
	name := os.Getenv("TZ")
	switch strings.TrimPrefix(name, ":") {
	case "", "UTC":
		return ""
	}
	if time.Local.String() != "UTC" { // a zone that is found keeps the name it was asked for by
		return ""
	}
	return name
}

// localZone returns the name of the daemon's own zone, Local if it is not known.
// It looks where package time does, which keeps it to itself.
func localZone() string {
	name, set := os.LookupEnv("TZ")
	if !set {
		name = "/etc/localtime"
	}
	name = strings.TrimPrefix(name, ":")
	if filepath.IsAbs(name) {
		path, err := filepath.EvalSymlinks(name)
		if err != nil {
			path = "" // there is no such file: UTC
		} else if _, after, found := strings.Cut(filepath.ToSlash(path), "/zoneinfo/"); found {
			path = after
		} else {
			return "Local"
		}
		name = path
	}
	loc, err := time.LoadLocation(name) // UTC for ""
	if err != nil || !sameClock(loc) {
		return "Local"
	}
	return loc.String()
}

// sameClock reports whether a zone has the offsets of the local one, in the
// months around now.
func sameClock(loc *time.Location) bool {
	for month := range 24 {
		t := time.Now().AddDate(0, month-12, 0)
		_, there := t.In(loc).Zone()
		if _, here := t.In(time.Local).Zone(); here != there {
			return false
		}
	}
	return true
}
