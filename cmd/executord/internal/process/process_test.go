//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// supervise returns a Supervisor with orphans adopted, since not every PID
// 1 waits for them. At the end of the test none may be left.
func supervise(t *testing.T, grace time.Duration) *Supervisor {
	s := New(grace)
	stop := s.Adopt()
	t.Cleanup(func() {
		if strays, _ := s.EndStrays(); len(strays) > 0 {
			t.Errorf("the test leaves %v", strays)
		}
		stop()
	})
	return s
}

// patience is how long a test waits for what has to come. It is no claim: it only
// ends a test that waits for nothing, on a machine however busy.
const patience = time.Minute

// record is an Observer that keeps what it gets. Lines are also sent on a
// channel, for tests that wait for one.
type record struct {
	mu    sync.Mutex
	pid   int
	lines []string
	line  chan string
}

func newRecord() *record { return &record{line: make(chan string, 1000)} }

func (r *record) observer() Observer {
	return Observer{
		Started: func(pid int, _ time.Time) { r.pid = pid },
		Output: func(stream Stream, line []byte, more bool) {
			text := string(stream) + ":" + string(line)
			if more {
				text += "..."
			}
			r.mu.Lock()
			r.lines = append(r.lines, text)
			r.mu.Unlock()
			r.line <- text
		},
	}
}

// await waits for a line.
func (r *record) await(t *testing.T, want string) {
	t.Helper()
	for {
		select {
		case line := <-r.line:
			if line == want {
				return
			}
		case <-time.After(patience):
			t.Fatalf("the line %q did not come", want)
		}
	}
}

func (r *record) String() string { return strings.Join(r.lines, "\n") }

func sh(script string) Command {
	return Command{Args: []string{"/bin/sh", "-c", script}, Env: os.Environ()}
}

// expectNoMembers expects nothing of a group to be left but zombies, whose parents may
// take their time to reap them.
func expectNoMembers(t *testing.T, group int) {
	t.Helper()
	if groupAlive(group) && !groupDead(group) && groupAlive(group) { // it may become empty meanwhile
		t.Errorf("the group %d has members after the run", group)
	}
}

// runAll runs a command that has to end by itself.
func runAll(t *testing.T, s *Supervisor, c Command) (Result, *record) {
	t.Helper()
	r := newRecord()
	result := s.Run(t.Context(), c, r.observer())
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	expectNoMembers(t, r.pid)
	return result, r
}

func TestRunResult(t *testing.T) {
	tests := []struct {
		script string
		code   int
		signal string
	}{
		{"exit 0", 0, ""},
		{"exit 7", 7, ""},
		{"kill -9 $$", -1, "SIGKILL"},
		{"kill -TERM $$", -1, "SIGTERM"},
	}
	s := supervise(t, time.Second)
	for _, test := range tests {
		result, _ := runAll(t, s, sh(test.script))
		if result.Code != test.code || result.Signal != test.signal || result.OK() != (test.code == 0) ||
			result.Took <= 0 {
			t.Errorf("%s: %+v", test.script, result)
		}
	}
}

// Both streams arrive line by line, whatever is in the lines.
func TestRunOutput(t *testing.T) {
	_, r := runAll(t, supervise(t, time.Second), sh(`printf 'a\n\nb\r\n\377\000c\nlast'; printf 'e\n' >&2`))
	for _, want := range []string{"stdout:a", "stdout:", "stdout:b", "stdout:\xff\x00c", "stdout:last", "stderr:e"} {
		if !strings.Contains("\n"+r.String()+"\n", "\n"+want+"\n") {
			t.Errorf("no line %q in %q", want, r)
		}
	}
	if len(r.lines) != 6 {
		t.Errorf("%d lines, want 6", len(r.lines))
	}
}

// A command that fills both pipes and reads all its input does not hang.
func TestRunFullPipes(t *testing.T) {
	c := sh(`cat >&2; head -c 300000 /dev/zero | tr '\0' x; echo`)
	c.Stdin = strings.Repeat("0123456789abcde\n", 20000)
	got := make(map[Stream]int)
	var mu sync.Mutex
	result := supervise(t, time.Second).Run(t.Context(), c, Observer{
		Started: func(int, time.Time) {},
		Output: func(stream Stream, line []byte, more bool) {
			mu.Lock()
			defer mu.Unlock()
			got[stream] += len(line)
		},
	})
	if !result.OK() || got[Stdout] != 300000 || got[Stderr] != 300000 {
		t.Errorf("result %+v, bytes %v", result, got)
	}
}

// A command that does not read its input, however much it is, is no problem.
func TestRunInputNotRead(t *testing.T) {
	c := sh("exit 3")
	c.Stdin = strings.Repeat("x", 1<<20)
	if result, _ := runAll(t, supervise(t, time.Second), c); result.Code != 3 {
		t.Errorf("result %+v", result)
	}
}

func TestRunWithoutInput(t *testing.T) {
	if _, r := runAll(t, supervise(t, time.Second), sh("cat; echo end")); r.String() != "stdout:end" {
		t.Errorf("output %q", r)
	}
}

// Directory and environment are those of the command, and its own PATH is where
// its program is looked for.
func TestRunSurroundings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "greet")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $A; pwd; echo $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, r := runAll(t, supervise(t, time.Second), Command{
		Args: []string{"greet", "x y"},
		Env:  []string{"A=1", "PATH=/nowhere", "PATH=relative::" + dir, "A=2"},
		Dir:  dir,
	})
	if want := "stdout:2\nstdout:" + dir + "\nstdout:x y"; r.String() != want {
		t.Errorf("got %q, want %q", r, want)
	}
}

// Each way in which a command cannot start has its own words.
func TestRunCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "x", 0o644)
	tests := []struct {
		c    Command
		want string
	}{
		{Command{Args: []string{"/no/such"}}, "program /no/such does not exist"},
		{Command{Args: []string{"nosuch"}, Env: []string{"PATH=/bin"}}, `program "nosuch" is not in PATH=/bin`},
		{Command{Args: []string{"plain"}, Env: []string{"PATH=" + dir}}, plain + " may not be executed"},
		{Command{Args: []string{"/bin/sh"}, Dir: "/no/such"}, "the directory /no/such does not exist"},
		{Command{Args: []string{"/bin/sh"}, Dir: plain}, plain + " is not a directory"},
		{Command{Args: []string{plain}}, plain + " may not be executed: it has no execute permission"},
		{Command{Args: []string{dir}}, dir + " is a directory, not a program"},
		{Command{Args: []string{write("script", "#!/no/such\n", 0o755)}}, dir + `/script cannot run: the interpreter named in its first line, "/no/such", does not exist`},
		{Command{Args: []string{write("windows", "#! /bin/sh\r\n", 0o755)}}, dir + `/windows cannot run: the interpreter named in its first line, "/bin/sh\r", does not exist`},
		{Command{Args: []string{write("text", "echo hi\n", 0o755)}}, dir + "/text is not a program for this machine, or is a script without #! in its first line"},
		{Command{Args: []string{"/bin/sh", strings.Repeat("x", 4<<20)}}, "the command and its environment are longer than the system allows"},
	}
	supervisor := supervise(t, time.Second)
	for _, test := range tests {
		result := supervisor.Run(t.Context(), test.c, Observer{})
		if result.Err == nil || result.Err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", result.Err, test.want)
		}
	}
}

// What a user may not use is named.
func TestRunSaysWhatIsDenied(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs commands as another user")
	}
	as, err := LookUpUser("nobody")
	if err != nil {
		t.Skip(err)
	}
	base, err := os.MkdirTemp("/tmp", "denied") // which all may enter, as they may not a directory of the test
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(base, "closed")
	script := filepath.Join(base, "script")
	for _, err := range []error{
		os.Chmod(base, 0o755), os.MkdirAll(filepath.Join(closed, "within"), 0o700), os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(filepath.Join(closed, "script"), []byte("#!/bin/sh\n"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	supervisor := supervise(t, time.Second)
	for _, test := range []struct {
		c    Command
		want string
	}{
		{Command{Args: []string{"/bin/sh"}, Dir: filepath.Join(closed, "within")}, "user nobody may not enter the directory " + closed},
		{Command{Args: []string{filepath.Join(closed, "script")}}, closed + "/script cannot run: user nobody may not enter the directory " + closed},
		{Command{Args: []string{script}}, "user nobody may not execute " + script},
	} {
		test.c.As = as
		if result := supervisor.Run(t.Context(), test.c, newRecord().observer()); result.Err == nil || !strings.HasPrefix(result.Err.Error(), test.want) {
			t.Errorf("got  %v\nwant %s", result.Err, test.want)
		}
	}
}

// Whatever the PATH says, programs of the working directory, and of those below it,
// are found by their paths only.
func TestRunDoesNotSearchWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"program", "bin/program"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	supervisor := supervise(t, time.Second)
	for _, path := range []string{"", ".", ":/nowhere", "bin"} {
		c := Command{Args: []string{"program"}, Env: []string{"PATH=" + path}}
		if result := supervisor.Run(t.Context(), c, newRecord().observer()); result.Err == nil {
			t.Errorf("found in PATH=%s", path)
		}
	}
}

// What is missing need not be the program: without an interpreter in a first line
// it is the loader, and it may be the device for a standard input that is empty.
func TestRunSaysWhatIsMissing(t *testing.T) {
	program, err := os.ReadFile("/bin/sh")
	loader := []byte("/ld-linux")
	if err != nil || !bytes.Contains(program, loader) {
		t.Skip("the shell needs no loader that is known here")
	}
	path := filepath.Join(t.TempDir(), "sh")
	if err := os.WriteFile(path, bytes.ReplaceAll(program, loader, []byte("/no-linux")), 0o755); err != nil {
		t.Fatal(err)
	}
	result := supervise(t, time.Second).Run(t.Context(), Command{Args: []string{path, "-c", ":"}}, Observer{})
	if want := path + " cannot run: the loader that it is linked for does not exist, as in an image with another C library, or with none"; result.Err == nil || result.Err.Error() != want {
		t.Errorf("got  %v\nwant %s", result.Err, want)
	}

	missing := &fs.PathError{Op: "open", Path: os.DevNull, Err: syscall.ENOENT}
	if got := explain(missing, &exec.Cmd{Path: "/bin/sh"}, nil); got != error(missing) {
		t.Errorf("got %v, want %v", got, missing)
	}
}

// An observer that is stuck, as with a log that is not read, does not keep a run
// from being ended, not even before it has taken the start of it.
func TestRunStuckObserver(t *testing.T) {
	supervisor := supervise(t, patience)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, release, done := make(chan int), make(chan struct{}), make(chan Result)
	var lines []string
	go func() {
		done <- supervisor.Run(ctx, sh("echo up; exec sleep 1000"), Observer{
			Started: func(pid int, _ time.Time) { begun <- pid; <-release },
			Output:  func(_ Stream, line []byte, _ bool) { lines = append(lines, string(line)) },
		})
	}()
	pid := <-begun
	cancel()
	for deadline := time.Now().Add(patience); groupAlive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the run goes on")
			break
		}
	}
	close(release)
	if result := <-done; !result.Stopped || result.Signal != "SIGTERM" {
		t.Errorf("result %+v", result)
	}
	if len(lines) > 1 || len(lines) == 1 && lines[0] != "up" {
		t.Errorf("output %q", lines)
	}
}

// A context that has ended starts nothing.
func TestRunEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 { // it may be the turn of any
		if result := supervise(t, 0).Run(ctx, sh("exit 0"), Observer{}); result.Err != context.Canceled || !result.Stopped {
			t.Errorf("result %+v", result)
		}
	}
}

// stop runs a script, ends its context once it has written "ready", and
// returns what became of it.
func stop(t *testing.T, grace time.Duration, script string) (Result, *record) {
	t.Helper()
	r := newRecord()
	supervisor := supervise(t, grace)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result)
	go func() { done <- supervisor.Run(ctx, sh(script), r.observer()) }()
	r.await(t, "stdout:ready")
	cancel()
	result := <-done
	expectNoMembers(t, r.pid)
	return result, r
}

// The end of the context reaches the whole group as SIGTERM. (The child says that
// it is ready, since a shell loses the signal between its fork and exec.)
func TestRunStops(t *testing.T) {
	result, r := stop(t, time.Minute, `trap 'echo bye; exit 5' TERM; sh -c 'echo ready; exec sleep 1000' & wait`)
	if !result.Stopped || result.Killed || result.Code != 5 || result.OK() || !strings.Contains(r.String(), "stdout:bye") {
		t.Errorf("result %+v, output %q", result, r)
	}
}

// A process that was stopped (SIGSTOP) is woken, so that it can end by itself.
func TestRunStopsStoppedProcess(t *testing.T) {
	result, r := stop(t, time.Minute, `trap 'echo bye; exit 5' TERM; (kill -STOP $$; echo ready) & wait`)
	if !result.Stopped || result.Killed || result.Code != 5 || !strings.Contains(r.String(), "stdout:bye") {
		t.Errorf("result %+v, output %q", result, r)
	}
}

// What ignores SIGTERM is killed after the grace, children and theirs too.
func TestRunKillsAfterGrace(t *testing.T) {
	result, _ := stop(t, 50*time.Millisecond, `trap '' TERM; (sleep 1000; (sleep 1000)) & (sh -c 'sleep 1000; true' & wait) & echo ready; wait`)
	if !result.Stopped || !result.Killed || result.Signal != "SIGKILL" {
		t.Errorf("result %+v", result)
	}
}

// A shell that obeys while its child does not is not the end of the run.
func TestRunStopsChild(t *testing.T) {
	result, _ := stop(t, 50*time.Millisecond, `(trap '' TERM; echo ready; sleep 1000; sleep 1000) & exec sleep 1000`)
	if !result.Stopped || !result.Killed || result.Signal != "SIGTERM" {
		t.Errorf("result %+v", result)
	}
}

// Kill needs no grace.
func TestSupervisorKill(t *testing.T) {
	r, s := newRecord(), supervise(t, time.Hour)
	done := make(chan Result)
	go func() { done <- s.Run(t.Context(), sh(`trap '' TERM; echo ready; sleep 1000`), r.observer()) }()
	r.await(t, "stdout:ready")
	s.Kill()
	s.Kill()
	if result := <-done; !result.Stopped || !result.Killed || result.Signal != "SIGKILL" {
		t.Errorf("result %+v", result)
	}
}

// A background process that the command leaves is ended with the run, and its
// last words are still read.
func TestRunEndsLeftover(t *testing.T) {
	up := filepath.Join(t.TempDir(), "up")
	c := sh(`(trap 'echo last words; exit' TERM; : >"$UP"; while :; do sleep 0.01; done) & until test -e "$UP"; do sleep 0.01; done; exit 4`)
	c.Env = append(c.Env, "UP="+up)
	began := time.Now()
	result, r := runAll(t, supervise(t, time.Minute), c)
	if result.Code != 4 || !result.Leftover || result.Killed || !strings.Contains(r.String(), "stdout:last words") {
		t.Errorf("result %+v, output %q", result, r)
	}
	if lasted := time.Since(began); lasted < result.Took+linger {
		t.Errorf("took %v of %v: the time of the background process counts", result.Took, lasted)
	}
}

// A background process that ends by itself in good time is left in peace.
func TestRunWaitsForShortLeftover(t *testing.T) {
	const tries = 10
	s := supervise(t, time.Minute)
	for try := 1; ; try++ {
		result, r := runAll(t, s, sh(`(sleep 0.05; echo late) & exit 0`))
		if result.Leftover && try < tries {
			continue // a machine that is busy may take longer once, but not each time
		}
		if result.Leftover || !result.OK() || r.String() != "stdout:late" {
			t.Errorf("result %+v, output %q", result, r)
		}
		return
	}
}

// Lines are cut at the limit and between characters, and whatever the sizes of
// the reads, the pieces are the whole.
func TestCopyLines(t *testing.T) {
	const e = "é" // two bytes
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"lines", "a\nbc\n\nd", []string{"a", "bc", "", "d"}},
		{"exactly full", strings.Repeat("x", maxLine) + "\ny", []string{strings.Repeat("x", maxLine) + "...", "", "y"}},
		{"full at the end", strings.Repeat("x", maxLine), []string{strings.Repeat("x", maxLine) + "...", ""}},
		{"longer", strings.Repeat("x", maxLine+3), []string{strings.Repeat("x", maxLine) + "...", "xxx"}},
		{"between characters", "x" + strings.Repeat(e, maxLine/2), []string{"x" + strings.Repeat(e, maxLine/2-1) + "...", e}},
		{"no characters", strings.Repeat("\xa9", maxLine+1), []string{strings.Repeat("\xa9", maxLine) + "...", "\xa9"}},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r },
		"bytes": iotest.OneByteReader,
		"error": iotest.DataErrReader,
	}
	for _, test := range tests {
		for kind, reader := range readers {
			var got []string
			copyLines(reader(strings.NewReader(test.in)), Stdout, func(_ Stream, line []byte, more bool) {
				s := string(line)
				if more {
					s += "..."
				}
				got = append(got, s)
			})
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s, read as %s: %d pieces of %.60q", test.name, kind, len(got), got)
			}
		}
	}
}
