package process

import (
	"errors"
	"os"
)

func closeOnExec(*os.File) {}

// become is not to be had: a process cannot become another one.
func (*launch) become([]string) error {
	return errors.New("umask is not supported on Windows")
}
