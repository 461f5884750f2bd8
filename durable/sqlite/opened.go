package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// opened are the files that were opened, by their paths: that of the database, and its write-ahead log. SQLite goes on
// with a file that was removed or replaced: what is written is lost with the process, and other programs that open the
// path run the same jobs.
type opened []openedFile

type openedFile struct {
	what, path string
	info       os.FileInfo
}

// watch returns the files of the database at path, which is open. There may be no write-ahead log yet.
func watch(path string) (opened, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := opened{{"", path, info}}
	if info, err := os.Stat(path + "-wal"); err == nil {
		files = append(files, openedFile{"the write-ahead log ", path + "-wal", info})
	}
	return files, nil
}

// there returns an error if one of the paths no longer leads to the file. It takes two microseconds, and is called once
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
