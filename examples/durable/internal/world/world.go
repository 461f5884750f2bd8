// Package world is what the programs beside it have around them: a store, and a ledger that stands for a bank, a
// carrier, a mail server.
package world

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
)

// Open opens the store of a database: that of a URL of PostgreSQL, else a file of SQLite.
func Open(db string) (durable.Store, error) {
	if strings.Contains(db, "://") {
		return postgres.Open(db)
	}
	return sqlite.Open(db)
}

// CrashAfter ends the program without cleanup, as kill -9 does, after d. If d is 0 it does nothing.
func CrashAfter(d time.Duration) {
	if d > 0 {
		time.AfterFunc(d, func() { os.Exit(137) })
	}
}

// A Ledger is a service outside of the program, which takes idempotency keys: what it was asked for before it does not
// do again, and answers as it did then. It writes a line to its file for each call. Two processes must not ask one file
// for the same.
type Ledger struct {
	mu   sync.Mutex
	file *os.File
	done map[request]string // receipts
}

type request struct{ what, key string }

// An Entry is a call, as a line of the file has it.
type Entry struct {
	At      time.Time
	What    string
	Key     string
	Value   string
	Receipt string
	Again   bool // it was done before
}

// OpenLedger opens the ledger in a file, which need not be there.
func OpenLedger(name string) (*Ledger, error) {
	entries, err := ReadLedger(name)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Ledger{file: file, done: make(map[request]string)}
	for _, e := range entries {
		l.done[request{e.What, e.Key}] = e.Receipt
	}
	// A process that was killed may have left half a line.
	if text, err := os.ReadFile(name); err == nil && len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		_, err = file.WriteString("\n")
		return l, err
	}
	return l, nil
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Do does what it is asked for, unless that was done for the same key, and returns a receipt, the same for the same
// key. The texts have no spaces and are not empty.
func (l *Ledger) Do(what, key, value string) (receipt string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	receipt, again := l.done[request{what, key}]
	if !again {
		receipt = rand.Text()[:8]
	}
	how := map[bool]string{false: "first", true: "again"}[again]
	line := fmt.Sprintln(time.Now().UTC().Format(time.RFC3339Nano), what, key, value, receipt, how)
	if _, err := l.file.WriteString(line); err != nil {
		return "", err
	}
	l.done[request{what, key}] = receipt
	return receipt, nil
}

// Done reports whether that was done for the key.
func (l *Ledger) Done(what, key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.done[request{what, key}]
	return ok
}

// ReadLedger returns the calls of a ledger, in their order.
func ReadLedger(name string) (entries []Entry, err error) {
	text, err := os.ReadFile(name)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 || !strings.HasSuffix(line, "\n") {
			continue // half a line
		}
		at, err := time.Parse(time.RFC3339Nano, f[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entries = append(entries, Entry{at, f[1], f[2], f[3], f[4], f[5] == "again"})
	}
	return entries, err
}
