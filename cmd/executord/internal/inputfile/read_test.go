//go:build unix

package inputfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A writer who does not write is waited for, and not for ever.
func TestReadGivesUp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if _, err := read(name, 100, time.Millisecond); err == nil || !strings.HasSuffix(err.Error(), name+": it is not a regular file, and did not come to its end within 10 seconds") {
		t.Errorf("error %v", err)
	}
}
