//go:build unix

package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Launch()
	os.Exit(m.Run())
}

// A command with a umask has that, and the rest of its process as ever: its directory, its environment, its input, its
// exit code, and no file besides the three standard streams.
func TestRunWithUmask(t *testing.T) {
	dir := t.TempDir()
	before := currentUmask()
	umask := 0o027
	c := sh(`umask; pwd; echo "$GREETING"; cat; touch made; mkdir sub; exit 5`)
	c.Dir, c.Setup, c.Stdin = dir, Setup{Umask: &umask}, "input\n"
	c.Env = append(c.Env, "GREETING=hello")
	result, r := runAll(t, supervise(t, time.Second), c)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "stdout:0027\nstdout:" + real + "\nstdout:hello\nstdout:input"; r.String() != want || result.Code != 5 {
		t.Errorf("%q, exit code %d; want %q", r, result.Code, want)
	}
	for name, want := range map[string]os.FileMode{"made": 0o640, "sub": 0o750 | os.ModeDir} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, error %v, want %v", name, info.Mode(), err, want)
		}
	}
	if after := currentUmask(); after != before {
		t.Errorf("this process had the umask %o, and has %o", before, after)
	}
}

// A command has the niceness, the class and the limits that it is to have.
func TestRunWithNiceAndLimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("they are for Linux")
	}
	nice := 15
	c := sh("nice; ulimit -n; ulimit -c; ulimit -v; exec sleep 1")
	c.Setup = Setup{Nice: &nice, IO: 3 << 13, Limits: []Limit{{"nofile", 77}, {"core", 0}, {"as", 64 << 20}}}
	r := newRecord()
	observer, class := r.observer(), -1
	told := observer.Started
	observer.Started = func(pid int, began time.Time) {
		told(pid, began)
		class = ioClass(pid)
	}
	result := supervise(t, time.Second).Run(t.Context(), c, observer)
	if want := "stdout:15\nstdout:77\nstdout:0\nstdout:65536"; r.String() != want || !result.OK() || class != 3<<13 {
		t.Errorf("%q, %+v, class %d; want %q", r, result, class, want)
	}
}

// A limit that the system refuses keeps the command from being started, and the reason says which.
func TestRunWithLimitThatIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is for Linux")
	}
	c := sh("true")
	c.Setup = Setup{Limits: []Limit{{"nofile", 1 << 40}}} // more than fs.nr_open
	r := newRecord()
	result := supervise(t, time.Second).Run(t.Context(), c, r.observer())
	if result.Err == nil || !strings.HasPrefix(result.Err.Error(), "rlimit nofile cannot be set: operation not permitted") || r.pid != 0 {
		t.Errorf("%+v, pid %d", result, r.pid)
	}
}

// What keeps a command with a setup from being started has the words that it has without.
func TestRunWithSetupExplains(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/no/such/shell\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	umask := 0o22
	for _, c := range []Command{
		{Args: []string{script}},
		{Args: []string{plain}},
		{Args: []string{dir}},
		{Args: []string{"/no/such/program"}},
		{Args: []string{"no-such-program"}, Env: []string{"PATH=/no"}},
		{Args: []string{"/bin/sh", "-c", "true"}, Dir: "/no/such/dir"},
	} {
		s := supervise(t, time.Second)
		want := s.Run(t.Context(), c, newRecord().observer()).Err
		c.Setup.Umask = &umask
		r := newRecord()
		result := s.Run(t.Context(), c, r.observer())
		if want == nil || result.Err == nil || result.Err.Error() != want.Error() || r.pid != 0 {
			t.Errorf("%q: %v, want %v; pid %d", c.Args, result.Err, want, r.pid)
		}
	}
}

// The end of a run ends a command with a setup as any other, and its processes.
func TestRunWithSetupIsEnded(t *testing.T) {
	umask := 0o22
	c := sh("echo ready; sleep 1000 & sleep 1000")
	c.Setup.Umask, c.Timeout = &umask, 300*time.Millisecond
	result, _ := runAll(t, supervise(t, time.Second), c)
	if !result.Stopped || result.Cause != ErrTimeout || result.Signal != "SIGTERM" {
		t.Errorf("%+v", result)
	}
}

// A command that runs as another user is given its setup, its directory and its groups, too.
func TestRunWithSetupAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs commands as another user")
	}
	as, err := LookUpUser("nobody")
	if err != nil {
		t.Skip(err)
	}
	umask := 0o77
	c := sh("id -u; id -G; umask; pwd")
	c.As, c.Dir = as, "/"
	s := supervise(t, time.Second)
	_, plain := runAll(t, s, c)
	c.Setup.Umask = &umask
	_, set := runAll(t, s, c)
	want := strings.Split(plain.String(), "\n")
	want[2] = "stdout:0077"
	if set.String() != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", set, want)
	}
}

// currentUmask returns that of this process.
func currentUmask() int {
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	return umask
}
