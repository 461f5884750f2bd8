package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// openTerminal returns the two ends of a new terminal of 80 columns.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	control, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	control.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		if number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	})
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return master, slave
}

// onTerminal returns what executord writes on a terminal of 80 columns.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	master, slave := openTerminal(t)
	cmd := executord(t, args...)
	cmd.Stdout, cmd.Stderr = slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	text, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%q: %v\n%s", args, err, text)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// What commands print on a terminal of 80 columns fits it, and what does not fit a table is cut; into a file all of it
// goes.
func TestCommandsFitTerminal(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.crontab", "CRON_TZ=America/Los_Angeles\n# name: a-job-with-a-long-name\n*/5 9-17 * * mon-fri true\n"+
		"# name: failing\n@every 1s printf '\\%0300d\\n' 7 >&2; exit 3\n")
	store := filepath.Join(t.TempDir(), "jobs.db")
	p := startFile(t, file, "--store", store)
	p.until("run ended", "job", "failing")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	output(t, "", "pause", "a-job-with-a-long-name", "--store", store, "--reason", strings.Repeat("a long reason ", 20))
	for _, args := range [][]string{
		{"check", file}, {"jobs", "--store", store}, {"runs", "--store", store}, {"runs", "--verbose", "--store", store},
		{"acts", "--store", store},
	} {
		text := onTerminal(t, args...)
		lines := strings.Split(text, "\n")
		if len(lines) < 3 {
			t.Errorf("%q prints %q", args, text)
		}
		for _, line := range lines {
			if terminal.Columns(line) > 80 {
				t.Errorf("%q prints %d columns: %s", args, terminal.Columns(line), line)
			}
		}
		if full, _, _ := output(t, "", args...); !strings.Contains(full, "\n") || strings.Contains(full, "…") {
			t.Errorf("%q into a file: %s", args, full)
		}
	}
	text := strings.ReplaceAll(onTerminal(t, "runs", "-v", "--store", store), "\n"+indent, "")
	if !strings.Contains(text, strings.Repeat("0", 299)+"7") {
		t.Errorf("what it wrote is not whole: %s", text)
	}
}

// A command that asks on the terminal of executord fails, and is not stopped until somebody ends its run.
func TestRunHasNoTerminal(t *testing.T) {
	t.Parallel()
	_, slave := openTerminal(t)
	cmd := executord(t, "run", write(t, "tab", "# name: ask\n@reboot read word </dev/tty; echo \"read: $?\"\n"))
	cmd.Stdin, cmd.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := startCommand(t, cmd)
	slave.Close()
	if ended := p.until("run ended", "job", "ask"); ended["outcome"] != "ok" {
		t.Errorf("%v", ended)
	}
	p.end()
}

// The help of each command fits a terminal of 80 columns.
func TestHelpFitsTerminal(t *testing.T) {
	for _, c := range append(newRoot().Commands(), newRoot()) {
		for line := range strings.Lines(c.Long + "\n" + strings.ReplaceAll(c.UsageString(), c.Example, "")) {
			if n := terminal.Columns(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("help of %s has %d columns: %s", c.Name(), n, line)
			}
		}
	}
}
