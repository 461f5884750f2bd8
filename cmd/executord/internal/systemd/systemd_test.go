//go:build unix

package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// listen returns the socket of a manager of that name.
func listen(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// receive returns the next message. The limit is no claim: it ends a test that waits for nothing.
func receive(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	buf := make([]byte, 4096)
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// manager returns the manager of an environment, which loses no message.
func manager(t *testing.T, socket string, env ...string) *Manager {
	t.Helper()
	t.Setenv(socketVariable, socket)
	for _, name := range []string{periodVariable, pidVariable} {
		t.Setenv(name, "")
	}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	return FromEnvironment(func(err error) { t.Error(err) })
}

// Each state arrives as one datagram, by a socket in the file system and by an abstract one.
func TestManagerTellsStates(t *testing.T) {
	names := []string{filepath.Join(t.TempDir(), "notify")}
	if runtime.GOOS == "linux" {
		names = append(names, fmt.Sprintf("@executord-test-%d", os.Getpid()))
	}
	for _, name := range names {
		socket := listen(t, name)
		m := manager(t, name)
		before := monotonic()
		m.Ready("jobs: 2")
		m.Reloading()
		m.Reloaded("jobs:\n3")
		m.Stopping("draining")
		m.Ready("not sent any more")
		m.Reloading()
		if got, want := receive(t, socket), "READY=1\nSTATUS=jobs: 2"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		var at int64
		got := receive(t, socket)
		if _, err := fmt.Sscanf(got, "RELOADING=1\nMONOTONIC_USEC=%d\nSTATUS=reading the files again", &at); err != nil {
			t.Errorf("%s: %q: %v", name, got, err)
		}
		if at < before || at > monotonic() {
			t.Errorf("%s: reloading at %d, not after %d", name, at, before)
		}
		if got, want := receive(t, socket), "READY=1\nSTATUS=jobs: 3"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got, want := receive(t, socket), "STOPPING=1\nSTATUS=draining"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		m.report(m.send("the end"))
		if got := receive(t, socket); got != "the end" {
			t.Errorf("%s: %q after the end", name, got)
		}
	}
}

// A daemon is ready again when the last of its reloads has ended, and not before it was ready at all.
func TestManagerReadyAfterLastReload(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	socket := listen(t, name)
	m := manager(t, name)
	m.Reloading()
	m.Reloaded("too early")
	m.Ready("first")
	m.Reloading()
	m.Reloading()
	m.Reloaded("second")
	m.Reloaded("third")
	for _, want := range []string{"READY=1\nSTATUS=first", "RELOADING=1", "RELOADING=1", "READY=1\nSTATUS=third"} {
		if got := receive(t, socket); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The watchdog hears of the daemon at half of its period, and only if that is alive.
func TestManagerWatchesWhileAlive(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	socket := listen(t, name)
	m := manager(t, name, periodVariable+"=2000", fmt.Sprintf("%s=%d", pidVariable, os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	alive, asked := []bool{true, false, true, false, false}, 0
	m.Watch(ctx, func(limited context.Context) bool {
		if end, ok := limited.Deadline(); !ok || time.Until(end) > time.Millisecond {
			t.Errorf("it may take until %v", end)
		}
		if asked++; asked == len(alive) {
			cancel()
		}
		return alive[asked-1]
	})
	m.report(m.send("the end"))
	for _, want := range []string{"WATCHDOG=1", "WATCHDOG=1", "the end"} {
		if got := receive(t, socket); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if asked != len(alive) {
		t.Errorf("asked %d times", asked)
	}
}

// Without a watchdog, or with one for another process, nobody asks whether the daemon is alive.
func TestManagerWithoutWatchdog(t *testing.T) {
	for _, env := range [][]string{nil, {periodVariable + "=0"}, {periodVariable + "=-1"}, {periodVariable + "=1s"}, {periodVariable + "=1000", pidVariable + "=1"}} {
		m := manager(t, "/nowhere", env...)
		m.Watch(t.Context(), func(context.Context) bool {
			t.Errorf("%q: asked", env)
			return false
		})
	}
}

// What the manager says to the daemon does not reach what that starts.
func TestFromEnvironmentRemovesVariables(t *testing.T) {
	manager(t, "/nowhere", periodVariable+"=1000", pidVariable+"=1")
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains([]string{socketVariable, periodVariable, pidVariable}, name) {
			t.Errorf("%s is left", variable)
		}
	}
}

// Without a manager, all methods do nothing.
func TestManagerNil(t *testing.T) {
	m := manager(t, "")
	if m != nil {
		t.Fatal("there is one")
	}
	m.Ready("")
	m.Reloading()
	m.Reloaded("")
	m.Stopping("")
	m.Watch(t.Context(), nil)
}

// A manager that cannot be told is reported once, with its socket.
func TestManagerReportsFirstError(t *testing.T) {
	for socket, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "no such file", "vsock:2:1234": "not a Unix socket",
	} {
		t.Setenv(socketVariable, socket)
		var errs []error
		m := FromEnvironment(func(err error) { errs = append(errs, err) })
		m.Ready("")
		m.Stopping("")
		if err := errors.Join(errs...); len(errs) != 1 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), socket) {
			t.Errorf("%s: %v", socket, err)
		}
	}
}
