package client

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// Note keeps in the store what was done to a job. Without that it is done all the same.
func (c Client) Note(ctx context.Context, e catalog.Entry, action, reason, answer string) {
	err := c.Jobs.NoteAct(ctx, durable.Act{
		Who: whoAmI(), Action: action, Job: e.ID, Key: e.Key, Reason: reason, Answer: answer,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "executord: the action was done, but could not be stored in the audit log: %v\n", err)
	}
}

// whoAmI returns the user and the host of this process.
func whoAmI() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return cmp.Or(name, "somebody") + "@" + cmp.Or(host, "some host")
}
