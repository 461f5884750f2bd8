package view

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// shown are the fields of a Spec that Settings does not have, since the page has them elsewhere or they are no settings.
var shown = []string{"Schedule", "Args", "Script", "Parameters", "Next", "Tags", "Off", "Held", "Bytes"}

// few returns a spec with what some settings mean nothing without.
func few() *catalog.Spec {
	return &catalog.Spec{Job: job.Job{Retry: job.Retry{Times: 1}, Group: "g", After: []string{"a"}}}
}

// The settings of a job are all that its file may say: each that is not the default is in the table, and is not marked as
// one, but for the values of what may be secret.
func TestSettingsAreAll(t *testing.T) {
	plain := Settings(&catalog.Spec{})
	for _, s := range plain {
		if !s.Default || s.Name != "timezone" && s.Value == "" {
			t.Errorf("of a job without settings one is %+v", s)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[catalog.Spec]()) {
		if f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		name, spec := f.Name, few()
		switch v := reflect.ValueOf(spec).Elem().FieldByIndex(f.Index).Addr().Interface().(type) {
		case *string:
			*v = "mark"
		case *[]string:
			*v = []string{"mark=hidden", "second"}
		case *time.Duration:
			*v = 90 * time.Minute
		case *int:
			*v = 77
		case *[]int:
			*v = []int{3, 4}
		case *bool:
			*v = true
		case *job.Where:
			v.Each = true
		case *job.Parameters, *[]job.Next, *catalog.State:
		default:
			t.Fatalf("%s is a %T", name, v)
		}
		before, after := fmt.Sprint(Settings(few())), fmt.Sprint(Settings(spec))
		differs, want := before != after, true
		for _, other := range shown {
			want = want && name != other
		}
		if differs != want {
			t.Errorf("%s is shown: %t, want %t; %s", name, differs, want, after)
		}
		if secret := name == "Env" || name == "Secrets" || name == "Stdin"; secret && (strings.Contains(after, "hidden") || name == "Stdin" && strings.Contains(after, "mark")) {
			t.Errorf("%s shows what may be secret: %s", name, after)
		}
	}
}
