package client

import (
	"cmp"
	"os"
	"os/user"
)

// WhoAmI returns the user and the host of this process.
func WhoAmI() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return cmp.Or(name, "somebody") + "@" + cmp.Or(host, "some host")
}
