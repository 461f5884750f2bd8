package environ_test

import (
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
