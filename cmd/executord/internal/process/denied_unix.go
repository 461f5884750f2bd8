//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// denied returns which directory or program a user may not use, nil for the caller's own user, as far as modes tell.
func denied(dir, program string, as *User) error {
	who, name := newIdentity(as), "executord's user"
	if as != nil {
		name = "user " + as.Name
	}
	if closed := who.closed(dir); closed != "" {
		return fmt.Errorf("%s may not enter the directory %s", name, closed)
	}
	if closed := who.closed(filepath.Dir(program)); closed != "" {
		return fmt.Errorf("%s cannot run: %s may not enter the directory %s", program, name, closed)
	}
	if !who.mayExecute(program) {
		return fmt.Errorf("%s may not execute %s", name, program)
	}
	return nil
}

// identity is a user with groups.
type identity struct {
	uid    int
	groups []int
}

// newIdentity returns that of a user, nil for the caller's own.
func newIdentity(as *User) (who identity) {
	if as == nil || as.Own {
		who = identity{os.Geteuid(), []int{os.Getegid()}}
		groups, _ := os.Getgroups()
		who.groups = append(who.groups, groups...)
		return who
	}
	who = identity{int(as.UID), []int{int(as.GID)}}
	for _, group := range as.Groups {
		who.groups = append(who.groups, int(group))
	}
	return who
}

// closed returns the first directory on the way to one, or that itself, which may not be entered. It is "" if there is
// none, or it is not known.
func (who identity) closed(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	for i, c := range dir + "/" {
		if c != '/' {
			continue
		}
		if part := dir[:max(i, 1)]; !who.mayExecute(part) {
			return part
		}
	}
	return ""
}

// mayExecute reports whether a program may be executed, or a directory entered. What cannot be looked at may be.
func (who identity) mayExecute(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || who.uid == 0 {
		return true
	}
	mode := info.Mode().Perm()
	switch {
	case int(stat.Uid) == who.uid:
		return mode&0o100 != 0
	case slices.Contains(who.groups, int(stat.Gid)):
		return mode&0o010 != 0
	}
	return mode&0o001 != 0
}
