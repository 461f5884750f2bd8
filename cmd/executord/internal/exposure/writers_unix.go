//go:build unix

package exposure

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// writers returns which users may write to a file besides executord's own, the named one and root, and the
// commands, each to be followed by the file's name, that is undone. Both are empty if
// nobody may.
//
// The user's own group is taken for that of the user alone, and group 0 for that of
// root: many systems give each user a group, and some containers any user group 0.
func writers(info fs.FileInfo, named string) (reason string, hint [][]string) {
	owner, mode := others(info, named)
	var reasons []string
	if owner != "" {
		reasons, hint = append(reasons, "it "+owner), append(hint, []string{"chown", strconv.Itoa(os.Geteuid())})
	}
	if mode != "" {
		reasons = append(reasons, mode+" may write to it")
		if mode != allUsers {
			hint = append(hint, []string{"chmod", "g-w"})
		} else {
			hint = append(hint, []string{"chmod", "go-w"})
		}
	}
	return strings.Join(reasons, ", and "), hint
}

// writersTo returns which users may replace a file of a directory or, if anew is true, put another one beside it, which
// a sticky directory allows.
func writersTo(dir fs.FileInfo, named string, anew bool) (reason string) {
	owner, mode := others(dir, named)
	switch {
	case owner != "":
		return "the directory " + owner
	case mode != "" && (anew || dir.Mode()&fs.ModeSticky == 0):
		return mode + " may write to the directory"
	}
	return ""
}

const allUsers = "all users"

// others returns which users have rights to a file besides executord's own, the named one and root: as its owner, and
// by its mode.
func others(info fs.FileInfo, named string) (owner, mode string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	const byGroup, byAll = 0o020, 0o002
	uids, gids := []string{"0", strconv.Itoa(os.Geteuid())}, []string{"0", strconv.Itoa(os.Getegid())}
	if found, err := user.Lookup(named); named != "" && err == nil {
		uids, gids = append(uids, found.Uid), append(gids, found.Gid)
	}
	if !slices.Contains(uids, strconv.FormatUint(uint64(stat.Uid), 10)) {
		owner = fmt.Sprintf("belongs to user %d", stat.Uid)
	}
	switch bits := info.Mode().Perm(); {
	case bits&byAll != 0:
		mode = allUsers
	case bits&byGroup != 0 && !slices.Contains(gids, strconv.FormatUint(uint64(stat.Gid), 10)):
		mode = fmt.Sprintf("group %d", stat.Gid)
	}
	return owner, mode
}
