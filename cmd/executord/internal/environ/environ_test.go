package environ_test

import (
	"os"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/environ"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// Of a user who is not known, as while the list of users is written, a command does not get what is the daemon's own.
func TestOfFailsWithoutUser(t *testing.T) {
	t.Setenv("SECRET", "hunter2hunter2")
	if env, err := environ.Of(job.Command{User: "no-such-user"}, nil); env != nil || err == nil {
		t.Errorf("%q, error %v", env, err)
	}
}

// A command with a user gets what that user has, and nothing else of the daemon's, if it is the daemon's own user, too.
func TestOfNamedUserIsThatUsers(t *testing.T) {
	self, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	for name, value := range map[string]string{"SECRET": "hunter2hunter2", "HOME": "/nosuch", "LOGNAME": "x", "USER": "x", "PATH": "/bin", "LC_ALL": "C"} {
		t.Setenv(name, value)
	}
	c := job.Command{User: self.Username, Shell: "/bin/sh"}
	env, err := environ.Of(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"HOME=" + self.HomeDir, "LOGNAME=" + self.Username, "USER=" + self.Username, "PATH=/bin", "LC_ALL=C"} {
		name, _, _ := strings.Cut(variable, "=")
		if n := len(slices.DeleteFunc(slices.Clone(env), func(v string) bool { return !strings.HasPrefix(v, name+"=") })); n != 1 ||
			!slices.Contains(env, variable) {
			t.Errorf("%d of %s, want %s alone", n, name, variable)
		}
	}
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "SECRET=") }) {
		t.Errorf("%q", env)
	}
	if _, err := os.Stat(self.HomeDir); err != nil {
		t.Skip(err)
	}
	if _, dir, err := environ.User(c); dir != self.HomeDir || err != nil {
		t.Errorf("in %q, error %v", dir, err)
	}
}
