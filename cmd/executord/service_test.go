//go:build unix

package main

import (
	"fmt"
	"net"
	"net/http"
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

// alive is what the watchdog hears again and again.
const alive = "WATCHDOG=1"

// until returns the first message that begins so, and those before it but alive.
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
		if message != alive {
			before = append(before, message)
		}
	}
}

// A service manager is told when the jobs are scheduled, of each reload from its begin to its end, well or not, of the end
// before the drain is over, and all the time that the daemon is alive. Commands do not learn how. The daemon's own figures
// and probes say the same.
func TestRunTellsServiceManager(t *testing.T) {
	t.Parallel()
	m, variable := newServiceManager(t)
	tab := write(t, "tab", "# name: a\n@reboot env | grep -c -e NOTIFY_SOCKET -e WATCHDOG; true\n")
	cmd := executord(t, "run", tab, "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, variable, "WATCHDOG_USEC=200000")
	p := startCommand(t, cmd)
	if got, before := m.until("READY=1"); got != "READY=1\nSTATUS=jobs: 1" || before != nil {
		t.Errorf("%q, after %q", got, before)
	}
	at := p.until("listening")["at"].(string)
	p.until("0", "job", "a", "stream", "stdout")
	upToDate := func(want int) {
		t.Helper()
		if _, text := get(t, at+"metrics"); !strings.Contains(text, fmt.Sprintf("\nexecutord_file_up_to_date %d\n", want)) {
			t.Errorf("it is not %d: %s", want, text)
		}
	}
	upToDate(1)

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
	upToDate(1)
	reload("a mistake\n", "the files are not read again, see the log")
	p.until("file not read again")
	upToDate(0)
	reload("# name: slow\n@every 100ms echo started; sleep 10\n", "jobs: 1")
	upToDate(1)
	p.until("started", "job", "slow")
	m.until(alive)

	p.signal(syscall.SIGTERM)
	if got, before := m.until("STOPPING=1"); got != "STOPPING=1\nSTATUS=draining: SIGTERM" || before != nil {
		t.Errorf("%q, after %q", got, before)
	}
	m.until(alive)
	if status, text := get(t, at+"readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, "draining") {
		t.Errorf("%d %s while it drains", status, text)
	}
	reader, err := http.Get(at + "run?job=slow&run=1") // it follows the run, and does not delay the end
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Body.Close()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	p.want(0, "service manager not notified")
}
