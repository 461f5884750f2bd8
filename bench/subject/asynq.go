package subject

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/bench/redis"
)

var asynqQueue = Subject{
	ID: "asynq", Title: "asynq", Module: "github.com/hibiken/asynq", Missing: redis.Look,
	How: "one `Client` and one `Server` with `Concurrency: n`, all other settings the defaults, on a Redis that syncs " +
		"each write (`appendfsync always`), as the databases do. " +
		"A call adds one job, so ten goroutines add them by `Enqueue`. " +
		"The jobs have a `Retention`, so that they can be counted; there is no result and no history. " +
		"What is due later is looked for every five seconds, the default of `DelayedTaskCheckInterval`.",
	Choose: "when the program has Redis but no SQL database, and the durability of Redis is enough.",
	Funcs: drive.Durable(func(workers int, _ bool, task func(time.Time)) drive.Jobs {
		server, err := redis.Start()
		must(err)
		jobs, closeClients := openAsynq(server.Addr, workers, task)
		jobs.Close = func() {
			closeClients()
			server.Close()
		}
		return jobs
	}),
}

// asynqMail is a Mail with the time at which it is due, which asynq does not hand to a task.
type asynqMail struct {
	drive.Mail
	Due time.Time
}

func openAsynq(addr string, workers int, task func(due time.Time)) (jobs drive.Jobs, closeClients func()) {
	redis := asynq.RedisClientOpt{Addr: addr}
	client, inspector := asynq.NewClient(redis), asynq.NewInspector(redis)
	add := func(due time.Time) {
		payload, err := json.Marshal(asynqMail{drive.AMail, due})
		must(err)
		_, err = client.Enqueue(asynq.NewTask("mail", payload), asynq.ProcessAt(due), asynq.Retention(time.Hour))
		must(err)
	}
	count := func(of func(*asynq.QueueInfo) int) func(int) int {
		return func(int) int {
			info, err := inspector.GetQueueInfo("default")
			if errors.Is(err, asynq.ErrQueueNotFound) {
				return 0
			}
			must(err)
			return of(info)
		}
	}
	jobs = drive.Jobs{
		Add: func(n int, delay time.Duration) {
			due := time.Now().Add(delay)
			var wg sync.WaitGroup
			const adders = 10
			for i := range adders {
				wg.Go(func() {
					for range (n + i) / adders {
						add(due)
					}
				})
			}
			wg.Wait()
		},
		At: add,
		Start: func() (stop func()) {
			server := asynq.NewServer(redis, asynq.Config{Concurrency: workers, LogLevel: asynq.FatalLevel})
			must(server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
				var mail asynqMail
				if err := json.Unmarshal(t.Payload(), &mail); err != nil {
					return err
				}
				task(mail.Due)
				return nil
			})))
			return server.Shutdown
		},
		Waiting: count(func(q *asynq.QueueInfo) int { return q.Scheduled + q.Pending }),
		Done:    count(func(q *asynq.QueueInfo) int { return q.Completed }),
	}
	return jobs, func() {
		must(client.Close())
		must(inspector.Close())
	}
}
