package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// After a crash the program sends all letters when it is started again, and none twice.
func TestProgramContinuesAfterCrash(t *testing.T) {
	db := filepath.Join(t.TempDir(), "letters.db")
	program := func(args ...string) (string, error) {
		cmd := exec.Command(os.Args[0], append([]string{"-db", db}, args...)...)
		cmd.Env = append(os.Environ(), "RUN_MAIN=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	first, err := program("-crash", "1s")
	if err == nil || strings.Contains(first, "all 20 letters") {
		t.Fatalf("the program did not crash:\n%s", first)
	}
	second, err := program()
	if err != nil || !strings.Contains(second, "all 20 letters are sent") {
		t.Fatalf("the second run did not send all letters: %v\n%s", err, second)
	}
	// A letter is sent twice only if the crash came between sending and committing: never one that
	// was sent before another one was begun and sent, since the node commits at once.
	if first := sent(first); len(first) > 4 && strings.Contains(second, first[0]) {
		t.Errorf("the first of %d letters was sent again", len(first))
	}
}

// sent returns the lines about letters that were sent.
func sent(out string) (lines []string) {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "sent to") {
			lines = append(lines, line)
		}
	}
	return lines
}
