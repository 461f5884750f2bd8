// Package environ is what the command of a job is started with besides its arguments: variables, user, directory and
// limits.
package environ

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/process"
	"github.com/executor-go/executor/cmd/executord/internal/variables"
)

// DefaultPath is for a daemon that was started without a PATH.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// StoreVariable names the store, unless the command line does. The commands do
// not get it.
const StoreVariable = "EXECUTORD_STORE"

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
	own, err := os.Executable()
	if err != nil {
		return args // it may be in the PATH
	}
	return append([]string{own}, args[1:]...)
}

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
