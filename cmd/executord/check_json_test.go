package main

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// checkedBy has check print a file as JSON, with its keys and no others, and returns it.
func checkedBy(t *testing.T, name, text string, wrong bool, args ...string) (got checked) {
	t.Helper()
	stdout, err := here(append([]string{"check", "--json", write(t, name, text)}, args...)...)
	if exit := new(exitError); err != nil && (!errors.As(err, &exit) || *exit != exitError{code: exitMistake}) || (err != nil) != wrong {
		t.Fatalf("error %v, want one: %v", err, wrong)
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

// A file without mistakes is shown with its notes, and each job with its words, times and parameters. With --strict the
// object is the same, and the exit code that of a mistake.
func TestCheckJSONOfValidFile(t *testing.T) {
	const text = "CRON_TZ=Europe/Berlin\nHOME=$HOME\n# name: a\n30 2 * * * true\n@reboot echo\n"
	got := checkedBy(t, "tab", text, false, "--from", "2027-03-28T00:00:00+01:00", "-n", "1")
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
	note := func(r remark) bool {
		return r.Line == 2 && r.Text == "HOME=$HOME" && r.Hint != "" && r.File == got.File
	}
	if !got.Valid || len(got.Mistakes) > 0 || !slices.ContainsFunc(got.Notes, note) {
		t.Errorf("%+v", got)
	}
	if got := checkedBy(t, "tab", text, true, "--strict"); !got.Valid || len(got.Notes) != 1 || len(got.Jobs) != 2 {
		t.Errorf("%+v", got)
	}
	got = checkedBy(t, "jobs.toml", "[[job]]\nname = 'a'\nschedule = '@daily'\ncommand = 'true'\nparameters.DAY = 'today'\n", false, "--strict")
	if want := (job.Parameters{{Name: "DAY", Default: "today"}}); !reflect.DeepEqual(got.Jobs[0].Parameters, want) {
		t.Errorf("parameters %+v", got.Jobs[0].Parameters)
	}
}

// All mistakes are in the object, and the exit code is that of check.
func TestCheckJSONOfMistakes(t *testing.T) {
	got := checkedBy(t, "tab", "61 * * * * true\n@dayly true\n", true)
	if got.Valid || len(got.Jobs) > 0 || len(got.Mistakes) != 2 || got.Mistakes[1].Line != 2 || got.Mistakes[1].Hint != `did you mean "@daily"?` {
		t.Errorf("%+v", got)
	}
}
