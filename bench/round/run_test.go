package round_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/bench/round"
	"github.com/executor-go/executor/bench/subject"
)

// program writes a shell script that prints a result with the given value, if it is called
// to run that cell.
func program(t *testing.T, cell, key, value string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench")
	script := "#!/bin/sh\n" +
		"[ \"$1 $2\" = '-child " + cell + "' ] || exit 1\n" +
		"echo '{\"values\":{\"" + key + "\":" + value + "},\"ran\":1,\"want\":1}'\n"
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// Run runs our executor, and our store, in this program and those of another revision in its program, once
// in each round.
func TestRunnerRunsBase(t *testing.T) {
	for _, of := range []struct{ workload, key, ours string }{
		{"execute/2", "ns", subject.Ours},
		{"durable-throughput", "run", "executor-sqlite"},
	} {
		base, cell := subject.Before(of.ours), of.workload+" "+of.ours
		runner := round.Runner{Self: program(t, cell, of.key, "1"), Base: program(t, cell, of.key, "2"), Log: io.Discard}
		cells := round.Cells(false, func(c round.Cell) bool {
			return c.Name() == cell || c.Name() == of.workload+" "+base
		})
		samples, rounds, failed := runner.Run(t.Context(), cells, 3, 1)
		if rounds != 3 || len(failed) > 0 {
			t.Fatalf("%s: %d rounds, failed: %v", cell, rounds, failed)
		}
		for id, want := range map[string][]float64{of.ours: {1, 1, 1}, base: {2, 2, 2}} {
			if got := samples[round.Key{Workload: of.workload, Subject: id}]; !slices.Equal(got, want) {
				t.Errorf("%s: samples of %s are %v, want %v", of.workload, id, got, want)
			}
		}
	}
}

// The error for a base that is neither a directory nor a revision names it.
func TestBuildBaseUnknownRevision(t *testing.T) {
	_, err := round.BuildBase(t.Context(), "../..", "no-such-revision")
	if err == nil || !strings.Contains(err.Error(), "no-such-revision") {
		t.Errorf("error %v, want one that names the revision", err)
	}
}
