package tomlfile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// A parameter is a default alone, or a table, which may be below a header of its own.
func TestParseParameters(t *testing.T) {
	f, err := Parse("tab", []byte(least+`
parameters = { DAY = "today", REGION = { default = "eu", values = ["eu", "us"] } }

[[job]]
name = "other"
schedule = "@daily"
command = "true"

[job.parameters]
LIMIT = { default = "100", pattern = '\d+', description = "How many." }
NOTE = {}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []job.Parameters{
		{{Name: "DAY", Default: "today"}, {Name: "REGION", Default: "eu", Values: []string{"eu", "us"}}},
		{{Name: "LIMIT", Default: "100", Pattern: `\d+`, Doc: "How many."}, {Name: "NOTE"}},
	}
	for i, j := range f.Jobs {
		if !reflect.DeepEqual(j.Parameters, want[i]) {
			t.Errorf("%s: %+v, want %+v", j.Name, j.Parameters, want[i])
		}
	}
}

// What is wrong with a parameter is said once, at its line.
func TestParseParameterMistakes(t *testing.T) {
	many := "A" + strings.Repeat("A", job.MaxParameters)
	var table strings.Builder
	for i := range many {
		table.WriteString("parameters." + many[:i+1] + " = ''\n")
	}
	for text, want := range map[string]string{
		"parameters = 'DAY'\n":                             "tab:5: parameters is text",
		"parameters = ['DAY']\n":                           "tab:5: parameters is a list",
		"parameters = { DAY = 1 }\n":                       "tab:5: parameter DAY is a number, but has to be text or a table",
		"parameters = { '2' = 'x' }\n":                     `tab:5: "2" cannot be the name of a parameter`,
		"parameters.A = { pattern = '(' }\n":               "tab:5: the pattern of parameter A is not a regular expression",
		"parameters.A = { values = [] }\n":                 "tab:5: values of parameter A is not a list of texts",
		"parameters.A = { values = ['x'] }\n":              "tab:5: parameter A has values, but no default",
		"parameters.A = { values = [1] }\n":                "tab:5: one of values of parameter A is a number, but has to be text",
		"parameters.A = { default = true }\n":              "tab:5: default of parameter A is true or false, but has to be text",
		"parameters.A = { vlaues = ['x'] }\n":              `tab:5: unknown key "vlaues"`,
		"parameters.A = ''\nsecret.A = '/run/secrets/a'\n": "tab:5: A is a parameter and a secret",
		table.String():                                     "tab:5: the job has 33 parameters, and must have at most 32",
		"parameters.A = \"\\u0000\"\n":                     "tab:5: the default is not allowed: A is",
		"parameters.LD_PRELOAD = ''\n":                     "tab:5: LD_PRELOAD cannot be the name of a parameter: by it",
		"parameters.https_proxy = ''\n":                    "tab:5: https_proxy cannot be the name of a parameter: by it",
		"parameters.A = { default = 'x', values = ['y'] }": "tab:5: the default is not allowed: A \"x\" is not one of y",
	} {
		_, err := Parse("tab", []byte(least+text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), "tab:") > 1 {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	if _, err := Parse("tab", []byte("parameters.A = ''\n"+least)); err == nil || !strings.Contains(err.Error(), `"parameters" is above all jobs, but belongs to one job`) {
		t.Errorf("above all jobs: %v", err)
	}
}

// A parameter that stands in a request and may have any value is noted, at its line; one with a pattern or values is not,
// nor is one that only the server's answer depends on.
func TestParseNotesParameterOfRequest(t *testing.T) {
	const least = "[[job]]\nname = 'a'\nschedule = '@daily'\n"
	for text, want := range map[string]string{
		"url = 'https://shop.example/$A'\nparameters.A = 'x'\n":                                  "parameter A of a request may have any value",
		"url = 'https://shop.example/'\nheaders.X-A = '${A}'\nparameters.A = 'x'\n":              "parameter A of a request may have any value",
		"url = 'https://shop.example/'\nparameters.A = 'x'\n":                                    "",
		"url = 'https://shop.example/$A'\nparameters.A = { default = 'x', values = ['x'] }\n":    "",
		"url = 'https://shop.example/$A'\nparameters.A = { default = 'x', pattern = '[a-z]' }\n": "",
		"command = 'echo $A'\nparameters.A = 'x'\n":                                              "",
	} {
		f, err := Parse("tab", []byte(least+text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := ""
		for _, note := range f.Notes {
			got += note.What
		}
		if got != want {
			t.Errorf("%s: notes %q, want %q", text, got, want)
		}
	}
	if _, err := Parse("tab", []byte(least+"url = 'https://$A.shop.example/'\nparameters.A = 'x'\n")); err == nil ||
		!strings.Contains(err.Error(), "choose the server") {
		t.Errorf("in the host: %v", err)
	}
}
