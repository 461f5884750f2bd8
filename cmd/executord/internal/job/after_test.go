package job

import (
	"slices"
	"testing"
)

// A job follows the ends that it names.
func TestNextFollows(t *testing.T) {
	for on, want := range map[string][2]bool{"": {true, false}, "success": {true, false}, "failure": {false, true}, "either": {true, true}} {
		n := Next{On: on}
		if got := [2]bool{n.Follows(true), n.Follows(false)}; got != want {
			t.Errorf("%q: after a good run and a bad one %v, want %v", on, got, want)
		}
	}
}

// A cycle is found wherever it is, in the order in which its jobs would run; without one there is none.
func TestCycle(t *testing.T) {
	jobs := func(after ...[]string) (all []Job) {
		for _, names := range after {
			all = append(all, Job{Name: names[0], After: names[1:]})
		}
		return all
	}
	for _, test := range []struct {
		jobs []Job
		want []string
	}{
		{jobs([]string{"a"}, []string{"b", "a"}, []string{"c", "a", "b"}, []string{"d", "c", "b", "nosuch"}), nil},
		{jobs([]string{"a", "a"}), []string{"a"}},
		{jobs([]string{"x"}, []string{"a", "x", "c"}, []string{"b", "a"}, []string{"c", "b"}), []string{"b", "c", "a"}},
	} {
		if got := Cycle(test.jobs); !slices.Equal(got, test.want) {
			t.Errorf("%v: %q, want %q", test.jobs, got, test.want)
		}
	}
}
