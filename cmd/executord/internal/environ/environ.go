// Package environ is what the command of a job is started with besides its arguments: variables, user, directory.
package environ

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/variables"
)

// DefaultPath is for a daemon that was started without a PATH.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// StoreVariable names the store, unless the command line does. The commands do
// not get it.
const StoreVariable = "EXECUTORD_STORE"

// A Run is what the command of one run gets besides what all runs of a job have.
type Run struct {
	Number  int // of the run, from 1
	Attempt int // from 1
	Due     time.Time
	Given   []string // parameters, NAME=value; nil for the defaults
	Extra   []string // variables, NAME=value
}

// Command returns the command of a run of a job. The values that come from files are added to veil. In its environment,
// later entries win:
//
//  1. the daemon's own, and what is missing there of HOME, LOGNAME, USER, PATH; of a command that names a user only
//     PATH, TZ and the locale of these, and that user's HOME, LOGNAME and USER
//  2. SHELL, the shell that the job is run by
//  3. the variables of files that the job names, those of the job file, and its secrets
//  4. its parameters
//  5. EXECUTORD_JOB, EXECUTORD_RUN, EXECUTORD_DUE and EXECUTORD_ATTEMPT, and the extra variables of the run
//
// Cron starts from nothing but HOME, LOGNAME, SHELL and a short PATH instead.
// That was rejected: in a container and under a service manager, the
// environment is where the configuration is, and its loss is what people trip
// over most when they move a command to cron.
func Command(j job.Job, r Run, veil *variables.Veil) (process.Command, error) {
	c := j.Command
	args := c.Args
	if len(args) == 0 {
		args = []string{c.Shell, "-c", c.Script}
	}
	as, dir, err := User(c)
	if err != nil {
		return process.Command{}, err
	}
	env, err := Of(c, veil)
	if err != nil {
		return process.Command{}, err
	}
	env = append(env, j.Parameters.Env(r.Given)...)
	env = append(env,
		"EXECUTORD_JOB="+j.Name,
		"EXECUTORD_RUN="+strconv.Itoa(r.Number),
		"EXECUTORD_DUE="+about.Time{Time: r.Due}.String(),
		"EXECUTORD_ATTEMPT="+strconv.Itoa(r.Attempt),
	)
	return process.Command{
		Args: Args(args), Env: append(env, r.Extra...), Dir: dir, As: as, Stdin: c.Stdin, Timeout: j.Timeout,
	}, nil
}

// Of returns the first three parts of the environment of a command's runs. The values that come from files are
// added to veil, unless that is nil. An error says which of these files cannot be read, or why there is no user: whether
// a command may have the daemon's own variables depends on that.
func Of(c job.Command, veil *variables.Veil) ([]string, error) {
	as, _, err := User(c)
	if err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		// it may have a password, and jobs print their environment
		return process.IsVariable(variable, StoreVariable) ||
			as != nil && !isForAll(variable)
	})
	if as != nil {
		env = append(env, "HOME="+as.Home, "LOGNAME="+as.Name, "USER="+as.Name)
	}
	for _, missing := range [...]struct {
		name  string
		value func() string
	}{
		{"PATH", func() string { return DefaultPath }},
		{"HOME", func() string { return self().HomeDir }},
		{"LOGNAME", func() string { return self().Username }},
		{"USER", func() string { return self().Username }},
	} {
		if os.Getenv(missing.name) != "" || as != nil && missing.name != "PATH" {
			continue
		}
		if value := missing.value(); value != "" {
			env = append(env, missing.name+"="+value)
		}
	}
	if c.Shell != "" {
		env = append(env, "SHELL="+c.Shell)
	}
	for _, file := range c.EnvFiles {
		some, err := variables.Of(file)
		if err != nil {
			return nil, fmt.Errorf("env_file: %w", err)
		}
		for _, variable := range some {
			_, value, _ := strings.Cut(variable, "=")
			veil.Add(value)
		}
		env = append(env, some...)
	}
	env = append(env, c.Env...)
	for _, secret := range c.Secrets {
		name, file, _ := strings.Cut(secret, "=")
		value, err := variables.Value(file)
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
		veil.Add(value)
		env = append(env, name+"="+value)
	}
	return env, nil
}

// isForAll reports whether a variable of the daemon is one of commands that name a user, too. There may be
// secrets in others.
func isForAll(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == "PATH" || name == "TZ" || name == "LANG" || strings.HasPrefix(name, "LC_")
}

// User returns the user that a command names, nil if it is run as the daemon's own without that, and the directory that
// it is run in.
func User(c job.Command) (as *process.User, dir string, err error) {
	if c.User == "" {
		return nil, c.Dir, nil
	}
	if as, err = process.LookUpUser(c.User); err != nil {
		return nil, "", err
	}
	if dir = c.Dir; dir == "" {
		// The daemon's own may be one that the user cannot enter.
		if dir = as.Home; !isDir(dir) {
			dir = "/"
		}
	}
	return as, dir, nil
}

// Args replaces the program of a job that executord itself does by the file of that.
func Args(args []string) []string {
	if len(args) < 2 || args[0] != job.Self || args[1] != "http" {
		return args
	}
	if program == "" {
		return args // it may be in the PATH
	}
	return append([]string{program}, args[1:]...)
}

// program is the file of this program, "" if it is not known. Where /proc is not mounted, it is the one by whose name it
// was started, from the directory of that time.
var program = func() string {
	if name, err := os.Executable(); err == nil {
		return name
	}
	name, err := exec.LookPath(os.Args[0])
	if err != nil {
		return ""
	}
	if name, err = filepath.Abs(name); err != nil {
		return ""
	}
	return name
}()

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// self returns the user of the daemon. A container may run under a
// number that is no user.
func self() user.User {
	u, err := user.Current()
	if err != nil {
		return user.User{}
	}
	u.Username = strings.TrimSpace(u.Username)
	return *u
}
