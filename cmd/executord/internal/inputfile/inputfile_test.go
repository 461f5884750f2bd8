//go:build unix

package inputfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
)

// A file is read up to the byte that shows that it is too large.
func TestReadReadsOneByteMoreThanMost(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{3: "1234", 4: "12345", 5: "12345", 6: "12345"} {
		if got, err := inputfile.Read(name, most); string(got) != want || err != nil {
			t.Errorf("at most %d: %q, %v", most, got, err)
		}
	}
}

// A pipe without a writer is an error at once, and one with a writer is read.
func TestReadDoesNotWaitForWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := inputfile.Read(name, 100); len(got) > 0 || err == nil || !strings.HasSuffix(err.Error(), name+": it is a pipe to which nobody writes") {
		t.Errorf("without a writer: %q, %v", got, err)
	}
	hold, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	writer, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	if got, err := inputfile.Read(name, 3); string(got) != "secr" || err != nil { // the pipe is still open for writing
		t.Errorf("at most 3: %q, %v", got, err)
	}
}

// A directory is none, a socket cannot be opened, and a device without an end is cut.
func TestReadOfWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := inputfile.Read(dir, 100); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	if got, err := inputfile.Read("/dev/zero", 100); len(got) != 101 || err != nil {
		t.Errorf("/dev/zero: %d bytes, %v", len(got), err)
	}
	if got, err := inputfile.Read("/dev/null", 100); len(got) != 0 || err != nil {
		t.Errorf("/dev/null: %q, %v", got, err)
	}
}

// A byte order mark, with which some editors begin a text, is no part of it, and none of the bytes that it may have.
func TestReadLeavesOutMark(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	for text, want := range map[string]string{
		"\ufeff12345": "12345", "\ufeff123456": "12345", "\ufeff": "", "\ufeff1": "1", "\xef\xbb": "\xef\xbb", "1\ufeff": "1\ufeff", "": "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := inputfile.Read(name, 4); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
