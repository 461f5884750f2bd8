// Package inputfile reads the files that executord is configured by, and does not wait for ever: what has the name of a
// file may be a pipe to which nobody writes.
package inputfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Patience is how long Read waits for what is not a regular file. It is documented.
const Patience = 10 * time.Second

var (
	errSilent = errors.New("it is not a regular file, and did not come to its end within 10 seconds")
	errEmpty  = errors.New("it is a pipe to which nobody writes")
)

// Open opens a file to read it. It does not wait for the writer of a pipe: without one, it reads nothing.
func Open(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|nonblock, 0) }

// mark is what some editors begin a text in UTF-8 with. It is no part of the text.
const mark = "\xef\xbb\xbf"

// Text returns a reader of what f has after a byte order mark, if it begins with one.
func Text(f io.Reader) io.Reader {
	text := bufio.NewReader(f)
	if begin, _ := text.Peek(len(mark)); string(begin) == mark {
		text.Discard(len(mark))
	}
	return text
}

// Read returns what is in a file, but for a byte order mark at its begin: all of it, or one byte more than most if it is
// larger. An error is a *fs.PathError. A pipe, such as <(command) in a shell, is read to its end, if that comes within
// Patience, and has to have something in it.
func Read(name string, most int) ([]byte, error) { return read(name, most, Patience) }

func read(name string, most int, patience time.Duration) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir(): // Windows opens a directory, and calls it an incorrect function to read it
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		f.SetReadDeadline(time.Now().Add(patience)) // devices that have no deadline, as /dev/null, do not wait
	}
	data, err := io.ReadAll(io.LimitReader(Text(f), int64(most)+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &fs.PathError{Op: "read", Path: name, Err: errSilent}
	case err == nil && len(data) == 0 && info.Mode()&fs.ModeNamedPipe != 0:
		err = &fs.PathError{Op: "read", Path: name, Err: errEmpty}
	}
	return data, err
}
