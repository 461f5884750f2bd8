//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serviceManager is a test in the place of systemd.
type serviceManager struct {
	t *testing.T
	*net.UnixConn
}

func newServiceManager(t *testing.T) (m serviceManager, variable string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	name := filepath.Join(dir, "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return serviceManager{t, c}, "NOTIFY_SOCKET=" + name
}

// until returns the first message that begins so, and those before it.
func (m serviceManager) until(begin string) (message string, before []string) {
	m.t.Helper()
	m.SetReadDeadline(time.Now().Add(patience))
	for buf := make([]byte, 4096); ; {
		n, err := m.Read(buf)
		if err != nil {
			m.t.Fatalf("%s did not come, but %q: %v", begin, before, err)
		}
		if message = string(buf[:n]); strings.HasPrefix(message, begin) {
			return message, before
		}
		before = append(before, message)
	}
}

// A service manager is told when the jobs are scheduled, of each reload from its begin to its end, well or not, and of
// the end, before the drain is over. Commands do not learn how.
func TestRunTellsServiceManager(t *testing.T) {
	t.Parallel()
	m, variable := newServiceManager(t)
	tab := write(t, "tab", "# name: a\n@reboot env | grep -c -e NOTIFY_SOCKET -e WATCHDOG; true\n")
	cmd := executord(t, "run", tab)
	cmd.Env = append(cmd.Env, variable)
	p := startCommand(t, cmd)
	if got, before := m.until("READY=1"); got != "READY=1\nSTATUS=jobs: 1" || before != nil {
		t.Errorf("%q, after %q", got, before)
	}
	p.until("0", "job", "a", "stream", "stdout")

	reload := func(text, status string) {
		t.Helper()
		if err := os.WriteFile(tab, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGHUP)
		got, before := m.until("READY=1")
		if len(before) != 1 || !strings.HasPrefix(before[0], "RELOADING=1\nMONOTONIC_USEC=") || !strings.HasSuffix(got, "\nSTATUS="+status) {
			t.Errorf("%q, after %q", got, before)
		}
	}
	reload("# name: a\n@reboot true\n# name: b\n@hourly true\n", "jobs: 2")
	p.after(0, "file read again", "jobs", 2)
	reload("a mistake\n", "the files are not read again, see the log")
	p.until("file not read again")
	reload("# name: slow\n@every 100ms echo started; sleep 10\n", "jobs: 1")
	p.until("started", "job", "slow")

	p.signal(syscall.SIGTERM)
	if got, before := m.until("STOPPING=1"); got != "STOPPING=1\nSTATUS=draining: SIGTERM" || before != nil {
		t.Errorf("%q, after %q", got, before)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	p.want(0, "service manager not notified")
}

// The watchdog hears of the daemon from the begin to the end of the drain.
func TestRunTellsWatchdog(t *testing.T) {
	t.Parallel()
	m, variable := newServiceManager(t)
	cmd := executord(t, "run", write(t, "tab", "@every 100ms echo started; sleep 10\n"))
	cmd.Env = append(cmd.Env, variable, "WATCHDOG_USEC=200000")
	p := startCommand(t, cmd)
	m.until("READY=1")
	m.until("WATCHDOG=1")
	m.until("WATCHDOG=1")
	p.until("started")
	p.signal(syscall.SIGTERM)
	m.until("STOPPING=1")
	m.until("WATCHDOG=1")
	m.until("WATCHDOG=1")
	p.signal(syscall.SIGTERM)
	p.wait()
}

// A daemon runs its jobs although the service manager cannot be told, and says so once.
func TestRunWithoutItsServiceManager(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run", write(t, "tab", "# name: a\n@every 100ms true\n"))
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "none"))
	p := startCommand(t, cmd)
	p.until("run ended", "job", "a", "outcome", "ok")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	p.want(1, "service manager not notified")
}
