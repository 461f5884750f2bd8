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
	// A letter is sent twice only if the crash came between sending and committing.
	repeated := 0
	for line := range strings.Lines(first) {
		if strings.HasPrefix(line, "sent to") && strings.Contains(second, line) {
			repeated++
		}
	}
	if sent := strings.Count(first, "sent to"); repeated > 1 || repeated > 0 && repeated == sent {
		t.Errorf("%d of %d letters were sent again", repeated, sent)
	}
}
