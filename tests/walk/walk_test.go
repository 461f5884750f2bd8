package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The first block of a function says how often it was called; other blocks, and calls that few walks make, do not
// count.
func TestCallsCountsFirstBlocks(t *testing.T) {
	t.Chdir("../..")
	source, err := os.ReadFile("tests/walk/walk.go")
	if err != nil {
		t.Fatal(err)
	}
	line := func(of string) int { // and the column of the brace behind it
		before, _, ok := strings.Cut(string(source), of)
		if !ok {
			t.Fatalf("there is no %q", of)
		}
		return 1 + strings.Count(before, "\n")
	}
	block := func(of string, count string) string {
		at := of[strings.LastIndex(of, "\n")+1:]
		return module + "/tests/walk/walk.go:" + strconv.Itoa(line(of)) + "." + strconv.Itoa(len(at)) + "," + "999.1 1 " + count + "\n"
	}
	profile := "mode: atomic\n" +
		block("func main() {", "4000") +
		block("func sum(counts map[string]float64) (t total) {", "2") +
		module + "/tests/walk/walk.go:1.1,999.1 1 9000\n"
	counts, err := calls(strings.NewReader(profile))
	if err != nil || len(counts) != 1 || counts["main.main"] != 2 {
		t.Errorf("counts are %v, %v", counts, err)
	}
}
