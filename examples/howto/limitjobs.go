package howto

import (
	"context"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
)

// Notice is the payload of a job that sends a mail.
type Notice struct{ To, Text string }

// newMailer sets the handler of mails. All machines together send up to a hundred mails in a minute, and up to ten at
// once after a pause: that is what the provider allows.
func newMailer(jobs *durable.Jobs, send func(context.Context, Notice) (string, error)) *durable.Kind[Notice, string] {
	return durable.Handle(jobs, "mail", send,
		durable.GlobalRate(executor.Rate{PerSecond: 100.0 / 60, Burst: 10}))
}

// Import is the payload of a job that imports a file of a customer.
type Import struct{ Customer, File string }

// newImporter sets the handler of imports. All machines together import up to two files of each customer at a time.
func newImporter(jobs *durable.Jobs, run func(context.Context, Import) (int, error)) *durable.Kind[Import, int] {
	return durable.Handle(jobs, "import", run, durable.PartitionLimit(2))
}

// addImport adds a job that imports a file. The partition is the customer.
func addImport(ctx context.Context, imports *durable.Kind[Import, int], i Import) (durable.ID, error) {
	return imports.Add(ctx, i, durable.Partition(i.Customer))
}
