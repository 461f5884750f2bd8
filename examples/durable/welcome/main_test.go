package main

import (
	"bufio"
	"os"
	"os/exec"
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

// A mail whose program was killed right after it added the job is sent by the next program.
func TestMailIsSentAfterKill(t *testing.T) {
	dir := t.TempDir()
	start := func(args ...string) (*exec.Cmd, func(text string)) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "RUN_MAIN=1")
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		return cmd, func(text string) {
			for lines.Scan() {
				if strings.Contains(lines.Text(), text) {
					return
				}
			}
			t.Fatalf("the program ended without the line %q (%v)", text, lines.Err())
		}
	}
	cmd, until := start("ann")
	until("added")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	_, until = start()
	until("welcome, ann")
}
