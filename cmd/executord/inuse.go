package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/executor-go/executor/cmd/executord/internal/filelock"
	"github.com/executor-go/executor/cmd/executord/internal/inputfile"
)

// inUse is the locks on the job files that a daemon runs, by which one without a store notices another one: each due time
// would have two runs. It is no more than noticed: whoever may read a file can have a lock on it, and must not be able to
// keep its jobs from running.
type inUse struct {
	mu     sync.Mutex
	shared bool // daemons with a store run the jobs together
	files  map[string]*os.File
	over   bool // nothing is run any more
}

// look locks the files of those names, and directories, in place of those before. A file that was replaced is another one.
// It warns of those that another daemon has.
func (u *inUse) look(log *slog.Logger, names []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, f := range u.files {
		if !slices.Contains(names, name) || !isOpen(name, f) {
			f.Close()
			delete(u.files, name)
		}
	}
	for _, name := range names {
		if u.over || u.files[name] != nil || readOnce(name) {
			continue
		}
		f, err := inputfile.Open(name)
		if err != nil {
			continue // who reads it says so
		}
		if err := u.lock(f); errors.Is(err, filelock.ErrTaken) {
			log.Warn("another daemon runs the jobs of this file", "file", name, "reason", "each due time has a run in both",
				"hint", "end one of the two, or have them share the jobs in a store: --store")
		}
		if u.files == nil {
			u.files = make(map[string]*os.File)
		}
		u.files[name] = f
	}
}

// lock shares the lock on a file. The error is filelock.ErrTaken if this daemon should have the file alone, and another
// one has it, too.
func (u *inUse) lock(f *os.File) error {
	var err error
	if !u.shared {
		err = filelock.Alone(f)
	}
	filelock.TryShare(f) // those that come later are to see this one
	return err
}

// end unlocks the files: this daemon begins no more runs, and another one may take its place.
func (u *inUse) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.files {
		f.Close()
	}
	u.files, u.over = nil, true
}

// isOpen reports whether an open file is the one that has a name.
func isOpen(name string, f *os.File) bool {
	now, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	open, openErr := f.Stat()
	return err == nil && openErr == nil && os.SameFile(now, open)
}
