package tomlfile

import (
	"slices"
	"strings"
	"testing"
)

// A job with sql runs executord itself, with the statements on its standard input.
func TestParseStatement(t *testing.T) {
	f, err := Parse("tab", []byte("[[job]]\nname = 'a'\nschedule = '@daily'\nsql = 'vacuum'\ndsn = '$SHOP'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Jobs[0].Command; !slices.Equal(c.Args, []string{"executord", "sql", "--", "$SHOP"}) || c.Stdin != "vacuum" {
		t.Errorf("%+v", c)
	}
}

// SQL needs a database, and is a job's only work.
func TestParseStatementMistakes(t *testing.T) {
	const least = "[[job]]\nname = 'a'\nschedule = '@daily'\n"
	for text, want := range map[string]string{
		"sql = 'x'\n":                            "tab:4: the job has sql, but no dsn",
		"command = 'x'\ndsn = 'x'\n":             "tab:5: dsn is for a job with sql",
		"sql = 'x'\ndsn = 'x'\ncommand = 'x'\n":  "tab:6: a job with sql cannot have command",
		"sql = 'x'\ndsn = 'x'\nurl = 'http:a'\n": "tab:6: ",
		"sql = ' '\ndsn = 'x'\n":                 "tab:4: sql is empty",
		"sql = 'x'\ndsn = ''\n":                  "tab:5: dsn is empty",
		"sql = 5\ndsn = 'x'\n":                   "tab:4: sql is a number, but has to be text",
	} {
		if _, err := Parse("tab", []byte(least+text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
