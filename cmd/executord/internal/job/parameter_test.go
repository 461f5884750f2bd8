package job_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// A declaration is right if its default is allowed, and its name is that of a variable of the job's own.
func TestParameterCheck(t *testing.T) {
	for _, p := range []job.Parameter{
		{Name: "DAY"}, {Name: "_d2", Default: "a b"}, {Name: "A", Values: []string{"", "x"}},
		{Name: "A", Default: "x", Values: []string{"x"}}, {Name: "A", Default: "12", Pattern: "[0-9]+|all"},
		{Name: "A", Default: strings.Repeat("x", job.MaxValue)},
	} {
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for want, p := range map[string]job.Parameter{
		`"2A" cannot be the name`:                                   {Name: "2A"},
		`"A B" cannot be the name`:                                  {Name: "A B"},
		"EXECUTORD_RUN cannot be the name":                          {Name: "EXECUTORD_RUN"},
		"parameter A has values and a pattern":                      {Name: "A", Values: []string{""}, Pattern: "x"},
		"the pattern of parameter A is not a regular expression":    {Name: "A", Pattern: "(", Default: "("},
		"a value of parameter A is \"x\\n\"; it must be one line":   {Name: "A", Values: []string{"x\n"}},
		"the default is not allowed: A \"y\" is not one of x":       {Name: "A", Default: "y", Values: []string{"x"}},
		"the default is not allowed: A \"\" does not match the pat": {Name: "A", Pattern: "[0-9]+"},
		"the default is not allowed: A has 1025 bytes":              {Name: "A", Default: strings.Repeat("x", job.MaxValue+1)},
	} {
		if err := p.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", p, err, want)
		}
	}
}

// A pattern is for the whole value, whatever it has in it.
func TestParameterPatternIsWhole(t *testing.T) {
	p := job.Parameter{Name: "DAY", Default: "today", Pattern: `today|\d{4}-\d\d-\d\d`}
	for value, want := range map[string]bool{
		"today": true, "2026-11-27": true, "today2026-11-27": false, "xtoday": false, "2026-11-270": false, "": false,
		"2026-11-27; rm -rf /": false,
	} {
		if err := p.Allows(value); (err == nil) != want {
			t.Errorf("%q: error %v", value, err)
		}
	}
}

var parameters = job.Parameters{
	{Name: "DAY", Default: "today"}, {Name: "REGION", Default: "eu", Values: []string{"eu", "us"}},
}

// A run has a value for each parameter, in the order of the file: that which is set, or the default.
func TestParametersGiven(t *testing.T) {
	for set, want := range map[string]string{
		"": "", "DAY=x": "DAY=x,REGION=eu", "REGION=us,DAY=": "DAY=,REGION=us", "DAY=a=b": "DAY=a=b,REGION=eu",
	} {
		var sets []string
		if set != "" {
			sets = strings.Split(set, ",")
		}
		if got, err := parameters.Given(sets); err != nil || strings.Join(got, ",") != want {
			t.Errorf("%s: %q, error %v; want %s", set, got, err, want)
		}
	}
}

// What is not declared or not allowed is refused, with what to write instead.
func TestParametersRefuse(t *testing.T) {
	for set, want := range map[string]string{
		"DAY":              `"DAY" has no =; write NAME=value`,
		"DYA=x":            `there is no parameter "DYA"; did you mean DAY?`,
		"PATH=/tmp":        `there is no parameter "PATH"; the job has DAY, REGION`,
		"=x":               `there is no parameter ""; the job has DAY, REGION`,
		"REGION=uk":        `REGION "uk" is not one of eu, us; did you mean us?`,
		"REGION=":          `REGION "" is not one of eu, us`,
		"DAY=1,DAY=2":      "DAY is set twice",
		"DAY=a\x00":        `DAY is "a\x00"; it must be one line of UTF-8, without control characters`,
		"DAY=a\nEVIL=1":    `DAY is "a\nEVIL=1"; it must be one line`,
		"DAY=\xff":         `DAY is "\xff"; it must be one line`,
		"DAY=\u009b31m":    `DAY is "\u009b31m"; it must be one line`,
		"REGION=us,NONE=1": `there is no parameter "NONE"`,
	} {
		if got, err := parameters.Given(strings.Split(set, ",")); err == nil || !strings.HasPrefix(err.Error(), want) || got != nil {
			t.Errorf("%q: %q, error %v; want %s", set, got, err, want)
		}
	}
	if _, err := job.Parameters(nil).Given([]string{"A=1"}); err == nil || !strings.Contains(err.Error(), "the job declares none") {
		t.Errorf("a job without parameters: %v", err)
	}
}

// Parameters that were declared after values were given have their defaults.
func TestParametersEnv(t *testing.T) {
	if got, want := parameters.Env(nil), []string{"DAY=today", "REGION=eu"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := parameters.Env([]string{"DAY=x"}), []string{"DAY=today", "REGION=eu", "DAY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q, of which the last counts", got, want)
	}
}
