package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mainVariable makes the test binary behave as executord itself, so that the
// tests run the real program, with the race detector if they have it.
const mainVariable = "EXECUTORD_TEST_MAIN"

// linesVariable has several command lines, as JSON, which the process runs one after the other, for tests of many that
// take less time than to start it. After what each writes to standard error, exitMark and the exit code make a line.
const linesVariable, exitMark = "EXECUTORD_TEST_LINES", "exit code of the test: "

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) == "" {
		waitTogether()
		code := m.Run()
		stopPostgres()
		os.Exit(code)
	}
	endWithTests()
	echo = 0
	if !slices.ContainsFunc(append(os.Args, os.Getenv("EXECUTORD_STORE")), isThere) {
		databaseWait = 2 * time.Second
	}
	code, lines := exitOK, [][]string{os.Args[1:]}
	if text := os.Getenv(linesVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &lines); err != nil {
			panic(err)
		}
		databaseWait = 50 * time.Millisecond // for each
	}
	for _, line := range lines {
		code = execute(line)
		if len(lines) > 1 {
			fmt.Fprintf(os.Stderr, "%s%d\n", exitMark, code)
		}
	}
	if leak := leakedGoroutines(); leak != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left:\n"+leak)
		code = 99
	}
	os.Exit(code)
}

// isThere reports whether a server of the tests is named. It answers, but beside other tests that may take long.
func isThere(store string) bool {
	return strings.Contains(store, "etcd://") || strings.Contains(store, "search_path=test_")
}

// waitTogether has eight tests run at a time, unless -parallel says otherwise: most of the time they wait, for
// processes, leases and times that come.
func waitTogether() {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		flag.Set("test.parallel", "8")
	}
}

// leakedGoroutines returns the stacks of the goroutines that are left when
// executord ends, but for those of package signal, which never end, that in a write to a log
// that is not read, and those of connections that etcd keeps to members it has asked for their versions.
func leakedGoroutines() string {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		var b bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&b, 2)
		left := ""
		for _, stack := range strings.Split(b.String(), "\n\n")[1:] {
			if !strings.Contains(stack, "os/signal.") && !strings.Contains(stack, ".awaitEndOfTests(") &&
				!(slices.Contains(os.Args, "--cluster") && strings.Contains(stack, "net/http.(*persistConn)")) &&
				!(strings.Contains(stack, "logwriter.(*Writer).writePiece") && strings.Contains(stack, "syscall.write(")) {
				left += stack + "\n\n"
			}
		}
		if left == "" || time.Now().After(deadline) {
			return left
		}
	}
}

// executord returns the program with arguments. It is killed with all its
// children at the end of the test, if the test fails to end it.
func executord(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// By default, a program with the race detector waits a second at its end.
	cmd.ExtraFiles = lifeline(t)
	cmd.Env = append(os.Environ(), mainVariable+"=1", marker(t), "TZ=UTC", "GORACE=atexit_sleep_ms=0 halt_on_error=1")
	return cmd
}

// marker is an environment variable with the test to which a process belongs.
func marker(t *testing.T) string {
	return fmt.Sprintf("EXECUTORD_TEST_NAME=%d/%s", os.Getpid(), t.Name())
}

// leftProcesses returns the processes of the test that are alive.
func leftProcesses(t *testing.T) []string { return leftMarked(marker(t)) }

// leftMarked returns the processes with a marker that are alive.
func leftMarked(marker string) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	var left []string
	processes, _ := filepath.Glob("/proc/[0-9]*") // a pattern within each has Glob read its directory, which takes long
	for _, dir := range processes {
		if env, err := os.ReadFile(dir + "/environ"); err == nil && bytes.Contains(env, []byte(marker+"\x00")) {
			command, _ := os.ReadFile(dir + "/cmdline")
			left = append(left, filepath.Base(dir)+" "+string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return left
}

// output runs the program to its end.
func output(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := executord(t, args...)
	var out, fail strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &fail
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), fail.String(), cmd.ProcessState.ExitCode()
}

// answer is what a command line has said on standard error, and its exit code.
type answer struct {
	said string
	code int
}

// inTurn has a program run command lines, two or more, one after the other, in a directory without files if it has no
// other. It returns what all of them have printed, and what each has answered.
func inTurn(t *testing.T, cmd *exec.Cmd, lines [][]string) (printed string, answers []answer) {
	t.Helper()
	text, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	cmd.Env = append(cmd.Env, linesVariable+"="+string(text))
	var out, fail strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &fail
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Wait()
	rest := fail.String()
	for range lines {
		said, after, ended := strings.Cut(rest, exitMark)
		number, after, _ := strings.Cut(after, "\n")
		code, err := strconv.Atoi(number)
		if !ended || err != nil {
			t.Fatalf("%q: %v, %q", lines[len(answers)], cmd.ProcessState, rest)
		}
		answers, rest = append(answers, answer{said, code}), after
	}
	if rest != "" {
		t.Errorf("in the end it says %q", rest)
	}
	return out.String(), answers
}

// write makes a file and returns its name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// line is one line of the log.
type line map[string]any

func (l line) is(msg string, attrs ...any) bool {
	if l["msg"] != msg {
		return false
	}
	for i := 0; i < len(attrs); i += 2 {
		if fmt.Sprint(l[attrs[i].(string)]) != fmt.Sprint(attrs[i+1]) {
			return false
		}
	}
	return true
}

// patience is how long a test waits for what has to come.
const patience = time.Minute

// process is a running executord.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan line // closed at the end of the log
	log    []line    // what was taken from lines
	stderr lockedBuilder
	exited chan struct{}
	marker string // of its own: a test may have several
}

// started counts the calls of startCommand.
var started atomic.Int64

// lockedBuilder is a strings.Builder for a writer and a reader at once.
type lockedBuilder struct {
	mu sync.Mutex
	strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

// start runs a crontab, with further arguments.
func start(t *testing.T, crontab string, args ...string) *process {
	t.Helper()
	return startFile(t, write(t, "tab", crontab), args...)
}

// startTOML is start for TOML.
func startTOML(t *testing.T, text string, args ...string) *process {
	t.Helper()
	return startFile(t, write(t, "jobs.toml", text), args...)
}

func startFile(t *testing.T, file string, args ...string) *process {
	t.Helper()
	return startCommand(t, executord(t, append([]string{"run", file}, args...)...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, lines: make(chan line, 100_000), exited: make(chan struct{})}
	p.marker = fmt.Sprintf("%s#%d", marker(t), started.Add(1))
	p.cmd.Env = append(p.cmd.Env, p.marker)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stdout)
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
		for _, left := range p.killLeft() {
			t.Errorf("a process is left: %s", left)
		}
		if t.Failed() {
			for _, l := range p.log[max(0, len(p.log)-100):] {
				text, _ := json.Marshal(l)
				t.Logf("%s", text)
			}
			t.Logf("stderr: %s", p.stderr.String())
		}
	})
	return p
}

// killLeft kills the processes of its jobs that are alive, and returns them.
func (p *process) killLeft() []string {
	all := leftMarked(p.marker)
	for _, left := range all {
		var pid int
		fmt.Sscan(left, &pid)
		if found, err := os.FindProcess(pid); err == nil {
			found.Kill()
		}
	}
	return all
}

func (p *process) read(stdout io.Reader) {
	defer close(p.exited)
	for in := bufio.NewReader(stdout); ; {
		text, err := in.ReadBytes('\n')
		if len(text) > 0 {
			var l line
			if json.Unmarshal(text, &l) != nil {
				l = line{"msg": "NOT JSON: " + string(text)}
			}
			p.lines <- l
		}
		if err != nil {
			break
		}
	}
	close(p.lines)
	p.cmd.Wait()
}

// until reads the log up to a line, which has to come. The limit is no claim: it
// only ends a test that waits for nothing, on a machine however busy.
func (p *process) until(msg string, attrs ...any) line {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the log ended before %q %v", msg, attrs)
			}
			p.log = append(p.log, l)
			if l.is(msg, attrs...) {
				return l
			}
		case <-timeout:
			p.t.Fatalf("%q %v did not come", msg, attrs)
		}
	}
}

// after is until, for a line that may be among those taken already: it looks at
// them first, but for the first n. It is for lines that come in any order.
func (p *process) after(n int, msg string, attrs ...any) line {
	p.t.Helper()
	for _, l := range p.log[n:] {
		if l.is(msg, attrs...) {
			return l
		}
	}
	return p.until(msg, attrs...)
}

// taken takes what the log has by now, and returns all that was taken.
func (p *process) taken() []line {
	for {
		select {
		case l, ok := <-p.lines:
			if ok {
				p.log = append(p.log, l)
				continue
			}
		default:
		}
		return p.log
	}
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for the end of executord, reads the rest of the log, and returns
// the exit code. No process of a job may be left then.
func (p *process) wait() int {
	p.t.Helper()
	timeout := time.After(patience)
	for open := true; open; {
		select {
		case l, ok := <-p.lines:
			if open = ok; ok {
				p.log = append(p.log, l)
			}
		case <-timeout:
			p.t.Fatal("executord does not end")
		}
	}
	<-p.exited
	if left := leftMarked(p.marker); len(left) > 0 {
		p.t.Errorf("processes are left: %q", left)
	}
	return p.cmd.ProcessState.ExitCode()
}

// count returns how many lines of the log there are that are so.
func (p *process) count(msg string, attrs ...any) int {
	n := 0
	for _, l := range p.log {
		if l.is(msg, attrs...) {
			n++
		}
	}
	return n
}

// want checks that a line is in the log exactly n times.
func (p *process) want(n int, msg string, attrs ...any) {
	p.t.Helper()
	if got := p.count(msg, attrs...); got != n {
		p.t.Errorf("%d lines %q %v, want %d", got, msg, attrs, n)
	}
}

// get returns what a daemon answers.
func get(t *testing.T, address string) (status int, text string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}
