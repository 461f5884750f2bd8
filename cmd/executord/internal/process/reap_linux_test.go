package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// state returns the state letter of a process, as ps shows it, or "" if there
// is no such process.
func state(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
}

// outlived returns a command that starts a script, which leaves the group, and ends
// once the script has made the file $UP: a machine that is busy may take its time for
// that.
func outlived(t *testing.T, script string) Command {
	c := sh(`setsid sh -c '` + script + `' & until test -e "$UP"; do sleep 0.01; done`)
	c.Env = append(c.Env, "UP="+filepath.Join(t.TempDir(), "up"))
	return c
}

// A process that has left the group does not hold up the run, even if it holds
// the pipe. It is ended when all is over, with SIGKILL if need be, and so is
// what it has started.
func TestEndStrays(t *testing.T) {
	s := New(50 * time.Millisecond)
	defer s.Adopt()()
	r := newRecord()
	result := s.Run(t.Context(), outlived(t, `trap "" TERM; echo $$; sleep 1000 & : >"$UP"; wait`), r.observer())
	var pid int
	if _, err := fmt.Sscanf(r.String(), "stdout:%d", &pid); err != nil || !result.OK() || result.Leftover {
		t.Fatalf("result %+v, output %q", result, r)
	}
	strays, _ := s.EndStrays()
	if len(strays) < 2 || strays[0].PID != pid {
		t.Errorf("ended %v, want %d and its child", strays, pid)
	}
	if state(pid) != "" {
		t.Errorf("the process %d is %s", pid, state(pid))
	}
	if more, _ := s.EndStrays(); len(more) > 0 {
		t.Errorf("%v were left", more)
	}
}

// A process that has left the group does not hold up the run by a line that it writes
// now and then either. (When there is no reader any more, SIGPIPE must not end it before the
// test looks for it.)
func TestEndStraysThatWrite(t *testing.T) {
	s := New(50 * time.Millisecond)
	defer s.Adopt()()
	result, _ := runAll(t, s, outlived(t, `trap "" PIPE; : >"$UP"; for i in $(seq 1000); do echo spam; sleep 0.02; done`))
	if strays, _ := s.EndStrays(); !result.OK() || len(strays) == 0 {
		t.Errorf("result %+v: the run has waited for all that the process had to say", result)
	}
}

// A process that forks and ends, again and again, and ignores SIGTERM, is ended after
// the grace, although it is seen in few looks, and whatever other children there are.
func TestEndForkingStrays(t *testing.T) {
	for _, test := range []struct {
		name  string
		other func(t *testing.T) (end func()) // has another child be there at Adopt; end may end it then
	}{
		{"alone", func(*testing.T) func() { return func() {} }},
		{"beside a foreign child", func(t *testing.T) func() { foreign(t); return func() {} }},
		{"after a foreign child", func(t *testing.T) func() { return foreign(t) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			end := test.other(t)
			s := New(100 * time.Millisecond)
			defer s.Adopt()()
			end()
			dir := t.TempDir()
			fork, stop, generations := filepath.Join(dir, "fork"), filepath.Join(dir, "stop"), filepath.Join(dir, "generations")
			script := `trap "" TERM; test -e "$STOP" && exit; echo >>"$GENERATIONS"; : >"$UP"; sh "` + fork + `" &`
			if err := os.WriteFile(fork, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.WriteFile(stop, nil, 0o600) // a test that fails leaves nothing that forks
			c := outlived(t, `sh "`+fork+`"`)
			c.Env = append(c.Env, "STOP="+stop, "GENERATIONS="+generations)
			if result, _ := runAll(t, s, c); !result.OK() {
				t.Fatalf("result %+v", result)
			}
			if _, survivors := s.EndStrays(); len(survivors) > 0 {
				t.Errorf("%v survived", survivors)
			}
			count := func() int64 {
				info, err := os.Stat(generations)
				if err != nil {
					t.Fatal(err)
				}
				return info.Size()
			}
			before := count()
			time.Sleep(50 * time.Millisecond)
			if after := count(); after != before {
				t.Errorf("%d generations have begun since the end", after-before)
			}
		})
	}
}

// foreign starts a child that is no process of a run, and returns what ends it, which the end of the test does too.
func foreign(t *testing.T) (end func()) {
	t.Helper()
	pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
	})
	t.Cleanup(end)
	return end
}

// One that was stopped (SIGSTOP) is woken, so that it can end by itself.
func TestEndStraysThatAreStopped(t *testing.T) {
	s := New(patience)
	defer s.Adopt()()
	result, r := runAll(t, s, sh(`setsid sh -c 'trap "exit 0" TERM; kill -STOP $$; while :; do sleep 0.01; done' & echo $!; until grep -q "^State:.T" /proc/$!/status; do sleep 0.01; done`))
	began := time.Now()
	strays, _ := s.EndStrays()
	if took := time.Since(began); !result.OK() || len(strays) == 0 || took > s.Grace {
		t.Errorf("result %+v, output %q, strays %v after %v", result, r, strays, took)
	}
}

// A zombie whose parent has left the group, and does not wait for it, is not a
// process that holds up the run, whether it got SIGTERM or not.
func TestRunIgnoresZombieOfStray(t *testing.T) {
	for _, test := range []struct {
		name, begin, zombie, end string
		grace                    time.Duration
		want                     Result
	}{
		{"it ends by itself", "", "exit", `until grep -q "^State:.Z" /proc/$z/status; do sleep 0.01; done`, patience, Result{}},
		{"the run is stopped", "", "exec sleep 1000", "exec sleep 1000", patience, Result{Stopped: true}},
		{"it is killed", `trap "" TERM`, "exec sleep 1000", "exit 0", 100 * time.Millisecond, Result{Leftover: true, Killed: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(test.grace)
			defer s.Adopt()()
			defer s.EndStrays()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newRecord()
			// The command goes on when the parent has left the group: until then the other has the pipe.
			script := fmt.Sprintf("%s\nz=$( (sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done; exec >&2; %s' & echo $!; exec setsid sleep 1000 >&2) & )\necho ready\n%s",
				test.begin, test.zombie, test.end)
			done := make(chan Result)
			go func() { done <- s.Run(ctx, sh(script), r.observer()) }()
			r.await(t, "stdout:ready")
			if test.want.Stopped {
				cancel()
			}
			got := <-done
			if got.Stopped != test.want.Stopped || got.Leftover != test.want.Leftover ||
				got.Killed != test.want.Killed || got.Survived {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if syscall.Kill(-r.pid, 0) != nil {
				t.Error("no zombie was left: the test tests nothing")
			}
		})
	}
}

// headless makes the test binary a process whose first thread has ended.
const headless = "EXECUTORD_TEST_HEADLESS"

func init() {
	if os.Getenv(headless) != "" {
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0) // the thread alone; those of the runtime go on
	}
}

// A process whose first thread has ended is a zombie by its state, but alive: it
// is ended with its run, and if it has left the group, when all is over.
func TestRunHeadlessProcess(t *testing.T) {
	s := New(patience)
	defer s.Adopt()()
	for _, leave := range []string{"", "setsid "} {
		c := sh(leave + "'" + os.Args[0] + "'" + ` & echo $!; until grep -q "^State:.Z" /proc/$!/status; do sleep 0.01; done`)
		c.Env = append(c.Env, headless+"=1")
		result, r := runAll(t, s, c)
		strays, _ := s.EndStrays()
		if result.Leftover != (leave == "") || result.Killed || len(strays) > 0 != (leave != "") {
			t.Errorf("%s: result %+v, strays %v", leave, result, strays)
		}
		var pid int
		fmt.Sscanf(r.String(), "stdout:%d", &pid)
		for deadline := time.Now().Add(patience); pid == 0 || state(pid) != ""; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the process %d is still %s", leave, pid, state(pid))
			}
		}
	}
}

// An orphan that ends while a command runs does not stay a zombie, although
// the command that is waited for has ended too, and is found first.
func TestAdoptReapsOrphans(t *testing.T) {
	s := New(time.Second)
	defer s.Adopt()()
	for range 20 {
		r := newRecord()
		result := s.Run(t.Context(), sh(`setsid sh -c 'echo $$' & wait; setsid sh -c 'echo $$; exec sleep 0.01' & exit 0`), r.observer())
		if !result.OK() {
			t.Fatalf("result %+v", result)
		}
		for _, line := range r.lines {
			pid, _ := strconv.Atoi(strings.TrimPrefix(line, "stdout:"))
			for deadline := time.Now().Add(patience); state(pid) != ""; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the process %d is still %s", pid, state(pid))
				}
			}
		}
	}
}

// Of many commands at once each has its own exit code: the reaper takes none away
// (supercronic#223).
func TestAdoptTakesNoChild(t *testing.T) {
	s := New(time.Second)
	defer s.Adopt()()
	type outcome struct{ got, want int }
	results := make(chan outcome)
	const workers, rounds = 8, 25
	for w := range workers {
		go func() {
			for i := range rounds {
				want := (w*rounds + i) % 100
				result := s.Run(t.Context(), sh(fmt.Sprintf("(true; true) & (setsid true) & exit %d", want)),
					Observer{Started: func(int, time.Time) {}, Output: func(Stream, []byte, bool) {}})
				got := result.Code
				if result.Err != nil {
					got = -2
				}
				results <- outcome{got, want}
			}
		}()
	}
	for range workers * rounds {
		if o := <-results; o.got != o.want {
			t.Errorf("exit code %d, want %d", o.got, o.want)
		}
	}
}

// Children that were there before Adopt are no strays.
func TestAdoptLeavesForeignChildren(t *testing.T) {
	pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Wait4(pid, nil, 0, nil)
	defer syscall.Kill(pid, syscall.SIGKILL)
	s := New(0)
	stop := s.Adopt()
	strays, _ := s.EndStrays()
	stop()
	if len(strays) > 0 || state(pid) == "" {
		t.Errorf("ended %v", strays)
	}
}

// In a PID namespace of its own with the /proc of another, as of unshare --pid
// without --mount-proc, numbers mean other processes than those in /proc.
func TestAdoptWithProcOfOthers(t *testing.T) {
	const inside = "EXECUTORD_TEST_INSIDE"
	if os.Getenv(inside) != "" {
		for p := range processes {
			t.Fatalf("%v is none that has this number here", p)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAdoptWithProcOfOthers$")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skip("no namespaces here:", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
