package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The test's program is that of the members, too.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Each job is run, also while one of the machines is lost, and by the one that comes back.
func TestClusterLosesMachine(t *testing.T) {
	t.Setenv("RUN_MAIN", "1")
	const n = 45
	var out strings.Builder
	if err := demonstrate(t.Context(), n, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	before, after, lost := strings.Cut(out.String(), " is lost\n")
	name := before[strings.LastIndex(before, "-- ")+len("-- "):]
	during, _, back := strings.Cut(after, "-- "+name+" is back\n")
	if !lost || !back || strings.Contains(during, name+": ") || strings.Count(during, ": job ") < n/4 {
		t.Errorf("%s was lost, and meanwhile:\n%s", name, during)
	}
	for i := range n {
		if !strings.Contains(out.String(), fmt.Sprintf(": job %d\n", i+1)) {
			t.Errorf("job %d was not run:\n%s", i+1, &out)
		}
	}
}
