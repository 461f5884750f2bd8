package process

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// User is one that commands can be run as.
type User struct {
	Name   string
	Home   string
	UID    uint32
	GID    uint32
	Own    bool     // the caller's user, as which a command is run without a switch
	Groups []uint32 // those that the user belongs to
}

// LookUpUser returns the user of that name. Of the caller's own, it has no groups. It is an error if there is none, or if
// the caller may not run commands as another user, which takes root.
func LookUpUser(name string) (*User, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user %q does not exist on this machine", name)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("this system cannot switch to user %s", name)
	}
	switch own := os.Getuid(); {
	case own == int(uid):
		return &User{Name: found.Username, Home: found.HomeDir, UID: uint32(uid), Own: true}, nil
	case own != 0:
		return nil, fmt.Errorf("only root can run commands as another user, %s", name)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the group of user %s is not a number: %s", name, found.Gid)
	}
	u := &User{Name: found.Username, Home: found.HomeDir, UID: uint32(uid), GID: uint32(gid)}
	groups, err := found.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("the groups of user %s: %w", name, err)
	}
	for _, group := range groups {
		if id, err := strconv.ParseUint(group, 10, 32); err == nil {
			u.Groups = append(u.Groups, uint32(id))
		}
	}
	return u, nil
}
