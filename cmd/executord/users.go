package main

import (
	"cmp"
	"fmt"
	"os"
	"os/user"

	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// checkUsers returns an error if jobs that this machine may run do so as another user, and executord is not root: each
// of their runs would fail.
func checkUsers(file job.File, here job.Machine) error {
	own := os.Getuid()
	if own <= 0 { // root; on Windows it is -1, and runs say that there is no such user
		return nil
	}
	self, err := user.Current()
	for _, j := range file.Jobs {
		if name := j.Command.User; name != "" && here.In(j.On) && (err != nil || name != self.Username) {
			return &exitError{exitMistake, fmt.Sprintf("%s:%d: job %s runs as %s, and only root runs commands as another user; start executord as root, or remove the user",
				job.Printable(cmp.Or(j.File, file.Name)), j.Line, j.Name, name)}
		}
	}
	return nil
}
