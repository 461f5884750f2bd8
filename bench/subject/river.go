package subject

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/executor-go/executor/bench/drive"
	pg "github.com/executor-go/executor/bench/postgres"
)

var riverQueue = Subject{
	ID: "river", Title: "River", Module: "github.com/riverqueue/river", Postgres: true,
	How: "one `Client` by `riverpgxv5` with eleven connections, as many as ours, " +
		"with notifications (the default) and `MaxWorkers: n`. " +
		"`FetchCooldown` is 1 ms, its minimum; all other settings are the defaults " +
		"(a shorter `FetchPollInterval` improved nothing). " +
		"Jobs are added by `InsertManyFast` and by `Insert` with `ScheduledAt`. " +
		"Its workers return no result, and the history of a job is in the row of the job. " +
		"A job that is due in less than five seconds waits for its scheduler, " +
		"which runs every five seconds, as documented.",
	Choose: "when programs in Go, JavaScript, Ruby and Rust share the jobs, " +
		"or for a system that many programs use in production.",
	Funcs: drive.Durable(func(workers int, counted bool, task func(time.Time)) drive.Jobs {
		ctx := context.Background()
		dsn, drop, err := pg.Open(ctx)
		must(err)
		through, statements, stopCounting := watch(dsn, counted)
		config, err := pgxpool.ParseConfig(through)
		must(err)
		config.MaxConns = 11
		pool, err := pgxpool.NewWithConfig(ctx, config)
		must(err)
		jobs := openRiver(pool, workers, task)
		jobs.Statements = statements
		jobs.Close = func() {
			pool.Close()
			stopCounting()
			drop()
		}
		return jobs
	}),
}

// riverMail is a Mail as River's job arguments.
type riverMail struct{ drive.Mail }

func (riverMail) Kind() string { return "mail" }

func openRiver(pool *pgxpool.Pool, workers int, task func(due time.Time)) drive.Jobs {
	ctx := context.Background()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(err)
	config := &river.Config{
		Logger:        slog.New(slog.DiscardHandler),
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:       river.NewWorkers(),
		FetchCooldown: river.FetchCooldownMin,
	}
	river.AddWorker(config.Workers, river.WorkFunc(func(_ context.Context, job *river.Job[riverMail]) error {
		task(job.ScheduledAt)
		return nil
	}))
	client, err := river.NewClient(driver, config)
	must(err)
	return drive.Jobs{
		Add: func(n int, delay time.Duration) {
			var opts *river.InsertOpts
			if delay > 0 {
				opts = &river.InsertOpts{ScheduledAt: time.Now().Add(delay)}
			}
			mails := make([]river.InsertManyParams, n)
			for i := range mails {
				mails[i] = river.InsertManyParams{Args: riverMail{drive.AMail}, InsertOpts: opts}
			}
			_, err := client.InsertManyFast(ctx, mails)
			must(err)
		},
		At: func(due time.Time) {
			_, err := client.Insert(ctx, riverMail{drive.AMail}, &river.InsertOpts{ScheduledAt: due})
			must(err)
		},
		Start: func() (stop func()) {
			must(client.Start(ctx))
			return func() { must(client.Stop(ctx)) }
		},
		Waiting: riverCount(pool, rivertype.JobStateScheduled),
		Done:    riverCount(pool, rivertype.JobStateCompleted),
	}
}

func riverCount(pool *pgxpool.Pool, state rivertype.JobState) func(limit int) int {
	return func(int) int {
		ctx := context.Background()
		rows, err := pool.Query(ctx, "select count(*) from river_job where state = $1", string(state))
		must(err)
		n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		must(err)
		return n
	}
}
