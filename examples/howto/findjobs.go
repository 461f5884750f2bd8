package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable"
)

// Mail is the payload of a job that sends a mail.
type Mail struct{ Customer, Campaign, Text string }

// send adds a mail with tags, by which it can be found later.
func send(ctx context.Context, mails *durable.Kind[Mail, string], m Mail) error {
	_, err := mails.Add(ctx, m, durable.WithTags("customer="+m.Customer, "campaign="+m.Campaign))
	return err
}

// refused selects the mails of a campaign that the server has refused, and that have failed for good since a time.
func refused(campaign string, since time.Time) durable.Filter {
	return durable.Filter{
		Kind:    "mail",
		Tags:    []string{"campaign=" + campaign},
		States:  []durable.State{durable.Dead},
		Error:   "connection refused",
		Updated: durable.TimeRange{From: since},
	}
}

// customers counts the jobs that f selects, by customer.
func customers(ctx context.Context, jobs *durable.Jobs, f durable.Filter) (map[string]int, error) {
	n := make(map[string]int)
	for {
		page, err := jobs.List(ctx, f)
		if err != nil || len(page) == 0 {
			return n, err
		}
		for _, j := range page {
			customer, _ := j.Tag("customer")
			n[customer]++
		}
		f.After = page[len(page)-1].ID
	}
}

// revive revives what f selects, a thousand jobs at a time, and returns how many were revived. After an error, call it
// again with f.After set to after, to continue from there.
func revive(ctx context.Context, jobs *durable.Jobs, f durable.Filter) (revived int, after durable.ID, err error) {
	for {
		done, err := jobs.ChangeAll(ctx, durable.Change{Op: durable.OpRevive}, f)
		revived += done.Applied
		if f.After = done.After; err != nil || !done.More {
			return revived, f.After, err
		}
	}
}
