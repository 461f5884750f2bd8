package timetable

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// zoneData returns the rules of a zone of Go's own database.
func zoneData(t *testing.T, name string) []byte {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	all, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	file, err := all.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A schedule in a zone whose rules have changed since the program loaded it is kept by the name of the zone. One in a
// zone that only has the name is refused.
func TestTextOfZoneOfName(t *testing.T) {
	before, err := time.LoadLocationFromTZData("Europe/Berlin", zoneData(t, "Europe/Paris")) // other rules until 1980
	if err != nil {
		t.Fatal(err)
	}
	text := func(loc *time.Location) (string, error) {
		s, err := cron.ParseIn("30 2 * * *", loc)
		if err != nil {
			t.Fatal(err)
		}
		return TextOf(s)
	}
	if got, err := text(before); err != nil || got != "cron CRON_TZ=Europe/Berlin 30 2 * * *" {
		t.Errorf("of the rules before: %q, %v", got, err)
	}
	for _, other := range []*time.Location{
		time.FixedZone("Europe/Berlin", 3600), time.FixedZone("Europe/London", 0), time.FixedZone("America/New_York", -4*3600),
	} {
		if got, err := text(other); err == nil {
			t.Errorf("of a zone that is called %s: %q", other, got)
		}
	}
}
