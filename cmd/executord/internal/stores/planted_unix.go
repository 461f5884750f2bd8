//go:build unix

package stores

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/executor-go/executor/cmd/executord/internal/nodelock"
)

// checkBeside refuses files beside a store that somebody has put there who may not write to the store: SQLite takes the
// log that lies beside it for a part of it, and the daemon the list of its nodes.
func checkBeside(name string, store fs.FileInfo) error {
	owners := map[uint32]bool{0: true, uint32(os.Geteuid()): true}
	if stat, ok := store.Sys().(*syscall.Stat_t); ok {
		owners[stat.Uid] = true
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal", nodelock.Suffix} {
		info, err := os.Lstat(name + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the store %s: %w", name, err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case ok && !owners[stat.Uid]:
			return fmt.Errorf("the store %s: the file %s beside it belongs to user %d, and would change what is in it: "+
				"find out who put it there, and remove it", name, name+suffix, stat.Uid)
		case !info.Mode().IsRegular():
			return fmt.Errorf("the store %s: %s beside it is not a file: find out who put it there, and remove it", name, name+suffix)
		}
	}
	return nil
}
