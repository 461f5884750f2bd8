// Package systemd tells the service manager how far the daemon is, by the protocol of sd_notify(3): READY=1,
// RELOADING=1, STOPPING=1, WATCHDOG=1 and STATUS.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The variables by which a service manager says what it wants to know.
const (
	socketVariable = "NOTIFY_SOCKET"
	periodVariable = "WATCHDOG_USEC"
	pidVariable    = "WATCHDOG_PID"
)

// patience is how long a message may wait for room in the socket. A manager that reads nothing for so long must not
// keep the daemon from its work.
const patience = 2 * time.Second

// A Manager is the service manager that has started the program. A nil one is none: its methods do nothing.
type Manager struct {
	socket string
	period time.Duration // of the watchdog; zero if there is none
	lost   func(error)

	// mu is held while a message is sent, so that they arrive in order. Under it nothing else is taken.
	mu struct {
		sync.Mutex
		ready    bool // the manager was told so
		reloads  int  // that have begun and not ended
		stopping bool // the manager is told of no other state after that
		lost     bool
	}
}

// FromEnvironment returns the manager that the environment names, nil if it names none, and removes the variables:
// commands of jobs must not speak for the daemon. Lost is called with the first error of a message, and not again.
func FromEnvironment(lost func(error)) *Manager {
	m := &Manager{socket: os.Getenv(socketVariable), lost: lost}
	usec, err := strconv.ParseInt(os.Getenv(periodVariable), 10, 64)
	pid := os.Getenv(pidVariable)
	if err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.period = time.Duration(min(usec, int64(24*time.Hour/time.Microsecond))) * time.Microsecond
	}
	for _, name := range []string{socketVariable, periodVariable, pidVariable} {
		os.Unsetenv(name)
	}
	if m.socket == "" {
		return nil
	}
	return m
}

// Ready says that the daemon does its work.
func (m *Manager) Ready(status string) {
	m.tell(status, func() string {
		m.mu.ready = true
		return "READY=1"
	})
}

// Reloading says that the configuration is being read again. Each call is followed by one of Reloaded. Before Ready
// neither says anything.
func (m *Manager) Reloading() {
	m.tell("reading the files again", func() string {
		m.mu.reloads++
		if !m.mu.ready {
			return ""
		}
		return fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", monotonic())
	})
}

// Reloaded says that a reload has ended, well or not. While another goes on, the state stays.
func (m *Manager) Reloaded(status string) {
	m.tell(status, func() string {
		m.mu.reloads--
		if !m.mu.ready || m.mu.reloads > 0 {
			return ""
		}
		return "READY=1"
	})
}

// Stopping says that the daemon has begun to end. No other state follows.
func (m *Manager) Stopping(status string) {
	m.tell(status, func() string {
		m.mu.stopping = true
		return "STOPPING=1"
	})
}

// Watch calls alive at half of the watchdog's period, with a context of that length, and tells the watchdog each time
// it returns true. It returns when ctx ends and alive has returned, or at once if there is no watchdog.
func (m *Manager) Watch(ctx context.Context, alive func(context.Context) bool) {
	if m == nil || m.period == 0 {
		return
	}
	half := max(m.period/2, 1)
	ticker := time.NewTicker(half)
	defer ticker.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, half)
		if alive(limited) {
			m.report(m.send("WATCHDOG=1"))
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// tell sends the state that change returns, if it is not empty, with a text for people. Change is called with mu held,
// unless the daemon has begun to end.
func (m *Manager) tell(status string, change func() (state string)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	var err error
	if !m.mu.stopping {
		if state := change(); state != "" {
			err = m.send(state + "\nSTATUS=" + strings.ReplaceAll(status, "\n", " "))
		}
	}
	m.mu.Unlock()
	m.report(err)
}

// report passes on the first error.
func (m *Manager) report(err error) {
	if err == nil {
		return
	}
	m.mu.Lock()
	first := !m.mu.lost
	m.mu.lost = true
	m.mu.Unlock()
	if first {
		m.lost(err)
	}
}

// send sends a message as one datagram.
func (m *Manager) send(message string) error {
	if m.socket[0] != '/' && m.socket[0] != '@' { // @ is package net's, too, for the names that no file has
		return fmt.Errorf("%s %s: it is not a Unix socket", socketVariable, m.socket)
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.socket, Net: "unixgram"})
	if err == nil {
		defer c.Close()
		if err = c.SetWriteDeadline(time.Now().Add(patience)); err == nil {
			_, err = c.Write([]byte(message))
		}
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", socketVariable, m.socket, err)
	}
	return nil
}
