package forecast_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/forecast"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

func schedule(t *testing.T, text, zone string) job.Schedule {
	t.Helper()
	loc, err := job.LoadZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	s, _, wrong := job.ParseSchedule(text, loc)
	if wrong != nil {
		t.Fatal(wrong)
	}
	return s
}

// Each effect of a change of the clock has its words, and a change without effect has none.
func TestChangesSayEffect(t *testing.T) {
	from := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct{ text, zone, want string }{
		{"30 2 * * *", "Europe/Berlin", "02:30 does not exist on Sun 2027-03-28: due at 03:00 instead; " +
			"02:30 comes twice on Sun 2027-10-31: due the first time only"},
		{"*/15 2 * * *", "Europe/Berlin", "02:00 to 03:00 does not exist on Sun 2027-03-28: not due then; " +
			"02:00 to 03:00 comes twice on Sun 2027-10-31: due both times"},
		{"0 3 * * *", "Europe/Berlin", ""},
		{"0 2,3 * * *", "Europe/Berlin", "02:00 does not exist on Sun 2027-03-28: due at 03:00 instead; " +
			"02:00 comes twice on Sun 2027-10-31: due the first time only"},
		{"30 2 * * 1-5", "Europe/Berlin", ""},
		{"30 1 * * *", "America/New_York", "01:30 comes twice on Sun 2027-11-07: due the first time only"},
		{"CRON_TZ=America/New_York 30 2 * * *", "UTC", "02:30 does not exist on Sun 2027-03-14: due at 03:00 instead"},
		{"15 2 * * *", "Australia/Lord_Howe", "02:15 does not exist on Sun 2027-10-03: due at 02:30 instead"},
		{"@daily", "Europe/Berlin", ""},
		{"@hourly", "Europe/Berlin", "02:00 to 03:00 does not exist on Sun 2027-03-28: not due then; " +
			"02:00 to 03:00 comes twice on Sun 2027-10-31: due both times"},
		{"@extended 0 30 2 L * *", "Europe/Berlin", "02:30 comes twice on Sun 2027-10-31: due the first time only"},
		{"@every 1h", "Europe/Berlin", ""},
		{"@reboot", "Europe/Berlin", ""},
		{"30 2 * * *", "UTC", ""},
	} {
		var got []string
		for _, c := range forecast.Changes(schedule(t, test.text, test.zone), from, from.AddDate(1, 0, 0)) {
			got = append(got, c.String())
		}
		if said := strings.Join(got, "; "); said != test.want {
			t.Errorf("%s in %s:\ngot  %s\nwant %s", test.text, test.zone, said, test.want)
		}
	}
}

// What Changes says of the clock is what Upcoming has: a time that is moved is due at the change, one that is not due
// is not, one that is due once or twice is.
func TestChangesAgreeWithUpcoming(t *testing.T) {
	from := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca", "Antarctica/Troll"} {
		for _, text := range []string{"30 2 * * *", "15 2 * * *", "*/20 * * * *", "10,40 1-3 * * *", "0 * * * *", "30 0 * * *"} {
			s := schedule(t, text, zone)
			for _, c := range forecast.Changes(s, from, from.AddDate(2, 0, 0)) {
				span := c.After.Sub(c.Before).Abs()
				var due []time.Time
				for at := range forecast.Upcoming(s, c.At.Add(-span-1)) {
					if !at.Before(c.At.Add(span)) {
						break
					}
					due = append(due, at)
				}
				atChange := slices.ContainsFunc(due, c.At.Equal)
				shown := 0 // how often the clock shows First when it is due
				for _, at := range due {
					if at.Format(time.DateTime) == c.First.Format(time.DateTime) {
						shown++
					}
				}
				want := map[forecast.Effect]int{forecast.Moved: 0, forecast.Absent: 0, forecast.Once: 1, forecast.Twice: 2}[c.Effect]
				if shown != want || c.Effect == forecast.Moved && !atChange {
					t.Errorf("%s in %s: %s, and it is due at %v", text, zone, c, due)
				}
			}
		}
	}
}

// The times of @every begin at from, and @reboot has none.
func TestUpcomingOfWords(t *testing.T) {
	from := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for at := range forecast.Upcoming(schedule(t, "@every 90s", "UTC"), from) {
		if want := from.Add(90 * time.Second); !at.Equal(want) {
			t.Errorf("due at %v, want %v", at, want)
		}
		break
	}
	for at := range forecast.Upcoming(schedule(t, "@reboot", "UTC"), from) {
		t.Errorf("@reboot is due at %v", at)
	}
}
