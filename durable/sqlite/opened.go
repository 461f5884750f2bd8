package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// opened are the files that were opened, by their paths: that of the database, its write-ahead log, and the index of
// that, in which the locks are. SQLite goes on with a file that was removed or replaced: what is written is lost with the
// process, and other programs that open the path run the same jobs, or write at the same time.
type opened []openedFile

type openedFile struct {
	what, path string
	info       os.FileInfo
}

// watch returns the files of the database at path, which is open. There may be no write-ahead log yet. It is beside the
// file, and not beside a link to it.
func watch(path string) (opened, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := opened{{"", path, info}}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, f := range []openedFile{{what: "the write-ahead log ", path: real + "-wal"},
		{what: "the index of the write-ahead log ", path: real + "-shm"}} {
		if f.info, err = os.Stat(f.path); err == nil {
			files = append(files, f)
		}
	}
	return files, nil
}

// there returns an error if one of the paths no longer leads to the file. It takes three microseconds, and is called once
// for each transaction.
func (o opened) there() error {
	for _, f := range o {
		info, err := os.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("durable/sqlite: %s%q was removed while it was open: put it back, or end all programs that have it open", f.what, f.path)
		case err == nil && !os.SameFile(info, f.info):
			return fmt.Errorf("durable/sqlite: %s%q was replaced by another file while it was open: put it back, or end all programs that had it open",
				f.what, f.path)
		}
	}
	return nil // or it cannot be known
}
