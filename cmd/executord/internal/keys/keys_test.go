package keys_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/keys"
)

// Each key has what the readers, the hints and the schema take from it, and its example is a right value.
func TestTableIsComplete(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range keys.All {
		if seen[k.Name] {
			t.Errorf("%s is there twice", k.Name)
		}
		seen[k.Name] = true
		if k.Doc == "" || strings.ContainsAny(k.Doc, "|\n") || keys.Find(k.Name) != k || k.Name != strings.ToLower(k.Name) {
			t.Errorf("%s: documentation %q", k.Name, k.Doc)
		}
		if k.In(keys.Comment) && !k.Simple() {
			t.Errorf("%s stands in comments, which need a setter", k.Name)
		}
		if !k.Simple() {
			continue
		}
		s := keys.Defaults()
		if wrong := k.Set(&s, k.Split(k.Example)...); wrong != nil {
			t.Errorf("the example of %s is wrong: %s", k.Name, wrong.What)
		}
		for _, value := range k.Values {
			if wrong := k.Set(&s, value); wrong != nil {
				t.Errorf("%s %q is wrong: %s", k.Name, value, wrong.What)
			}
		}
	}
}

// A value of another kind is wrong, whatever the key, and changes nothing that is said to be right.
func TestSetRefusesOtherKinds(t *testing.T) {
	for _, k := range keys.All {
		var bad []string
		switch {
		case !k.Simple():
			continue
		case k.Kind == keys.Duration:
			bad = []string{"", "x", "5", "-1s", "1h 2m"}
		case k.Kind == keys.Truth:
			bad = []string{"", "yes", "TRUE", "1"}
		case k.Kind == keys.Number:
			bad = []string{"", "x", "-1", "1.5"}
		case k.Kind == keys.Numbers:
			bad = []string{"", "x", "-1", "1.5", "1,x"}
		case k.Values != nil:
			bad = []string{"", "no such value"}
		}
		for _, value := range bad {
			s := keys.Defaults()
			if wrong := k.Set(&s, k.Split(value)...); wrong == nil || wrong.What == "" || wrong.Hint == "" && wrong.Like == "" {
				t.Errorf("%s %q: %+v", k.Name, value, wrong)
			}
		}
	}
}

// The names of a place are those of the rows that have it.
func TestNamesOfPlaces(t *testing.T) {
	if got, want := keys.Names(keys.Needed), []string{"name", "schedule"}; !slices.Equal(got, want) {
		t.Errorf("needed: %q, want %q", got, want)
	}
	if all := keys.Names(0); len(all) != len(keys.All) || !slices.Contains(all, "env") {
		t.Errorf("all: %q", all)
	}
	if slices.Contains(keys.Names(keys.Comment), "env") || !slices.Contains(keys.Names(keys.Above), "env") {
		t.Error("env does not stand above all jobs alone")
	}
}
