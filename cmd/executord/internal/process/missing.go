package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Missing returns what would keep the command from being started, as far as that shows in the file system now: that its
// directory, its program, or what it reads without input is not there, or may not be used by its user.
func (c Command) Missing() error {
	if err := missingDir(c.Dir); err != nil {
		return err
	}
	if c.Stdin == "" {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err // as of a run
		}
		null.Close()
	}
	cmd, err := c.prepare()
	if err != nil {
		return err
	}
	program := cmd.Path
	if !filepath.IsAbs(program) {
		program = filepath.Join(cmd.Dir, program)
	}
	switch info, err := os.Stat(program); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("program %s does not exist", program)
	case err != nil:
		return nil // executord may lack a right that the user of the job has
	case info.IsDir():
		return fmt.Errorf("%s is a directory, not a program", program)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s may not be executed: it has no execute permission", program)
	}
	return denied(cmd.Dir, program, c.As)
}

// missingDir returns why a directory cannot be entered. The empty name is the caller's own directory.
func missingDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory %s does not exist", dir)
	case err != nil:
		return fmt.Errorf("the directory cannot be entered: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}
