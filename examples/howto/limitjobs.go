package howto

import (
	"context"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// Mail is the payload of a job that sends one.
type Mail struct{ To, Text string }

// newMailer makes a program send mails: on all machines together a hundred in a minute, and ten at once after a pause,
// as the provider allows.
func newMailer(jobs *durable.Jobs, send func(context.Context, Mail) (string, error)) *durable.Kind[Mail, string] {
	return durable.Handle(jobs, "mail", send,
		durable.GlobalRate(executor.Rate{PerSecond: 100.0 / 60, Burst: 10}))
}
