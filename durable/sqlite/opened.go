package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// opened is the file that was opened, by its path. SQLite goes on with a file that
// was removed, or that another has taken the place of: what is written is gone with
// the process, and others who open the path run the same jobs.
type opened struct {
	path string
	info os.FileInfo
}

// there is an error if the path leads to the file no more. It takes a microsecond, and
// is asked once for each transaction.
func (o opened) there() error {
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("durable/sqlite: %q was removed while it was open: put it back, or end all programs that have it open", o.path)
	case err == nil && !os.SameFile(info, o.info):
		return fmt.Errorf("durable/sqlite: %q was replaced by another file while it was open: put it back, or end all programs that had it open", o.path)
	}
	return nil // or nobody knows
}
