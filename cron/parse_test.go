package cron_test

import (
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/cron"
)

// Two spellings of one schedule are due at the same times.
func TestParseSpellings(t *testing.T) {
	for _, tt := range []struct{ spec, same string }{
		{"*/15 * * * *", "0,15,30,45 * * * *"},
		{"5/15 * * * *", "5,20,35,50 * * * *"},
		{"10-40/10 * * * *", "10,20,30,40 * * * *"},
		{"0-59 0-23 1-31 1-12 0-7", "* * * * *"},
		{"05 007 * * *", "5 7 * * *"},
		{"0 0 1 jan,Apr,JUL *", "0 0 1 1,4,7 *"},
		{"0 0 1 oct-dec *", "0 0 1 10-12 *"},
		{"0 0 1 jan-dec/6 *", "0 0 1 1,7 *"},
		{"0 0 * * sun", "0 0 * * 0"},
		{"0 0 * * 7", "0 0 * * 0"},
		{"0 0 * * 5-7", "0 0 * * 0,5,6"},
		{"0 0 * * fri-sun", "0 0 * * 0,5,6"},
		{"0 0 * * MON-SUN", "0 0 * * 0-6"},
		{"0 0 * * sun-tue", "0 0 * * 0-2"},
		{"0 0 * * sun-sun", "0 0 * * 0"},
		{"0 0 * * */2", "0 0 * * 0,2,4,6"},
		{"0 0 * * 1/2", "0 0 * * 1,3,5"},
		{"0 0 * * 7/1", "0 0 * * 7"},
		{"0 0 5-5 * *", "0 0 5 * *"},
		{"1,1,1-2 * * * *", "1,2 * * * *"},
		{" \t0  0\t* * *  \r\n", "0 0 * * *"},
		{"@yearly", "0 0 1 1 *"},
		{"@annually", "0 0 1 1 *"},
		{"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"},
		{"@daily", "0 0 * * *"},
		{"@Midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
		{"TZ=UTC 0 0 * * *", "0 0 * * *"},
	} {
		got, want := firstDue(t, tt.spec, 100), firstDue(t, tt.same, 100)
		if !slices.Equal(got, want) {
			t.Errorf("%q and %q differ:\n\t%q\n\t%q", tt.spec, tt.same, got[:9], want[:9])
		}
	}
}

// The prefix overrides the zone of ParseIn, which overrides time.Local.
func TestParseLocation(t *testing.T) {
	tokyo := zone(t, "Asia/Tokyo")
	for _, tt := range []struct {
		spec string
		loc  *time.Location
		want string
	}{
		{"0 0 * * *", nil, time.Local.String()},
		{"0 0 * * *", tokyo, "Asia/Tokyo"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", tokyo, "Europe/Berlin"},
		{"TZ=UTC @every 1h", tokyo, "UTC"},
		{"\tTZ=Asia/Kolkata\t@daily", nil, "Asia/Kolkata"},
	} {
		s := in(t, tt.loc, tt.spec)
		if got := s.Location().String(); got != tt.want {
			t.Errorf("%q: Location %s, want %s", tt.spec, got, tt.want)
		}
		if got := s.Next(time.Unix(0, 0)).Location(); got != s.Location() {
			t.Errorf("%q: Next is in %v, want %v", tt.spec, got, s.Location())
		}
	}
	if got := cron.MustParse("0 0 * * *").Location(); got != time.Local {
		t.Errorf("without any zone: %v, want Local", got)
	}
}

// MustParse panics with the text of the error.
func TestMustParsePanics(t *testing.T) {
	defer func() {
		const want = `cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23`
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	cron.MustParse("0 25 * * *")
}

// What cron takes, and hardly anybody means, is a note for ParseLenient, with the times that cron has.
func TestParseLenientStep(t *testing.T) {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) // a Sunday
	for _, tt := range []struct {
		spec  string
		notes int
		want  []string
	}{
		{"*/90 * * * *", 1, []string{"03-01 01:00", "03-01 02:00"}},
		{"0 */24 * * *", 1, []string{"03-02 00:00", "03-03 00:00"}},
		{"0 0 1 */12 *", 1, []string{"01-01 00:00"}},
		{"0 5 1-7 * */7", 1, []string{"03-01 05:00", "04-05 05:00", "05-03 05:00"}}, // the first Sunday of each month
		{"10-20/15 */30 * * *", 2, []string{"03-01 00:10", "03-02 00:10"}},
		{"*/15 * * * *", 0, []string{"03-01 00:15"}},
		{"@daily", 0, []string{"03-02 00:00"}},
	} {
		s, notes, err := cron.ParseLenient(tt.spec, time.UTC)
		if err != nil || len(notes) != tt.notes {
			t.Errorf("%q: %d notes, error %v", tt.spec, len(notes), err)
			continue
		}
		at := from
		for _, want := range tt.want {
			if at = s.Next(at); at.Format("01-02 15:04") != want {
				t.Errorf("%q: due at %v, want %s", tt.spec, at, want)
			}
		}
		_, strict := cron.ParseIn(tt.spec, time.UTC)
		if tt.notes > 0 && (strict == nil || strict.Error() != notes[0].Error()) {
			t.Errorf("%q: note %v, and Parse has %v", tt.spec, notes[0], strict)
		}
	}
	if _, notes, err := cron.ParseLenient("*/90 25 * * *", nil); err == nil || notes != nil {
		t.Errorf("notes %v, error %v", notes, err)
	}
}
