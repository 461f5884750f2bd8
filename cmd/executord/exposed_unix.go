//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// writers returns which users may write to a file besides its own and root, and the
// commands, each to be followed by the file's name, that is undone. Both are empty if
// nobody may.
//
// The user's own group is taken for that of the user alone, and group 0 for that of
// root: many systems give each user a group, and some containers any user group 0.
func writers(info fs.FileInfo) (reason string, hint [][]string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", nil
	}
	const byGroup, byAll = 0o020, 0o002
	var reasons []string
	if uid := os.Geteuid(); stat.Uid != 0 && int(stat.Uid) != uid {
		reasons = append(reasons, fmt.Sprintf("it belongs to user %d", stat.Uid))
		hint = append(hint, []string{"chown", strconv.Itoa(uid)})
	}
	switch mode := info.Mode().Perm(); {
	case mode&byAll != 0:
		reasons = append(reasons, "all users may write to it")
		hint = append(hint, []string{"chmod", "go-w"})
	case mode&byGroup != 0 && stat.Gid != 0 && int(stat.Gid) != os.Getegid():
		reasons = append(reasons, fmt.Sprintf("group %d may write to it", stat.Gid))
		hint = append(hint, []string{"chmod", "g-w"})
	}
	return strings.Join(reasons, ", and "), hint
}
