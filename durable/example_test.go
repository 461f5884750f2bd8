package durable_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"sync"
	"time"

	executor "github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A program with a store says which function runs the jobs of a kind, adds some,
// and is a node that runs them until its context ends. With sqlite.Open or
// postgres.Open in place of memory.New they survive it.
func Example() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	type letter struct{ To, Text string }
	send := durable.Handle(jobs, "letter", func(ctx context.Context, l letter) (string, error) {
		return "sent to " + l.To, nil
	})

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()

	id, err := send.Add(ctx, letter{To: "you", Text: "hello"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(send.Await(ctx, id))

	stop()
	fmt.Println(<-ended)
	// Output:
	// sent to you <nil>
	// <nil>
}

// A program that registers a schedule, at each of its starts, gets the one that
// has the key. Its handler may end it.
func ExampleKind_AtFixedRate() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	runs := 0
	tick := durable.Handle(jobs, "tick", func(ctx context.Context, _ struct{}) (any, error) {
		if runs++; runs == 3 {
			return nil, executor.ErrStop
		}
		return nil, nil
	})
	ctx, stop := context.WithCancel(context.Background())
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()

	first, err := tick.AtFixedRate(ctx, "ticks", 0, 10*time.Millisecond, struct{}{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := tick.AtFixedRate(ctx, "ticks", 0, 10*time.Millisecond, struct{}{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same job:", first == second)

	job, err := jobs.Await(ctx, first)
	fmt.Println(job.State, "after", job.Runs, "runs;", err)
	// Output:
	// the same job: true
	// succeeded after 3 runs; <nil>
}

// A program registers all its schedules at its start, by one call of the store.
func ExampleJobs_Register() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	report := durable.KindOf[string, any](jobs, "report") // others run it
	tidy := durable.KindOf[int, any](jobs, "tidy")
	for _, days := range []int{7, 7, 30} { // three starts, the last of a new version
		done, err := jobs.Register(context.Background(),
			report.PrepareOn("weekly", cron.MustParse("CRON_TZ=UTC 0 6 * * 1"), "sales"),
			tidy.PrepareAtFixedRate("tidy", 0, time.Hour, days),
		)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(done[0].Job.Key, done[0].Effect, done[1].Job.Key, done[1].Effect)
	}
	// Output:
	// weekly added tidy added
	// weekly unchanged tidy unchanged
	// weekly unchanged tidy changed
}

// A crontab's times are kept with their zone, so that all nodes mean the same.
func ExampleKind_On() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	backup := durable.KindOf[string, any](jobs, "backup") // others run it
	id, err := backup.On(ctx, "nightly", cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), "/srv", durable.OnMissed(durable.Skip(time.Hour)))
	if err != nil {
		log.Fatal(err)
	}
	job, err := jobs.Get(ctx, id)
	fmt.Println(job.Key, job.State, job.Schedule, job.Missed, err)
	// Output:
	// nightly waiting cron CRON_TZ=Europe/Berlin 30 2 * * * skip 1h0m0s <nil>
}

// What is asked for again while it waits or runs is done once.
func ExampleReuseKey() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	update := durable.Handle(jobs, "update", func(ctx context.Context, user int) (string, error) {
		return fmt.Sprint("user ", user, " is up to date"), nil
	})
	ctx, stop := context.WithCancel(context.Background())
	ask := func() durable.ID {
		id, err := update.AddAfter(ctx, 50*time.Millisecond, 17, durable.Key("update/17"), durable.ReuseKey())
		if err != nil {
			log.Fatal(err)
		}
		return id
	}
	first, again := ask(), ask()

	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()
	fmt.Println(update.Await(ctx, first))
	later := ask()

	fmt.Println("asked while it waits, the same job:", again == first)
	fmt.Println("asked when it is done, the same job:", later == first)
	// Output:
	// user 17 is up to date <nil>
	// asked while it waits, the same job: true
	// asked when it is done, the same job: false
}

// A handler puts off what is not ready, which is no failure.
func ExampleSnooze() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	left := 3
	report := durable.Handle(jobs, "report", func(ctx context.Context, _ struct{}) (string, error) {
		if left--; left > 0 {
			return "", fmt.Errorf("files are missing, %d: %w", left, durable.Snooze(time.Millisecond))
		}
		return "all is there", nil
	})
	ctx, stop := context.WithCancel(context.Background())
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()

	id, err := report.Add(ctx, struct{}{}, durable.Attempts(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Await(ctx, id))
	runs, err := jobs.History(ctx, id, 0, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs { // the latest first
		fmt.Printf("%d %v %q\n", r.Seq, r.Verdict, r.Error)
	}
	// Output:
	// all is there <nil>
	// 3 succeeded ""
	// 2 snoozed "files are missing, 1: durable: snoozed for 1ms"
	// 1 snoozed "files are missing, 2: durable: snoozed for 1ms"
}

// An error that no other attempt would change makes the job dead at once. It can be
// found and revived.
func ExampleAttempts_permanent() {
	jobs, err := durable.New(durable.Config{Store: memory.New(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	closed := true
	pay := durable.Handle(jobs, "payment", func(ctx context.Context, cents int) (string, error) {
		if closed {
			return "", executor.Permanent(errors.New("the account is closed"))
		}
		return "paid", nil
	})
	ctx, stop := context.WithCancel(context.Background())
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()

	id, err := pay.Add(ctx, 999)
	if err != nil {
		log.Fatal(err)
	}
	_, err = pay.Await(ctx, id)
	fmt.Println(errors.Is(err, durable.ErrDead))

	closed = false
	dead, err := jobs.List(ctx, durable.Filter{Kind: "payment", States: []durable.State{durable.Dead}})
	if err != nil {
		log.Fatal(err)
	}
	for _, job := range dead {
		answer, err := jobs.Revive(ctx, job.ID)
		fmt.Println(job.Error, "-", answer, err)
	}
	fmt.Println(pay.Await(ctx, id))
	// Output:
	// true
	// the account is closed - applied <nil>
	// paid <nil>
}

// A handler knows which job and which occurrence it runs. Together they make a key
// by which another system can tell that it is asked a second time.
func ExampleCurrent() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	var keys []string
	charge := durable.Handle(jobs, "charge", func(ctx context.Context, cents int) (string, error) {
		job, _ := durable.Current(ctx)
		keys = append(keys, fmt.Sprint(job.ID, "/", job.Occurrence.UnixMicro()))
		if job.Attempt == 1 {
			return "", errors.New("no answer")
		}
		return fmt.Sprint("attempt ", job.Attempt), nil
	}, durable.WithBackoff(executor.Backoff(time.Millisecond, time.Second)))
	ctx, stop := context.WithCancel(context.Background())
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()

	id, err := charge.Add(ctx, 999)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(charge.Await(ctx, id))
	fmt.Println("the same key:", keys[0] == keys[1])
	// Output:
	// attempt 2 <nil>
	// the same key: true
}

// Hooks add to each job which request it is for, and log how it ended.
func ExampleHooks() {
	type requestKey struct{}
	jobs, err := durable.New(durable.Config{Store: memory.New(), Hooks: durable.Hooks{
		Adding: func(ctx context.Context, jobs []durable.NewJob, add func(context.Context) error) error {
			if id, ok := ctx.Value(requestKey{}).(string); ok {
				for i := range jobs {
					jobs[i].Meta = map[string]string{"request": id}
				}
			}
			return add(ctx)
		},
		Around: func(ctx context.Context, job durable.Job, run func(context.Context) error) error {
			err := run(ctx)
			fmt.Println(job.Kind, "for request", job.Meta["request"], "ended:", err)
			return err
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	mail := durable.Handle(jobs, "mail", func(context.Context, string) (int, error) {
		return 0, executor.Permanent(errors.New("no such mailbox"))
	})

	ctx, stop := context.WithCancel(context.WithValue(context.Background(), requestKey{}, "17"))
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	id, err := mail.Add(ctx, "you")
	if err != nil {
		log.Fatal(err)
	}
	mail.Await(ctx, id)
	stop()
	<-ended
	// Output:
	// mail for request 17 ended: no such mailbox
}

// A handler reports its progress, and keeps a log with its run.
func ExampleOutput() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	reindex := durable.Handle(jobs, "reindex", func(ctx context.Context, documents []string) (int, error) {
		for i, name := range documents {
			durable.Progress(ctx, int64(i), int64(len(documents)), name)
			fmt.Fprintln(durable.Output(ctx), "read", name)
		}
		return len(documents), nil
	})

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	id, err := reindex.Add(ctx, []string{"a.txt", "b.txt"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := reindex.Await(ctx, id); err != nil {
		log.Fatal(err)
	}
	output, err := jobs.Output(ctx, id, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%d bytes were written, %d left out\n", output.Head, output.Written, output.Omitted())
	stop()
	<-ended
	// Output:
	// read a.txt
	// read b.txt
	// 22 bytes were written, 0 left out
}

// What there is of each kind, for a dashboard.
func ExampleJobs_Counts() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	letter := durable.KindOf[string, any](jobs, "letter")
	if _, err := letter.AddAll(ctx, time.Hour, []string{"a", "b", "c"}); err != nil {
		log.Fatal(err)
	}
	id, err := letter.AddAfter(ctx, time.Hour, "d")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := jobs.Cancel(ctx, id); err != nil {
		log.Fatal(err)
	}
	counts, err := jobs.Counts(ctx, durable.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range counts {
		fmt.Println(c.Kind, c.State, c.Jobs)
	}
	// Output:
	// letter waiting 3
	// letter canceled 1
}

// Jobs that are found by what they are about.
func ExampleWithTags() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	letter := durable.KindOf[string, any](jobs, "letter")
	for _, customer := range []string{"17", "18", "17"} {
		if _, err := letter.AddAfter(ctx, time.Hour, "hello", durable.WithTags("customer="+customer)); err != nil {
			log.Fatal(err)
		}
	}
	f := durable.Filter{Tags: []string{"customer=17"}}
	found, err := jobs.List(ctx, f)
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range found {
		customer, _ := j.Tag("customer")
		fmt.Println(j.Kind, "for customer", customer)
	}
	canceled, err := jobs.ChangeAll(ctx, durable.Change{Op: durable.OpCancel}, f)
	fmt.Println(canceled.Applied, "canceled", err)
	// Output:
	// letter for customer 17
	// letter for customer 17
	// 2 canceled <nil>
}
