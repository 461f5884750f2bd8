package postgres_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/executor-go/executor/durable/storetest"
)

// What can go wrong with a statement: its rows arrive in each case.
const (
	refusedByLock  = "the server refuses the commit by its lock_timeout"
	refusedByOther = "the server refuses the commit by another transaction"
	refusedFull    = "the server refuses the commit by its full disk"
	cutBefore      = "the line breaks before the commit"
	cutAfter       = "the line breaks after the commit"
	lied           = "the commit is refused, and said to be done" // no server does so
)

var codes = map[string]string{refusedByLock: "55P03", refusedByOther: "40001", refusedFull: "53100"}

// Every answer of the store is so in its tables, whatever statement fails after its rows or at its commit.
func TestStoreFaults(t *testing.T) {
	for name, more := range map[string]string{"sessions": "", "pooled": pooled} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("EXECUTOR_LONG") == "" && name == "pooled" {
				t.Skip("takes as long as the other")
			}
			storetest.RunFaults(t, func(t *testing.T) (durablestore.Store, storetest.Faults) { return faulty(t, more) })
		})
	}
}

// The suite finds a store that believes the rows of a commit which was refused, in each method that changes rows: one
// whose server lies about it looks so. It does that in a process whose tests may fail.
func TestStoreFaultsFindBelievedRows(t *testing.T) {
	if os.Getenv(lying) != "" {
		storetest.RunFaults(t, func(t *testing.T) (durablestore.Store, storetest.Faults) {
			store, faults := faulty(t, "")
			faults.Kinds = []string{lied}
			return store, faults
		})
		return
	}
	dsn(t) // or there is no PostgreSQL here
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreFaultsFindBelievedRows$")
	cmd.Env = append(os.Environ(), lying+"=1")
	out, _ := cmd.CombinedOutput()
	in := strings.ReplaceAll(lied, " ", "_")
	for _, method := range []string{"Insert", "InsertTx", "Join", "Heartbeat", "Leave", "Claim", "Release", "Commit", "CompleteTx",
		"Change_cancels", "Change_deletes", "PauseKind", "NoteAct", "Report", "Prune"} {
		if !bytes.Contains(out, []byte("FAIL: TestStoreFaultsFindBelievedRows/"+in+"/"+method+" (")) {
			t.Errorf("rows of %s that are not there are not missed", method)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

const lying = "EXECUTOR_TEST_LYING_SERVER"

// faulty returns a store behind a line with faults.
func faulty(t *testing.T, more string) (durablestore.Store, storetest.Faults) {
	direct := dsn(t)
	l := newLine(t, server.Port)
	name := strings.Replace(direct, fmt.Sprint(":", server.Port, "/"), fmt.Sprint(":", l.port(), "/"), 1) + more
	store := open(t, name)
	db, err := sql.Open("pgx", name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	kinds := []string{refusedByLock, refusedByOther, refusedFull, cutBefore, cutAfter}
	if os.Getenv("EXECUTOR_LONG") == "" {
		kinds = []string{refusedByLock, cutAfter}
	}
	return store, storetest.Faults{
		Kinds: kinds,
		Plant: l.plant,
		Met:   l.met,
		Begin: func(ctx context.Context) (durable.Tx, error) { return db.BeginTx(ctx, nil) },
	}
}

// A line is between a store and its server, and knows where each message begins.
type line struct {
	net.Listener
	target int
	all    sync.WaitGroup

	mu struct {
		sync.Mutex
		kind  string // of the fault that is planted
		after int    // how many statements there are before it
		met   bool
		conns []net.Conn
	}
}

func newLine(t *testing.T, target int) *line {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener, target: target}
	l.all.Go(l.accept)
	t.Cleanup(func() {
		l.Close()
		l.mu.Lock()
		for _, c := range l.mu.conns {
			c.Close()
		}
		l.mu.Unlock()
		l.all.Wait()
	})
	return l
}

func (l *line) port() int { return l.Addr().(*net.TCPAddr).Port }

func (l *line) plant(kind string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.kind, l.mu.after, l.mu.met = kind, n-1, false
}

func (l *line) met() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.kind = ""
	return l.mu.met
}

// next counts a statement, and returns what is to go wrong with it.
func (l *line) next() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.kind == "" || l.mu.met {
		return ""
	}
	if l.mu.after--; l.mu.after >= 0 {
		return ""
	}
	l.mu.met = true
	return l.mu.kind
}

func (l *line) accept() {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", l.target))
		if err != nil {
			near.Close()
			continue
		}
		l.mu.Lock()
		l.mu.conns = append(l.mu.conns, near, far)
		l.mu.Unlock()
		c := &conn{line: l, near: near, far: far}
		for _, pass := range []func() error{c.ask, c.answer} {
			l.all.Go(func() {
				defer near.Close()
				defer far.Close()
				pass()
			})
		}
	}
}

// conn is one connection.
type conn struct {
	line      *line
	near, far net.Conn

	mu struct {
		sync.Mutex
		fault  string // of the statement that is under way
		commit bool   // that is a commit in a transaction
		tag    []byte // what a lie says was done
	}
}

// ask passes on what the store asks.
func (c *conn) ask() error {
	first, err := message(c.near, 0)
	if err != nil {
		return err
	}
	for first[7] == 0x2e || first[7] == 0x2f { // another sort of beginning: of a cancel, or of TLS
		_, err := c.far.Write(first)
		return err
	}
	if _, err := c.far.Write(first); err != nil {
		return err
	}
	fault := ""
	for {
		m, err := message(c.near, 1)
		if err != nil {
			return err
		}
		switch text := strings.TrimRight(string(m[5:]), "\x00"); m[0] {
		case 'Q':
			if skipped(text) {
				break
			}
			if fault = c.line.next(); fault == "" || fault == cutAfter {
				c.set(fault, false)
				break
			}
			// The server runs both statements in one transaction, and refuses the second after the rows of the first.
			// If the first ends one it has to be undone instead.
			ends := strings.EqualFold(text, "commit")
			if c.set(fault, ends); ends {
				m = query("rollback")
			} else {
				m = query(text + "; " + refusal)
			}
			fault = ""
		case 'E':
			if fault = c.line.next(); fault != "" {
				c.set(fault, false)
			}
		case 'S':
			// What was executed is not committed before this: it is refused, or goes no further.
			switch fault {
			case "", cutAfter:
			case cutBefore:
				m = []byte{'H', 0, 0, 0, 4}
			default:
				m = append(parse(refusal), m...)
			}
			fault = ""
		}
		if _, err := c.far.Write(m); err != nil {
			return err
		}
	}
}

// refusal is a statement that the server refuses.
const refusal = "select refused_by_the_line()"

// skipped reports whether a statement is no part of a call: the notifier's comes at any time, and the driver's ping.
func skipped(text string) bool {
	return strings.HasPrefix(text, "select "+postgres.Notify) || strings.HasPrefix(text, "--") || text == ";"
}

func (c *conn) set(fault string, commit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.fault, c.mu.commit, c.mu.tag = fault, commit, nil
}

// answer passes on what the server answers.
func (c *conn) answer() error {
	for {
		m, err := message(c.far, 1)
		if err != nil {
			return err
		}
		c.mu.Lock()
		fault, commit := c.mu.fault, c.mu.commit
		if m[0] == 'Z' {
			c.mu.fault = ""
		}
		c.mu.Unlock()
		switch {
		case fault == "" || !bytes.ContainsRune([]byte("CEZ"), rune(m[0])):
		case fault == cutAfter && m[0] == 'Z':
			return nil
		case fault == cutAfter, fault == cutBefore && m[0] == 'C' && !commit:
			if fault == cutBefore {
				_, err := c.near.Write(m)
				return cmp.Or(err, io.EOF)
			}
			if m[0] == 'C' {
				continue
			}
		case fault == cutBefore:
			return nil
		case fault == lied && m[0] == 'E':
			continue // its answer came already
		case fault == lied && commit && m[0] == 'C':
			m = frame('C', "COMMIT\x00")
		case fault == lied && m[0] == 'Z':
			m = frame('Z', "I")
		case codes[fault] != "" && (m[0] == 'E' || commit && m[0] == 'C'):
			m = frame('E', "SERROR\x00VERROR\x00C"+codes[fault]+"\x00Mthe line refuses the commit\x00\x00")
		}
		if _, err := c.near.Write(m); err != nil {
			return err
		}
	}
}

// message reads a message whose length is behind so many bytes of its type.
func message(from io.Reader, kind int) ([]byte, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	m := append(head, make([]byte, binary.BigEndian.Uint32(head[kind:])-4)...)
	_, err := io.ReadFull(from, m[kind+4:])
	return m, err
}

func frame(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

func query(text string) []byte { return frame('Q', text+"\x00") }

// parse is the message that prepares a statement without parameters and a name.
func parse(text string) []byte { return frame('P', "\x00"+text+"\x00\x00\x00") }
