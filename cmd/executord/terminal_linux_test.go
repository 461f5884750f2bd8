package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
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

// What commands print on a terminal of 80 columns fits it, and what does not fit a table is cut; into a file all of it
// goes.
func TestCommandsFitTerminal(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.crontab", "CRON_TZ=America/Los_Angeles\n# name: a-job-with-a-long-name\n*/5 9-17 * * mon-fri true\n"+
		"# name: failing\n@every 1s printf '\\%0300d\\n' 7 >&2; exit 3\n")
	store := newStoreFile(t)
	p := startFile(t, file, "--store", store)
	p.until("run ended", "job", "failing")
	p.end()
	output(t, "", "pause", "a-job-with-a-long-name", "--store", store, "--reason", strings.Repeat("a long reason ", 20))
	lines := [][]string{
		{"check", file}, {"jobs", "--store", store}, {"runs", "--store", store}, {"runs", "--verbose", "--store", store}, {"acts", "--store", store},
	}
	full, _ := inTurn(t, executord(t), lines)

	all, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	cmd := executord(t)
	cmd.Stdout = slave
	cmd.Env = append(cmd.Env, linesVariable+"="+string(all))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	shown, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, shown)
	}
	text := strings.ReplaceAll(string(shown), "\r\n", "\n")
	for line := range strings.Lines(text) {
		if n := terminal.Columns(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("it has %d columns: %s", n, line)
		}
	}
	if strings.Contains(full, "…") || !strings.Contains(text, "…") {
		t.Errorf("into a file goes %s, and to the terminal %s", full, text)
	}
	for _, text := range []string{full, text} {
		if n := strings.Count(text, "failing"); n < 4 {
			t.Errorf("failing is there %d times: %s", n, text)
		}
	}
	if !strings.Contains(strings.ReplaceAll(text, "\n"+indent, ""), strings.Repeat("0", 299)+"7") {
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
