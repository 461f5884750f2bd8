package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable"
)

// A Sync is the payload of a job that copies what an account has to the search index.
type Sync struct{ Account int }

// askForSync is called at each change of an account. The job runs ten seconds after the first of several changes, and
// once more after a run in progress, which may not have seen this one.
func askForSync(ctx context.Context, syncs *durable.Kind[Sync, int], account int) (durable.ID, error) {
	return syncs.AddAfter(ctx, 10*time.Second, Sync{account}, durable.UniquePayload(), durable.ReuseKey())
}

// askWhenQuiet is called at each change, too. The job runs when there has been no change for ten seconds.
func askWhenQuiet(ctx context.Context, syncs *durable.Kind[Sync, int], account int) (durable.ID, error) {
	return syncs.AddAfter(ctx, 10*time.Second, Sync{account}, durable.UniquePayload(), durable.Replace())
}

// askForReport adds the report of an account, unless one waits, runs, or has succeeded within the last hour. If the
// last report failed, a new one is added. The result added says whether this call has added the job.
func askForReport(ctx context.Context, reports *durable.Kind[Sync, int], account int) (id durable.ID, added bool, err error) {
	var result durable.InsertResult
	id, err = reports.Add(ctx, Sync{account}, durable.UniquePayload(),
		durable.UniqueAmong(durable.Waiting, durable.Running, durable.Succeeded), durable.UniqueWithin(time.Hour),
		durable.WithResult(&result))
	return id, result.Changed, err
}
