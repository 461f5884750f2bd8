package stores

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
)

// openFile opens a store in a file.
func openFile(name string, create bool) (durable.Store, error) {
	if err := lookAtFile(name, create); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(name)
	if err != nil {
		return nil, Explain(name, err)
	}
	return store, nil
}

// sqliteMagic is how a file of SQLite begins.
const sqliteMagic = "SQLite format 3\x00"

// lookAtFile says why a file can't be a store, and makes a new one.
func lookAtFile(name string, create bool) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return fmt.Errorf("store %s does not exist; check the name, or create it with executord run --store", name)
	case errors.Is(err, fs.ErrNotExist):
		return makeFile(name)
	case err != nil:
		return unread(name, err)
	case info.IsDir():
		return fmt.Errorf("the store %s is a directory: name a file in it", name)
	case !info.Mode().IsRegular():
		// to open a pipe takes until somebody writes to it
		return fmt.Errorf("the store %s is neither a file nor a directory", name)
	}
	if err := exposure.Beside(name, info, "-wal", "-shm", "-journal", nodesSuffix); err != nil {
		return err
	}
	head, err := readHead(name)
	switch {
	case err != nil:
		return unread(name, err)
	case head == "" && create:
		return nil
	case head == "":
		return fmt.Errorf("the store %s is empty: no daemon has used it", name)
	case head != sqliteMagic:
		return fmt.Errorf("%s is not a store: it is not an SQLite file", name)
	case create:
		return nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: abs}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(2000)"}
	ready, err := isStore("sqlite", dsn.String(), "select count(*) from sqlite_master where name = 'executor_schema'")
	if err != nil {
		return Explain(name, err)
	}
	if !ready {
		return fmt.Errorf("%s is not a store: it is an SQLite file that no daemon has used", name)
	}
	return nil
}

// unread returns why a file cannot be looked at or read.
func unread(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the store %s: it may not be read, or the directory it is in: run executord as its owner", name)
	}
	return fmt.Errorf("the store %s: %w", name, complaint.Cause(err))
}

// makeFile makes an empty file that only its user may read: commands and their
// variables are in it, and a user who can write to it can have commands run. It
// follows no link, which may be another user's. Another daemon may make the file
// at the same time.
func makeFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("the store %s cannot be created: it is a link to a file that is not there", name)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the store %s cannot be created: %s", name, notMade(name))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the store %s cannot be created: executord may not create a file in the directory %s: run it as the owner of that, "+
			"or name a file in another", name, filepath.Dir(name))
	case err != nil:
		return fmt.Errorf("the store %s cannot be created: %w", name, complaint.Cause(err))
	}
	return f.Close()
}

// notMade returns what is missing when a file cannot be made.
func notMade(name string) string {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); err != nil {
		return "the directory " + dir + " does not exist"
	}
	return "no file can be created in the directory " + dir
}

func readHead(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := [len(sqliteMagic)]byte{}
	n, err := io.ReadFull(f, head[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(head[:n]), err
}
