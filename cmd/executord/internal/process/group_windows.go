package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Windows has no signals that a process group could handle: to terminate and
// to kill is the same here, and ends the tree of processes below the leader.

func newGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// take is never called with a user: none of Windows can be switched to.
func (*User) take(*syscall.SysProcAttr) {}

func terminateGroup(group int) { killGroup(group) }

func killGroup(group int) {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(group)).Run()
}

// groupAlive is not known: what outlives its parent cannot be found here.
func groupAlive(group int) bool { return false }

func signalOf(syscall.WaitStatus) string { return "" }

// present is never called, as pipes have no deadlines here: see source.end.
func present(*os.File, []byte) (int, error) { return 0, io.EOF }
