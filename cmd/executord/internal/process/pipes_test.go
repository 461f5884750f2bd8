package process

import (
	"io"
	"os"
	"testing"
)

// What a run has written is read, however late its reader gets a processor: after the
// end of the run, and after the grace for those who still hold the pipe.
func TestLateReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := source{File: r, left: pipeSize}
	if _, err := io.WriteString(w, "the last words"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if s.end() != nil {
		t.Skip("pipes have no deadlines on this system")
	}
	if got, err := io.ReadAll(&s); string(got) != "the last words" || err != nil {
		t.Errorf("read %q: %v", got, err)
	}
}
