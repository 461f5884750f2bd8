package client

import (
	"cmp"
	"context"
	"os"
	"os/user"

	"github.com/executor-go/executor/cmd/executord/internal/catalog"
	"github.com/executor-go/executor/durable"
)

// Note keeps in the store what this user has done to a job. After an error it is done all the same.
func (c Client) Note(ctx context.Context, e catalog.Entry, a Action, reason, answer string) error {
	return c.Jobs.NoteAct(ctx, durable.Act{
		Who: WhoAmI(), Action: string(a), Job: e.ID, Key: e.Key, Reason: reason, Answer: answer,
	})
}

// WhoAmI returns the user and the host of this process.
func WhoAmI() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return cmp.Or(name, "somebody") + "@" + cmp.Or(host, "some host")
}
