//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A command that is run once gets what the daemon gives it, and the parameters that are set.
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
	stdout, stderr, code := output(t, "", "run-once", file, "a", "--set", "REGION=us")
	if stdout != strings.Replace(want.String(), "\nREGION=eu\n", "\nREGION=us\n", 1) || stderr != "" || code != exitOK || !strings.Contains(stdout, "EXECUTORD_RUN=1\n") {
		t.Errorf("exit code %d, %s%s, want %s", code, stdout, stderr, want.String())
	}
}

// The exit code of run-once is that of the command, and tells what else may have happened. What has left the group of the
// run is ended, too, and said.
func TestRunOnceExitCodes(t *testing.T) {
	t.Parallel()
	file := write(t, "jobs.crontab", `# name: ok
@daily echo out; echo err >&2
# name: fails
@daily exit 3
# name: slow
# timeout: 100ms
@daily sleep 100
# name: killed
@daily kill -TERM $$
# name: nothing
# dir: /no/such/directory
@daily true
# name: background
@daily sleep 100 & echo here
# name: secret
# secret: S=`+write(t, "secret", "hunter2hunter2")+`
@daily echo $S; printf \%s $S >&2
# name: stray
@daily (setsid sh -c 'echo up >&2; exec sleep 1000' 2>&1 >/dev/null &) | head -n 1
`)
	type test struct {
		args   string
		code   int
		stderr string
	}
	tests := []test{
		{"ok", 0, "err\n"},
		{"fails", 3, ""},
		{"slow", 124, "executord: job slow: the command took longer than its timeout\n"},
		{"killed", 143, "executord: job killed: killed by SIGTERM\n"},
		{"nothing", 126, "executord: job nothing: not started: the directory /no/such/directory does not exist\n"},
		{"ok --set DAY=wed", 1, "executord: job ok: there is no parameter"},
		{"background", 0, "executord: job background: background processes outlived the command and were ended\n"},
		{"secret", 0, "***\n"},
	}
	if runtime.GOOS == "linux" {
		tests = append(tests, test{"stray", 0, ", had left the group of the run, and was ended\n"})
	}
	var lines [][]string
	for _, test := range tests {
		lines = append(lines, append([]string{"run-once", file}, strings.Fields(test.args)...))
	}
	stdout, answers := inTurn(t, executord(t), lines)
	for i, test := range tests {
		if a := answers[i]; a.code != test.code || !strings.Contains(a.said, test.stderr) || test.stderr == "" && a.said != "" {
			t.Errorf("%s: %+v", test.args, a)
		}
	}
	if want := "out\nhere\n***\n"; strings.TrimSuffix(stdout, "up\n") != want {
		t.Errorf("printed %q, want %q", stdout, want)
	}
	if left := leftProcesses(t); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// A job of another user runs as that user, with none of the variables that executord has for itself. One of a directory is
// called as the daemon calls it.
func TestUserIsSwitchedByRoot(t *testing.T) {
	if os.Getuid() != 0 {
		_, stderr, code := output(t, "# user: nobody\n@daily true\n", "run", "-")
		if code != exitMistake || !strings.Contains(stderr, "stdin:2: job true runs as nobody, and only root runs commands as another user") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		return
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	home := nobody.HomeDir
	if _, err := os.Stat(home); err != nil {
		home = "/"
	}
	dir := filepath.Dir(files(t, "backup", "A=b\n@daily nobody echo $(id -un) $LOGNAME $USER $A [$SECRET] $EXECUTORD_JOB $PWD $HOME\n")[0])
	cmd := executord(t, "run-once", "--dir", dir, "backup/echo")
	cmd.Env = append(cmd.Env, "SECRET=yes", "HOME=/nosuch")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "nobody nobody nobody b [] backup/echo "+home+" "+nobody.HomeDir+"\n" {
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
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGHUP} {
		cmd, out := onceRunning(t, `trap 'echo bye; exit 0' TERM; (echo ready; exec sleep 1000) & wait`)
		cmd.Process.Signal(sig)
		line, _ := out.ReadString('\n')
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 128+int(sig) || line != "bye\n" {
			t.Errorf("%v: %v, %q", sig, cmd.ProcessState, line)
		}
	}
	cmd, _ := onceRunning(t, `trap '' TERM; echo ready; while :; do sleep 1000; done`, "--kill-after", "10ms")
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
