package beside

import (
	"context"
	"encoding/json"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Welcome is a mail to send, once for each address.
type Welcome struct {
	To string `json:"to" river:"unique"`
}

// AddByAsynq adds a mail for five minutes later, with up to five attempts.
func AddByAsynq(ctx context.Context, client *asynq.Client, w Welcome) error {
	payload, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = client.EnqueueContext(ctx, asynq.NewTask("welcome", payload),
		asynq.ProcessIn(5*time.Minute),
		asynq.MaxRetry(4),
		asynq.TaskID("welcome/"+w.To), // a second call returns asynq.ErrTaskIDConflict
	)
	return err
}

// RunByAsynq sends mails, ten at a time, until the process is told to end.
func RunByAsynq(redis asynq.RedisConnOpt, send func(context.Context, Welcome) error) error {
	mux := asynq.NewServeMux()
	mux.HandleFunc("welcome", func(ctx context.Context, t *asynq.Task) error {
		var w Welcome
		if err := json.Unmarshal(t.Payload(), &w); err != nil {
			return err
		}
		return send(ctx, w)
	})
	return asynq.NewServer(redis, asynq.Config{Concurrency: 10}).Run(mux)
}

// Kind is the name of the jobs for River.
func (Welcome) Kind() string { return "welcome" }

// AddByRiver adds a mail for five minutes later, with up to five attempts.
func AddByRiver(ctx context.Context, client *river.Client[pgx.Tx], w Welcome) error {
	_, err := client.Insert(ctx, w, &river.InsertOpts{
		ScheduledAt: time.Now().Add(5 * time.Minute),
		MaxAttempts: 5,
		UniqueOpts:  river.UniqueOpts{ByArgs: true}, // a second one is skipped
	})
	return err
}

// RunByRiver sends mails, ten at a time, until ctx ends. newClient makes a client on the program's connections.
func RunByRiver(
	ctx context.Context, newClient func(*river.Config) (*river.Client[pgx.Tx], error),
	send func(context.Context, Welcome) error,
) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[Welcome]) error {
		return send(ctx, job.Args)
	}))
	client, err := newClient(&river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}},
		Workers: workers,
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	return client.Stop(context.WithoutCancel(ctx))
}

// Welcomes returns the kind of the mails. A program that only adds them takes durable.KindOf.
func Welcomes(jobs *durable.Jobs, send func(context.Context, Welcome) error) *durable.Kind[Welcome, struct{}] {
	return durable.Handle(jobs, "welcome", func(ctx context.Context, w Welcome) (struct{}, error) {
		return struct{}{}, send(ctx, w)
	})
}

// Add adds a mail for five minutes later, with up to five attempts.
func Add(ctx context.Context, welcomes *durable.Kind[Welcome, struct{}], w Welcome) (durable.ID, error) {
	return welcomes.AddAfter(ctx, 5*time.Minute, w,
		durable.Attempts(5),
		durable.Key("welcome/"+w.To), // a second call returns the ID of the first job
	)
}

// Run sends mails, ten at a time, until ctx ends, and waits for those in progress.
func Run(ctx context.Context, jobs *durable.Jobs, send func(context.Context, Welcome) error) error {
	Welcomes(jobs, send)
	return jobs.Run(ctx)
}
