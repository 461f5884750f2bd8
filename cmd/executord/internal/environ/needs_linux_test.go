package environ_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Without devices, as in a root directory that was put together by hand, a command without input of its own finds no
// /dev/null.
func TestMissingNullDevice(t *testing.T) {
	const inside = "EXECUTORD_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMissingNullDevice$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Skip("no namespaces here:", err)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		} else if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		return
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skip("no mounts here:", err)
	}
	if err := syscall.Mount("none", "/dev", "tmpfs", 0, ""); err != nil {
		t.Skip("no mounts here:", err)
	}
	c := job.Command{Shell: "/bin/sh", Script: "exit"}
	if err := environ.Missing(c); err == nil || !strings.Contains(err.Error(), "/dev/null") {
		t.Errorf("error %v, want one about /dev/null", err)
	}
	c.Stdin = "input"
	if err := environ.Missing(c); err != nil {
		t.Errorf("with input: %v", err)
	}
}

// Where /proc is not mounted, as in a root directory that was put together by hand, executord knows its own file.
func TestArgsWithoutProc(t *testing.T) {
	const inside = "EXECUTORD_TEST_WITHOUT_PROC"
	if want := os.Getenv(inside); want != "" {
		if _, err := os.Executable(); err == nil {
			t.Fatal("/proc is there")
		}
		if args := environ.Args([]string{job.Self, "http", "x"}); args[0] != want || len(args) != 3 {
			t.Errorf("%q, want %s", args, want)
		}
		return
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `mount -t tmpfs none /proc || exit 77; exec "$0" -test.run='^TestArgsWithoutProc$'`, own)
	cmd.Env = append(os.Environ(), inside+"="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // what is mounted there is private
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("no mounts here: %v, %s", err, out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
