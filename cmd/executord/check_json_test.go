package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkedBy runs check --json and returns what it prints, with the keys of each object.
func checkedBy(t *testing.T, text string, wantCode int, args ...string) (got checked) {
	t.Helper()
	stdout, stderr, code := output(t, text, append([]string{"check", "--json", "-"}, args...)...)
	if code != wantCode || stderr != "" {
		t.Fatalf("exit code %d, want %d; %s", code, wantCode, stderr)
	}
	strict := json.NewDecoder(strings.NewReader(stdout))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if strings.Contains(stdout, "null") {
		t.Errorf("an empty list is null: %s", stdout)
	}
	return got
}

// A file without mistakes is shown with its notes, and each job with its words and times.
func TestCheckJSONOfValidFile(t *testing.T) {
	got := checkedBy(t, "CRON_TZ=Europe/Berlin\nHOME=$HOME\n# name: a\n30 2 * * * true\n@reboot echo\n", 0, "--from", "2027-03-28", "-n", "1")
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Jobs) != 2 || len(got.Jobs[0].Next) != 1 || !got.Jobs[0].Next[0].Equal(time.Date(2027, 3, 28, 3, 0, 0, 0, berlin)) {
		t.Fatalf("jobs %+v", got.Jobs)
	}
	got.Jobs[0].Next = nil
	want := []checkedJob{
		{Job: "a", Line: 4, Schedule: "30 2 * * *", Words: "at 02:30 every day, Europe/Berlin", Zone: "Europe/Berlin", Command: "true", Here: true},
		{Job: "echo", Line: 5, Schedule: "@reboot", Words: "once, when executord starts", Command: "echo", Here: true, Next: []time.Time{}},
	}
	if !reflect.DeepEqual(got.Jobs, want) {
		t.Errorf("jobs %+v\nwant %+v", got.Jobs, want)
	}
	note := func(r remark) bool { return r.Line == 2 && r.Text == "HOME=$HOME" && r.Hint != "" && r.File == "stdin" }
	if !got.Valid || got.File != "stdin" || len(got.Mistakes) > 0 || !slices.ContainsFunc(got.Notes, note) {
		t.Errorf("%+v", got)
	}
}

// With --strict the object is the same, and the exit code that of a mistake.
func TestCheckJSONStrict(t *testing.T) {
	const noted = "HOME=$HOME\n30 2 * * * true\n"
	if got := checkedBy(t, noted, 1, "--strict"); !got.Valid || len(got.Notes) != 1 || len(got.Jobs) != 1 {
		t.Errorf("%+v", got)
	}
	checkedBy(t, noted, 0)
	checkedBy(t, "30 2 * * * true\n", 0, "--strict")
}

// All mistakes are in the object, and the exit code is that of check.
func TestCheckJSONOfMistakes(t *testing.T) {
	got := checkedBy(t, "61 * * * * true\n@dayly true\n", 1)
	if got.Valid || len(got.Jobs) > 0 || len(got.Mistakes) != 2 || got.Mistakes[1].Line != 2 || got.Mistakes[1].Hint != `did you mean "@daily"?` {
		t.Errorf("%+v", got)
	}
}
