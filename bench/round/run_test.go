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

// program writes a shell script that prints a result with the given ns, if it is called
// to run execute/2 on the executor.
func program(t *testing.T, ns string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench")
	script := "#!/bin/sh\n" +
		"[ \"$1 $2\" = '-child execute/2 executor' ] || exit 1\n" +
		"echo '{\"values\":{\"ns\":" + ns + "},\"ran\":1,\"want\":1}'\n"
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// Run runs our executor in this program and that of another revision in its program, once
// in each round.
func TestRunnerRunsBase(t *testing.T) {
	runner := round.Runner{Self: program(t, "1"), Base: program(t, "2"), Log: io.Discard}
	cells := round.Cells(false, func(c round.Cell) bool {
		return c.Name() == "execute/2 "+subject.Ours || c.Name() == "execute/2 "+subject.Base
	})
	samples, rounds, failed := runner.Run(t.Context(), cells, 3, 1)
	if rounds != 3 || len(failed) > 0 {
		t.Fatalf("%d rounds, failed: %v", rounds, failed)
	}
	for id, want := range map[string][]float64{subject.Ours: {1, 1, 1}, subject.Base: {2, 2, 2}} {
		if got := samples[round.Key{Workload: "execute/2", Subject: id}]; !slices.Equal(got, want) {
			t.Errorf("samples of %s are %v, want %v", id, got, want)
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
