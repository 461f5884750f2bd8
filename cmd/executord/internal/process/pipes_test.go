package process

import (
	"io"
	"os"
	"testing"
)

// What a run has written is read, however late its reader gets a processor: after the
// end of the run, and after the grace for those that still hold the pipe.
func TestSourceLateReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := source{File: r}
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

// Who still holds the pipe and never lets it be empty does not keep the run from
// ending: not more is read than it could hold at the end of the run.
func TestSourceIsNeverEmpty(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s := source{File: r}
	more := make([]byte, 4<<10)
	if _, err := w.Write(more); err != nil {
		t.Fatal(err)
	}
	if s.end() != nil {
		t.Skip("pipes have no deadlines on this system")
	}
	for read := 0; ; {
		n, err := s.Read(make([]byte, len(more)))
		if read += n; read > pipeSize {
			t.Fatalf("read %d bytes", read)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(more[:n]); err != nil {
			t.Fatal(err)
		}
	}
}
