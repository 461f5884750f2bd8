package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// prepare returns the exec.Cmd of a command. An error means that the program was not
// found.
func (c Command) prepare() (*exec.Cmd, error) {
	program := c.Args[0]
	if !strings.ContainsRune(program, '/') && filepath.Base(program) == program {
		var err error
		if program, err = c.look(program); err != nil {
			return nil, err
		}
	}
	// Not CommandContext: it ends one process, and the group has to end.
	return &exec.Cmd{Path: program, Args: c.Args, Env: c.Env, Dir: c.Dir}, nil
}

// IsVariable reports whether an entry of an environment, NAME=value, is the
// variable of that name. On Windows a name is the same in capitals and small
// letters, and the PATH is called Path as a rule.
func IsVariable(entry, name string) bool {
	got, _, _ := strings.Cut(entry, "=")
	return got == name || runtime.GOOS == "windows" && strings.EqualFold(got, name)
}

// Variable returns the value of a variable in an environment, and reports whether it is there. The last of a name
// counts.
func Variable(env []string, name string) (value string, set bool) {
	for _, entry := range env {
		if IsVariable(entry, name) {
			_, value, _ = strings.Cut(entry, "=")
			set = true
		}
	}
	return value, set
}

// look finds a program in the PATH that the command itself will have, which
// exec.LookPath, that reads the caller's, would not.
func (c Command) look(program string) (string, error) {
	path, _ := Variable(c.Env, "PATH")
	var refused error
	for _, dir := range filepath.SplitList(path) {
		// An empty element means the working directory, in which a program may
		// be another's: it is left out, as package exec does.
		if dir == "" || !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, program))
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			refused = fmt.Errorf("%s may not be executed", filepath.Join(dir, program))
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("program %q is not in PATH=%s", program, path)
}

// explain returns what kept cmd from starting as a user, nil for the caller's own. The system's own words for a
// missing directory, a missing program and a missing interpreter are the same.
func explain(err error, cmd *exec.Cmd, as *User) error {
	var file *fs.PathError
	if errors.As(err, &file) && file.Path == os.DevNull {
		return err // a root file system without devices
	}
	if err := missingDir(cmd.Dir); err != nil {
		return err
	}
	program := cmd.Path
	if !filepath.IsAbs(program) {
		program = filepath.Join(cmd.Dir, program)
	}
	info, statErr := os.Stat(program)
	if errors.Is(err, fs.ErrPermission) {
		if err := denied(cmd.Dir, program, as); err != nil && (statErr != nil || !info.IsDir() && info.Mode()&0o111 != 0) {
			return err
		}
	}
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return fmt.Errorf("program %s does not exist", program)
	case statErr == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, not a program", program)
	case statErr == nil && errors.Is(err, fs.ErrNotExist):
		if named := interpreter(program); named != "" {
			if _, err := os.Stat(named); err != nil {
				return fmt.Errorf("%s cannot run: the interpreter named in its first line, %q, does not exist", program, named)
			}
			program = named
		}
		return fmt.Errorf("%s cannot run: the loader that it is linked for does not exist, as in an image with another C library, or with none", program)
	case statErr == nil && info.Mode()&0o111 == 0:
		return fmt.Errorf("%s may not be executed: it has no execute permission", program)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is not a program for this machine, or is a script without #! in its first line", program)
	case errors.Is(err, syscall.E2BIG):
		return errors.New("the command and its environment are longer than the system allows")
	case errors.Is(err, syscall.ETXTBSY):
		return fmt.Errorf("%s is being written by another process", program)
	}
	return explainLimit(err)
}

// explainLimit returns what is full, if something is, and how to have more of it.
func explainLimit(err error) error {
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return errors.New("no process can be started: the limit on their number is reached, that of the user (rlimit nproc) or of the cgroup (pids.max, TasksMax)")
	case errors.Is(err, syscall.ENOMEM):
		return errors.New("no process can be started: there is not enough memory")
	case errors.Is(err, syscall.EMFILE):
		return errors.New("no process can be started: executord has too many files open; allow it more (ulimit -n, LimitNOFILE)")
	case errors.Is(err, syscall.ENFILE):
		return errors.New("no process can be started: too many files are open on this machine (fs.file-max)")
	}
	return err
}

// interpreter returns what the first line of a script names, "" if it is none.
func interpreter(program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256) // all that Linux looks at
	n, _ := io.ReadFull(f, head)
	line, isScript := strings.CutPrefix(string(head[:n]), "#!")
	if !isScript {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	line = strings.TrimLeft(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		line = line[:i]
	}
	return line
}
