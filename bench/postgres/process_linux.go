package postgres

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the command when this process dies.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// runAs gives the command, on which dieWithParent was called, a user.
func runAs(cmd *exec.Cmd, uid, gid int) {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
