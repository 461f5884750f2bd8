//go:build unix

package main

import (
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGHUP and SIGUSR2 end nothing, and have the file read again, also if executord was started by nohup, which has SIGHUP
// ignored. SIGQUIT is no other signal than SIGTERM: no process of a job is left. A service manager that is not there is
// said, once.
func TestSignalsReloadAndDrain(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run", write(t, "tab", "@reboot echo up; exec sleep 1000\n# name: b\n@daily true\n"), "--drain-timeout", "50ms")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`}, cmd.Args...)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "none"))
	p := startCommand(t, cmd)
	p.until("up")
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR2} {
		p.signal(sig)
		p.until("file read again")
		p.until("job scheduled", "job", "b", "change", "unchanged")
	}
	p.signal(syscall.SIGQUIT)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	p.want(1, "draining", "reason", "SIGQUIT")
	p.want(1, "service manager not notified")
}

// SIGHUP ends nothing also before executord is ready. A service manager takes that
// for an orderly end and does not start it again.
func TestSignalHangupAtStart(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := executord(t, "run", write(t, "tab", "# name: a\n@daily true\n"), "--store", "postgres://me@"+listener.Addr().String()+"/x?sslmode=disable")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept() // from now on it waits for an answer
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGHUP)
	conn.Close()
	listener.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitMistake || !strings.Contains(stderr.String(), "the store postgres://me@") {
		t.Errorf("%v, %q", cmd.ProcessState, &stderr)
	}
}

// A process that has left the group of its run is ended after the drain, which is in
// the log; the exit code is about runs, and all of those had ended by themselves.
func TestRunStrayIsNoRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets strays be adopted")
	}
	// The command goes on until the process has left the group.
	away := filepath.Join(t.TempDir(), "away")
	p := start(t, "AWAY="+away+"\n# name: fork\n@reboot setsid sh -c ': >\"$AWAY\"; exec sleep 1000' >/dev/null 2>&1 & until test -e \"$AWAY\"; do sleep 0.01; done\n")
	p.until("run ended", "job", "fork", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "process ended")
	p.want(1, "executord ended", "interrupted", 0, "exit", exitOK)
}

// A signal that comes twice in a moment is one, so that what one sends to all processes of a terminal does not end runs.
func TestSignalCountTakesEchoForOne(t *testing.T) {
	var c signalCount
	begin := time.Now()
	for _, s := range []struct {
		after  time.Duration
		before int
		counts bool
	}{
		{0, 0, true}, {0, 1, false}, {echo - 1, 1, false}, {echo, 1, true}, {echo + echo/2, 2, false}, {2 * echo, 2, true}, {time.Hour, 3, true},
	} {
		if before, counts := c.add(begin.Add(s.after)); before != s.before || counts != s.counts {
			t.Errorf("after %v: %d, %t, want %d, %t", s.after, before, counts, s.before, s.counts)
		}
	}
}
