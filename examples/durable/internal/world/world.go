// Package world is what the programs beside it have in common: how they begin and end, and a ledger that stands for a
// bank, a carrier, a mail server.
package world

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
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

// Main calls run with the store and the ledger that the flags name, and with a context that ends when the program is
// interrupted. It parses the flags: those that the program has defined, and those that all programs here have. By
// default the files are name.db and name.txt. If run returns an error, Main logs it and exits with code 1.
func Main(name string, run func(ctx context.Context, store durable.Store, outside *Ledger) error) {
	db := flag.String("db", name+".db", "the `file` with the jobs, or the URL of a PostgreSQL database")
	ledger := flag.String("ledger", name+".txt", "the `file` with a line for each thing that was done")
	crash := flag.Duration("crash", 0, "exit without cleanup after this time, as after kill -9")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *crash > 0 {
		time.AfterFunc(*crash, func() { os.Exit(137) })
	}
	if err := with(*db, *ledger, func(store durable.Store, outside *Ledger) error { return run(ctx, store, outside) }); err != nil {
		log.Fatal(err)
	}
}

// with calls f with a store and a ledger, which it closes.
func with(db, ledger string, f func(store durable.Store, outside *Ledger) error) error {
	store, err := Open(db)
	if err != nil {
		return err
	}
	defer store.Close()
	outside, err := OpenLedger(ledger)
	if err != nil {
		return err
	}
	defer outside.Close()
	return f(store, outside)
}

// Start runs jobs until stop is called, which waits until the handlers that run have returned.
func Start(ctx context.Context, jobs *durable.Jobs) (stop func()) {
	ctx, done := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	return func() { done(); <-ended }
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
