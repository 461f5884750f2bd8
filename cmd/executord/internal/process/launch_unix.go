//go:build unix

package process

import (
	"cmp"
	"fmt"
	"os"
	"syscall"
)

func closeOnExec(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }

// become sets up the process, and makes it the command. A plain syscall.Errno is that of exec.
func (l *launch) become(args []string) error {
	if err := l.Setup.apply(); err != nil {
		return err
	}
	if l.Umask != nil {
		syscall.Umask(*l.Umask)
	}
	if err := l.As.become(); err != nil {
		return fmt.Errorf("user %s: %w", l.As.Name, err)
	}
	if l.Dir != "" {
		if err := os.Chdir(l.Dir); err != nil {
			return cmp.Or(missingDir(l.Dir), fmt.Errorf("the directory cannot be entered: %w", err))
		}
	}
	return syscall.Exec(l.Path, args, os.Environ())
}

// become makes the process that of the user.
func (u *User) become() error {
	if u == nil {
		return nil
	}
	groups := make([]int, len(u.Groups))
	for i, group := range u.Groups {
		groups[i] = int(group)
	}
	if err := syscall.Setgroups(groups); err != nil {
		return err
	}
	if err := syscall.Setgid(int(u.GID)); err != nil {
		return err
	}
	return syscall.Setuid(int(u.UID))
}
