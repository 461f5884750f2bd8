package job_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// What a Where is as values is read as the same, and in whatever order and case it was written.
func TestWhereIsReadAsWritten(t *testing.T) {
	for _, test := range []struct {
		values []string
		text   string
	}{
		{nil, ""}, {[]string{"web-1"}, "web-1"}, {[]string{"Web-1", "gpu", "web-1"}, "gpu, web-1"}, {[]string{"eu+gpu", "*.example.org"}, "*.example.org, eu+gpu"},
		{[]string{"all"}, "all"}, {[]string{"ALL gpu", "db"}, "all db, gpu"}, {[]string{"all", "gpu"}, "all gpu"}, {[]string{"region=eu:west"}, "region=eu:west"},
	} {
		w, err := job.ParseWhere(test.values)
		if err != nil || w.String() != test.text {
			t.Errorf("%q is %q, want %q: %v", test.values, w, test.text, err)
		}
		again, err := job.ParseWhere(w.Values())
		if err != nil || again.Each != w.Each || !slices.Equal(again.Among, w.Among) {
			t.Errorf("%q is read as %+v, and was %+v: %v", w.Values(), again, w, err)
		}
	}
}

// What can't be the name of a machine is an error.
func TestWhereDeclinesMistakes(t *testing.T) {
	for _, values := range [][]string{
		{""}, {"a b"}, {"gpu+"}, {"gpu", "all"}, {"all+gpu"}, {"all all"}, {"web/1"}, {"[ab]"}, {"é"}, {strings.Repeat("x", 65)},
		{strings.Repeat("x", 60), strings.Repeat("y", 60)},
	} {
		if w, err := job.ParseWhere(values); err == nil {
			t.Errorf("%q is read as %+v", values, w)
		}
	}
	for _, bad := range []string{"a b", "a*", "all", "é", "a+b"} {
		if m, err := job.NewMachine(bad, nil); err == nil {
			t.Errorf("%q is the machine %+v", bad, m)
		}
		if m, err := job.NewMachine("web-1", []string{bad}); err == nil {
			t.Errorf("%q is a label of %+v", bad, m)
		}
	}
}
