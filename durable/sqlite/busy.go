package sqlite

import (
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a writer waits for another process's.
const busyTimeout = 2 * time.Second

// maxCharge is the most of busyTimeout that one try uses up, however long it and the pause after it lasted: while the
// machine stands still, the other process can't finish.
const maxCharge = 10 * time.Millisecond

// whileBusy calls try until no other process is in its way, or for too long. The connection of try must have no
// busy_timeout. That is SQLite's own way of waiting, and worse in two ways:
//
//   - It sleeps for up to a tenth of a second between two tries, so that those that wait are late, and starve beside
//     one that is busy.
//   - It does not wait at all with a lock for which the other may wait in turn. Of two that turn a new file to WAL,
//     both share the lock of its readers when they ask for the writer's: the second must release both, and begin anew.
func whileBusy(try func() error) error {
	waited, last := time.Duration(0), time.Now()
	for {
		err := try()
		if !isBusy(err) || waited >= busyTimeout {
			return err
		}
		time.Sleep(time.Millisecond)
		now := time.Now()
		waited += min(now.Sub(last), maxCharge)
		last = now
	}
}

// isBusy reports whether another process was in the way.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
