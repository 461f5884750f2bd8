package process

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe that its writer has made larger, as some programs do that write much, is read to its end too.
func TestSourceLargePipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const size = 4 * pipeSize
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, size); err != nil {
		t.Skip(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := source{File: r}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(&s); !bytes.Equal(got, make([]byte, size)) || err != nil {
		t.Errorf("read %d of %d bytes: %v", len(got), size, err)
	}
}
