// Package killtest kills the programs beside it at random moments, and starts them again until they end.
package killtest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/storetest/pgserver"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

// Main is the work of TestMain: in a process that a test has started it calls the program's main, else it runs the
// tests.
func Main(m *testing.M, program func()) {
	if os.Getenv("RUN_MAIN") != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// A Program is killed at random, and started again until it ends.
type Program struct {
	DB, Ledger string
	Args       []string
	Lines      int               // at most so many lines of output lie between a start and a kill; the default is 10
	Steps      bool              // its jobs have steps
	Heard      func(line string) // if not nil, hears each line that the program writes
	kept       map[string]int    // how many lines of the ledger there may be of what must not be done again
	t          *testing.T
}

// OnEachStore tests a program on a file of SQLite and, unless the tests are to be short, on PostgreSQL.
func OnEachStore(t *testing.T, test func(t *testing.T, p *Program)) {
	program := func(t *testing.T) *Program {
		dir := t.TempDir()
		return &Program{DB: filepath.Join(dir, "jobs.db"), Ledger: filepath.Join(dir, "ledger.txt"),
			kept: make(map[string]int), t: t}
	}
	t.Run("sqlite", func(t *testing.T) { test(t, program(t)) })
	t.Run("postgres", func(t *testing.T) {
		if os.Getenv("EXECUTOR_LONG") == "" {
			t.Skip("a server takes some seconds to start")
		}
		server, err := pgserver.Start()
		if errors.Is(err, pgserver.ErrMissing) && os.Getenv("CI") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Stop)
		p := program(t)
		p.DB = server.DSN()
		test(t, p)
	})
}

// hang is when a run of the program is taken to hang, on a machine however busy.
const hang = 5 * time.Minute

// KillUntilItEnds starts the program and kills it, up to so many times, and then lets it end. Nothing is done again of
// which the result was kept, nor when the program is started once more. It returns the ledger.
func (p *Program) KillUntilItEnds(kills int) []world.Entry {
	p.t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("KILL_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			p.t.Fatalf("KILL_SEED: %v", err)
		}
	}
	p.t.Logf("KILL_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for killed < kills {
		if out, ended := p.run(r); ended {
			p.t.Logf("it has ended after %d kills:\n%s", killed, out)
			break
		}
		killed++
		p.look()
	}
	if killed == 0 {
		p.t.Error("it was never killed: too quick to prove anything")
	}
	p.run(nil)
	entries := p.read()
	p.run(nil)
	if again := p.read(); withoutStarts(again) != withoutStarts(entries) {
		p.t.Errorf("started once more it has done something again: %+v", again[len(entries):])
	}
	p.judgeKept(entries)
	return entries
}

// withoutStarts counts what was done.
func withoutStarts(entries []world.Entry) (n int) {
	for _, e := range entries {
		if e.What != "start" {
			n++
		}
	}
	return n
}

// Run runs the program with more arguments until it ends.
func (p *Program) Run(args ...string) {
	p.t.Helper()
	if out, err := p.command(args...).CombinedOutput(); err != nil {
		p.t.Errorf("%q: %v\n%s", args, err, out)
	}
}

func (p *Program) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	p.t.Cleanup(cancel)
	args = append(append([]string{"-db", p.DB, "-ledger", p.Ledger}, p.Args...), args...)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "RUN_MAIN=1")
	cmd.WaitDelay = time.Second
	return cmd
}

// run starts the program and, if r is not nil, kills it at a moment that r draws: some lines of output after its start
// and a little later, or soon after its start. It reports whether the program has ended by itself.
func (p *Program) run(r *rand.Rand) (out string, ended bool) {
	p.t.Helper()
	cmd := p.command()
	pipe, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	defer pipe.Close()
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close()
	if err != nil {
		p.t.Fatal(err)
	}
	lines, after, killed := -1, time.Duration(0), make(chan struct{})
	kill := func() {
		close(killed)
		cmd.Process.Kill()
	}
	if r != nil {
		lines, after = 1+r.IntN(cmp.Or(p.Lines, 10)), time.Duration(r.Int64N(int64(30*time.Millisecond)))
		if r.IntN(4) == 0 {
			lines = -1
			defer time.AfterFunc(3*after, kill).Stop()
		}
	}
	var all strings.Builder
	text := bufio.NewScanner(io.TeeReader(pipe, &all))
	for text.Scan() {
		if p.Heard != nil {
			p.Heard(text.Text())
		}
		if lines--; lines == 0 {
			time.AfterFunc(after, kill)
		}
	}
	if err := text.Err(); err != nil {
		p.t.Error(err)
	}
	err = cmd.Wait()
	select {
	case <-killed:
		if err != nil {
			return all.String(), false
		}
	default:
		if err != nil {
			p.t.Fatalf("the program failed, or hangs: %v\n%s", err, all.String())
		}
	}
	return all.String(), true
}

// read returns the ledger.
func (p *Program) read() []world.Entry {
	p.t.Helper()
	entries, err := world.ReadLedger(p.Ledger)
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	return entries
}

// look notes what the store has kept of results, while no program runs: what the ledger has of them is all that it may
// ever have.
func (p *Program) look() {
	p.t.Helper()
	store, err := world.Open(p.DB)
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		p.t.Fatal(err)
	}
	lines := count(p.read())
	keep := func(name string) {
		if _, ok := p.kept[name]; !ok {
			p.kept[name] = lines[name]
		}
	}
	for f := (durable.Filter{Limit: 1000}); ; {
		page, err := jobs.List(p.t.Context(), f)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, j := range page {
			f.After = j.ID
			if j.State == durable.Succeeded {
				keep(j.Key)
			}
			if !p.Steps {
				continue
			}
			steps, err := jobs.Steps(p.t.Context(), j.ID)
			if err != nil {
				p.t.Fatal(err)
			}
			for _, s := range steps {
				keep(s.Name + " of " + j.Key)
			}
		}
		if len(page) < f.Limit {
			return
		}
	}
}

// count returns how many lines a ledger has of each job, by its key, and of each step of a job.
func count(entries []world.Entry) map[string]int {
	lines := make(map[string]int)
	for _, e := range entries {
		lines[e.Key]++
		lines[e.What+" of "+e.Key]++
	}
	return lines
}

// judgeKept finds what was done again though its result had been kept.
func (p *Program) judgeKept(entries []world.Entry) {
	lines := count(entries)
	for name, want := range p.kept {
		if lines[name] != want {
			p.t.Errorf("%s was done %d times, %d of them before its result was kept", name, lines[name], want)
		}
	}
	p.t.Logf("%d results were kept before the last kill", len(p.kept))
}

// Expect tests the judge of a program's ledger: among the faults that it finds is the one that was planted, or there is
// none if want is empty.
func Expect(t *testing.T, ledger string, faults []string, want string) {
	t.Helper()
	if found := strings.Join(faults, "\n"); !strings.Contains(found, want) || (found == "") != (want == "") {
		t.Errorf("%q: the judge found %q, want %q", ledger, found, want)
	}
}
