package keys_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// property is what the schema says of a key.
type property struct {
	Type, Description, Pattern string
	Enum                       []string
	AnyOf                      []property
	Items                      *struct {
		Type                 string
		Properties           map[string]property
		Required             []string
		OneOf                []struct{ Required []string }
		AdditionalProperties bool
	}
}

func schema(t *testing.T) (top, job map[string]property, required []string) {
	t.Helper()
	text, err := json.Marshal(keys.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties           map[string]property
		AdditionalProperties *bool
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	items := s.Properties["job"].Items
	if s.AdditionalProperties == nil || *s.AdditionalProperties || items == nil || items.AdditionalProperties {
		t.Fatalf("other keys are allowed: %s", text)
	}
	return s.Properties, items.Properties, items.Required
}

// markup is what the manual has and an editor does not show.
var markup = regexp.MustCompile("`|\\]\\(")

// The schema has each key where it may stand, with its documentation, and no others.
func TestSchemaHasKeys(t *testing.T) {
	top, job, required := schema(t)
	if len(job) != len(keys.All) || len(top) != len(keys.Names(keys.Above))+3 || // with job, notify and group
		!slices.Equal(required, keys.Names(keys.Needed)) {
		t.Errorf("%d keys of a job, %d above all, required %q", len(job), len(top), required)
	}
	for _, k := range keys.All {
		p, ok := job[k.Name]
		if !ok || p.Description == "" || markup.MatchString(p.Description) || p.Type == "" && len(p.AnyOf) == 0 || !slices.Equal(p.Enum, k.Values) {
			t.Errorf("%s: %+v", k.Name, p)
		}
		// [notify.NAME]
		if _, above := top[k.Name]; k.Name != "notify" && k.Name != "group" && above != k.In(keys.Above) {
			t.Errorf("%s stands above all jobs: %v", k.Name, above)
		}
	}
}

// The pattern of durations takes those that the reader takes.
func TestSchemaPatternOfDurations(t *testing.T) {
	_, job, _ := schema(t)
	pattern := regexp.MustCompile(job["timeout"].Pattern)
	for _, text := range []string{"0", "0s", "90s", "1h30m", "1.5h", ".5s", "+1m", "100ms", "3µs", "", "5", "x", "1d", "-1s", "1h 2m", "h", "1h2"} {
		length, err := time.ParseDuration(text)
		if valid := err == nil && length >= 0; pattern.MatchString(text) != valid {
			t.Errorf("%q: the pattern takes it: %v", text, !valid)
		}
	}
}
