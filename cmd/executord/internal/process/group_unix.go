//go:build unix

package process

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// newGroup makes the process the leader of a new process group, whose number
// is that of the process.
//
// Where the caller has a terminal, the group is in a new session, too, which has none:
// one in the background that asks there for a password is stopped by the kernel, and
// its run would not end. Elsewhere a session lost: with one for each run, Linux may
// share out the processors among sessions (autogroup), and nice means nothing between two.
func newGroup() *syscall.SysProcAttr {
	own := hasTerminal()
	return &syscall.SysProcAttr{Setpgid: !own, Setsid: own}
}

// hasTerminal reports whether the caller has a terminal, as it did when it was asked first.
var hasTerminal = sync.OnceValue(func() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		f.Close()
	}
	return err == nil
})

// take makes a process that of the user.
func (u *User) take(attr *syscall.SysProcAttr) {
	if u != nil && !u.Own {
		attr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
	}
}

// terminateGroup asks a group to end. What was stopped is woken for that.
func terminateGroup(group int) { terminate(-group) }

// terminate asks a process, or a group if pid is negative, to end.
func terminate(pid int) {
	syscall.Kill(pid, syscall.SIGTERM)
	syscall.Kill(pid, syscall.SIGCONT)
}

func killGroup(group int) { syscall.Kill(-group, syscall.SIGKILL) }

// groupAlive reports whether the group has members, those of other users, who
// may not be signaled, included.
func groupAlive(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }

// signalOf names the signal that ended the process, if one did.
func signalOf(status syscall.WaitStatus) string {
	if !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return status.Signal().String()
}

// present reads what is in a pipe, without waiting: syscall.EAGAIN says that nothing
// is.
func present(f *os.File, b []byte) (n int, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := c.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return true
	}); e != nil {
		return 0, e
	}
	return max(n, 0), err
}
