//go:build unix

package exposure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// writers returns which users may write to a file besides executord's own, the named one and root: as its owner, and by
// its mode. It is "" if nobody may.
//
// The user's own group is taken for that of the user alone, and group 0 for that of root: many systems give each user a
// group, and some containers any user group 0.
func writers(info fs.FileInfo, named string) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	uids, gids := []string{"0", strconv.Itoa(os.Geteuid())}, []string{"0", strconv.Itoa(os.Getegid())}
	if found, err := user.Lookup(named); named != "" && err == nil {
		uids, gids = append(uids, found.Uid), append(gids, found.Gid)
	}
	var reasons []string
	if !slices.Contains(uids, strconv.FormatUint(uint64(stat.Uid), 10)) {
		reasons = append(reasons, fmt.Sprintf("it belongs to user %d", stat.Uid))
	}
	const byGroup, byAll = 0o020, 0o002
	switch bits := info.Mode().Perm(); {
	case bits&byAll != 0:
		reasons = append(reasons, "all users may write to it")
	case bits&byGroup != 0 && !slices.Contains(gids, strconv.FormatUint(uint64(stat.Gid), 10)):
		reasons = append(reasons, fmt.Sprintf("group %d may write to it", stat.Gid))
	}
	return strings.Join(reasons, ", and ")
}

// Refused returns why root does not run the jobs of a file with users in its lines, as cron does not: another user may
// write to the file that was opened by this name, or has put a link in the place of it. It is "" for every other user,
// who runs no jobs of others.
func Refused(name string, opened fs.FileInfo) string {
	if os.Geteuid() != 0 {
		return ""
	}
	if link, err := os.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if stat, ok := link.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
			return fmt.Sprintf("it is a link that belongs to user %d", stat.Uid)
		}
	}
	return writers(opened, "")
}

// Directory refuses a directory with a store in which others may put what they like.
func Directory(name string, info fs.FileInfo) error {
	if reason := writers(info, ""); reason != "" {
		return fmt.Errorf("the directory %s: %s, who could choose the commands that are run: make executord's user or root its owner, "+
			"and let only these write to it: chmod go-w %s", name, reason, name)
	}
	return nil
}

// Beside refuses files beside a store that somebody has put there who may not write to the store: SQLite takes the log
// that lies beside it for a part of it, and the daemon the list of those that use it.
func Beside(name string, store fs.FileInfo, suffixes ...string) error {
	owners := []uint32{0, uint32(os.Geteuid())}
	if stat, ok := store.Sys().(*syscall.Stat_t); ok {
		owners = append(owners, stat.Uid)
	}
	for _, suffix := range suffixes {
		info, err := os.Lstat(name + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the store %s: %w", name, err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case ok && !slices.Contains(owners, stat.Uid):
			return fmt.Errorf("the store %s: the file %s beside it belongs to user %d, and would change what is in it: "+
				"find out who put it there, and remove it", name, name+suffix, stat.Uid)
		case !info.Mode().IsRegular():
			return fmt.Errorf("the store %s: %s beside it is not a file: find out who put it there, and remove it", name, name+suffix)
		}
	}
	return nil
}
