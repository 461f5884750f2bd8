//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command that is run once gets what the daemon gives it.
func TestRunOnceAsTheDaemonDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, "jobs.toml", fmt.Sprintf(`[[job]]
name = "a"
schedule = "@reboot"
command = 'pwd; cat; env | grep -E "^(A|REGION|HOME|PATH|SHELL|USER|LOGNAME|EXECUTORD_JOB|EXECUTORD_RUN|EXECUTORD_ATTEMPT)=" | sort; echo end'
dir = %q
stdin = "input\n"
env = { A = "b" }
parameters.REGION = "eu"
`, dir))
	p := startFile(t, file)
	p.until("end")
	p.end()
	var want strings.Builder
	for _, l := range p.log {
		if l["stream"] == "stdout" {
			fmt.Fprintln(&want, l["msg"])
		}
	}
	stdout, stderr, code := output(t, "", "run-once", file, "a")
	if stdout != want.String() || stderr != "" || code != exitOK || !strings.Contains(stdout, "EXECUTORD_RUN=1\n") {
		t.Errorf("exit code %d, %s%s, want %s", code, stdout, stderr, want.String())
	}
}

// The exit code of run-once is that of the command, and tells what else may have happened.
func TestRunOnceExitCodes(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "hunter2hunter2")
	file := write(t, "jobs.toml", strings.ReplaceAll(`
name = "ok"
command = "echo out; echo err >&2"
[[job]]
name = "fails"
command = "exit 3"
[[job]]
name = "slow"
command = "sleep 100"
timeout = "100ms"
[[job]]
name = "killed"
command = "kill -TERM $$"
[[job]]
name = "nothing"
command = ["/no/such/program"]
[[job]]
name = "parameter"
command = "printf $DAY"
parameters.DAY = { default = "mon", values = ["mon", "tue"] }
[[job]]
name = "background"
command = "sleep 100 & echo here"
[[job]]
name = "secret"
command = "echo $S; printf %s $S >&2"
secret.S = "SECRET"
`, "SECRET", secret))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	withSchedules := "[[job]]\nschedule = '@daily'\n" + strings.ReplaceAll(string(text), "[[job]]\n", "[[job]]\nschedule = '@daily'\n")
	if err := os.WriteFile(file, []byte(withSchedules), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"ok", 0, "out\n", "err\n"},
		{"fails", 3, "", ""},
		{"slow", 124, "", "executord: job slow: the command took longer than its timeout\n"},
		{"killed", 128 + int(syscall.SIGTERM), "", "executord: job killed: killed by SIGTERM\n"},
		{"nothing", 126, "", "executord: job nothing: not started: program /no/such/program does not exist\n"},
		{"parameter", 0, "mon\n", ""},
		{"parameter --set DAY=tue", 0, "tue\n", ""},
		{"parameter --set DAY=wed", 1, "", "executord: job parameter: DAY"},
		{"ok --set DAY=wed", 1, "", "executord: job ok: there is no parameter"},
		{"background", 0, "here\n", "executord: job background: background processes outlived the command and were ended\n"},
		{"secret", 0, "***\n", "***\n"},
		{"fail", 1, "", "executord: job fail is not in the file; did you mean fails?\n"},
		{"ok fails", 2, "", "executord: run-once needs the name of one job"},
		{"", 2, "", "executord: run-once needs the name of one job"},
		{"ok --kill-after -1s", 2, "", "executord: --kill-after cannot be negative"},
	} {
		stdout, stderr, code := output(t, "", append([]string{"run-once", file}, strings.Fields(test.args)...)...)
		if code != test.code || stdout != test.stdout || !strings.HasPrefix(stderr, test.stderr) || test.stderr == "" && stderr != "" {
			t.Errorf("%s: exit code %d, %q, %q", test.args, code, stdout, stderr)
		}
	}
	if _, stderr, code := output(t, "@dayly x\n", "run-once", "-", "x"); code != exitMistake || !strings.HasPrefix(stderr, `stdin:1: "@dayly": unknown word`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// A job of a directory is called as the daemon calls it.
func TestRunOnceOfDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "backup"), []byte("@daily root echo $PWD $HOME $SECRET.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := executord(t, "run-once", "--dir", dir, "backup/echo")
	cmd.Env = append(cmd.Env, "SECRET=x", "HOME=/nosuch")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "/root /root .\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// onceRunning starts a job that says ready when it can be ended.
func onceRunning(t *testing.T, command string, args ...string) (cmd *exec.Cmd, output *bufio.Reader) {
	cmd = executord(t, append([]string{"run-once", write(t, "tab", "# name: a\n@daily "+command+"\n"), "a"}, args...)...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := leftProcesses(t); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
	})
	output = bufio.NewReader(pipe)
	if line, err := output.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	return cmd, output
}

// A signal ends the run with its children, also at the end of a terminal. What ignores SIGTERM is killed after the grace,
// and at once by a second signal.
func TestRunOnceEndsBySignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP} {
		cmd, out := onceRunning(t, `trap 'echo bye; exit 0' TERM; sleep 1000 & echo ready; wait`)
		cmd.Process.Signal(sig)
		line, _ := out.ReadString('\n')
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(sig) || line != "bye\n" {
			t.Errorf("%v: %v, %q", sig, cmd.ProcessState, line)
		}
	}
	const stubborn = `trap '' TERM; echo ready; while :; do sleep 1000; done`
	cmd, _ := onceRunning(t, stubborn, "--kill-after", "10ms")
	cmd.Process.Signal(syscall.SIGTERM)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("%v", cmd.ProcessState)
	}
	cmd, out := onceRunning(t, `trap 'echo no' TERM; echo ready; while :; do sleep 1000 & wait; done`, "--kill-after", "1h")
	cmd.Process.Signal(syscall.SIGINT)
	if line, _ := out.ReadString('\n'); line != "no\n" {
		t.Errorf("%q", line)
	}
	cmd.Process.Signal(syscall.SIGINT)
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
		t.Errorf("%v", cmd.ProcessState)
	}
}

// A run whose output nobody takes any more is ended, as a command in a pipe would be.
func TestRunOnceEndsWithoutReader(t *testing.T) {
	t.Parallel()
	cmd := executord(t, "run-once", write(t, "tab", "# name: a\n@daily while echo yes; do :; done\n"), "a")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(pipe).ReadString('\n')
	pipe.Close()
	cmd.Wait()
	if want := "executord: job a: the run was ended: its output cannot be written: broken pipe\n"; stderr.String() != want ||
		cmd.ProcessState.ExitCode() != exitMistake {
		t.Errorf("%v, %q", cmd.ProcessState, stderr.String())
	}
}
