package subject

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/bench/drive"
	pg "github.com/executor-go/executor/bench/postgres"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	"github.com/executor-go/executor/durable/sqlite"
)

// OursDurable is the id of the reference for work with a database.
const OursDurable = "executor-postgres"

var durablePostgres = Subject{
	ID: OursDurable, Title: "executor on PostgreSQL", Own: true, Postgres: true,
	How: "`durable.Handle` on `Scheduled(n)` with default settings. " +
		"Jobs are added by `AddAll` and by `AddAt`. " +
		"The result and a line of history are stored for each job beside its payload.",
	Funcs: merge(drive.Durable(func(workers int, counted bool, task func(time.Time)) drive.Jobs {
		dsn, drop, err := pg.Open(context.Background())
		must(err)
		through, statements, stopCounting := watch(dsn, counted)
		store, err := postgres.Open(through)
		must(err)
		jobs := openDurable(store, workers, task)
		jobs.Statements = statements
		jobs.Close = func() {
			must(store.Close())
			stopCounting()
			drop()
		}
		return jobs
	}), drive.DurablePeriodic(func(workers int, tasks []*drive.Periodic) func() {
		dsn, drop, err := pg.Open(context.Background())
		must(err)
		store, err := postgres.Open(dsn)
		must(err)
		stop := runPeriodic(store, workers, tasks)
		return func() {
			stop()
			must(store.Close())
			drop()
		}
	}), drive.DurableCalls(func() drive.Calls {
		dsn, drop, err := pg.Open(context.Background())
		must(err)
		store, err := postgres.Open(dsn)
		must(err)
		calls := openCalls(store)
		calls.Fill = func(waiting, over int) { fillPostgres.fill(calls, store.DB(), waiting, over) }
		calls.Close = func() {
			must(store.Close())
			drop()
		}
		return calls
	})),
}

var durableSQLite = Subject{
	ID: "executor-sqlite", Title: "executor on SQLite", Own: true,
	How: "the same in a file, with `synchronous=FULL`.",
	Funcs: merge(drive.Durable(func(workers int, _ bool, task func(time.Time)) drive.Jobs {
		store, remove := openSQLite()
		jobs := openDurable(store, workers, task)
		jobs.Close = remove
		return jobs
	}), drive.DurablePeriodic(func(workers int, tasks []*drive.Periodic) func() {
		store, remove := openSQLite()
		stop := runPeriodic(store, workers, tasks)
		return func() {
			stop()
			remove()
		}
	}), drive.DurableCalls(func() drive.Calls {
		store, remove := openSQLite()
		db, err := sql.Open("sqlite", store.DSN())
		must(err)
		calls := openCalls(store)
		calls.Fill = func(waiting, over int) { fillSQLite.fill(calls, db, waiting, over) }
		calls.Close = func() {
			must(db.Close())
			remove()
		}
		return calls
	})),
}

func openSQLite() (store *sqlite.Store, remove func()) {
	dir, err := os.MkdirTemp("", "bench-sqlite")
	must(err)
	s, err := sqlite.Open(filepath.Join(dir, "jobs.db"))
	must(err)
	return s, func() {
		must(s.Close())
		os.RemoveAll(dir)
	}
}

// watch returns a dsn of the same database. If counted is true, it leads through a proxy
// that counts statements.
func watch(dsn string, counted bool) (through string, statements func() int64, stopCounting func()) {
	if !counted {
		return dsn, nil, func() {}
	}
	through, proxy, err := pg.Count(dsn)
	must(err)
	return through, proxy.Statements, proxy.Close
}

// newJobs returns jobs in a store, and a function that starts to run them, on workers of their own.
func newJobs(store durable.Store, workers int) (jobs *durable.Jobs, start func() (stop func())) {
	pool := executor.Scheduled(workers)
	jobs, err := durable.New(durable.Config{Store: store, Executor: pool, Logger: slog.New(slog.DiscardHandler)})
	must(err)
	return jobs, func() (stop func()) {
		running, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(running) }()
		return func() {
			cancel()
			must(<-ended)
			pool.Close()
		}
	}
}

// runPeriodic runs the tasks as periodic jobs until stop is called.
func runPeriodic(store durable.Store, workers int, tasks []*drive.Periodic) (stop func()) {
	jobs, start := newJobs(store, workers)
	kind := durable.Handle(jobs, "tick", func(ctx context.Context, i int) (int, error) {
		job, _ := durable.Current(ctx)
		tasks[i].RunAt(job.Occurrence)
		return i, nil
	})
	schedules := make([]durable.PreparedSchedule, len(tasks))
	for i, b := range tasks {
		schedules[i] = kind.PrepareAtFixedRate(fmt.Sprint("job", i), time.Until(b.First), b.Period, i)
	}
	_, err := jobs.Register(context.Background(), schedules...)
	must(err)
	return start()
}

func openDurable(store durable.Store, workers int, task func(due time.Time)) drive.Jobs {
	ctx := context.Background()
	jobs, start := newJobs(store, workers)
	kind := durable.Handle(jobs, "mail", func(ctx context.Context, _ drive.Mail) (int, error) {
		job, _ := durable.Current(ctx)
		task(job.Due)
		return 1, nil
	})
	count := func(limit int, states ...durable.State) int {
		list, err := jobs.List(ctx, durable.Filter{States: states, Limit: limit})
		must(err)
		return len(list)
	}
	return drive.Jobs{
		Add: func(n int, delay time.Duration) {
			mails := make([]drive.Mail, n)
			for i := range mails {
				mails[i] = drive.AMail
			}
			_, err := kind.AddAll(ctx, delay, mails)
			must(err)
		},
		At: func(due time.Time) {
			_, err := kind.AddAt(ctx, due, drive.AMail)
			must(err)
		},
		Start:   start,
		Waiting: func(limit int) int { return count(limit, durable.Waiting) },
		Done:    func(limit int) int { return count(limit, durable.Succeeded) },
	}
}
