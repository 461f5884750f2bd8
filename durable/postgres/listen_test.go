package postgres_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/postgres"
	durablestore "github.com/executor-go/executor/durable/store"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// A store whose dsn names a pooler has no session that listens, since the pooler would hand that to others; any other
// store has one.
func TestListenBehindPooler(t *testing.T) {
	for what, test := range map[string]struct {
		option string
		listen bool
	}{
		"direct": {"", true},
		"exec":   {pooled, false},
		"simple": {"&default_query_exec_mode=simple_protocol", false},
	} {
		t.Run(what, func(t *testing.T) {
			store := open(t, dsn(t)+test.option)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if test.listen { // however slow the machine is
				ctx, cancel = context.WithCancel(t.Context())
			}
			defer cancel()
			listening := false
			if err := store.Listen(ctx, func() { listening = true; cancel() }); ctx.Err() == nil {
				t.Errorf("ended before its context: %v", err)
			}
			if listening != test.listen {
				t.Errorf("listening: %v", listening)
			}
		})
	}
}

// Notifications for another client of a pooler, which come to a session of this one, are not kept.
func TestListenOfOthersIsNotKept(t *testing.T) {
	store := open(t, dsn(t)+pooled)
	conn := must(store.DB().Conn(t.Context()))
	defer conn.Close()
	must(conn.ExecContext(t.Context(), "listen executor_durable"))
	tx := must(conn.BeginTx(t.Context(), nil))
	defer tx.Rollback()
	must(store.InsertTx(t.Context(), tx, []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}}))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	must(conn.ExecContext(t.Context(), "select 1")) // what the commit notified has come before the answer
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := conn.Raw(func(driver any) error {
		n, err := driver.(*stdlib.Conn).Conn().WaitForNotification(over)
		if err == nil {
			t.Errorf("kept: %+v", n)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Listen ends when its line is kept open though nothing comes through it any more: otherwise the node would get no hint
// again.
func TestListenFindsDeadLine(t *testing.T) {
	defer postgres.SetSilence(10*time.Millisecond, 100*time.Millisecond)()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	dsn := dsn(t)
	port := must(pgx.ParseConfig(dsn)).Port
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dead, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server := must(net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)))
			context.AfterFunc(ctx, func() { client.Close(); server.Close() })
			go io.Copy(server, client)
			go io.Copy(unless{dead, client}, server)
		}
	}()
	store := open(t, strings.Replace(dsn, fmt.Sprint(":", port, "/"), fmt.Sprint(":", l.Addr().(*net.TCPAddr).Port, "/"), 1))
	if err := store.Listen(ctx, stop); ctx.Err() != nil {
		t.Errorf("listened to a dead line: %v", err)
	}
}

// unless is a line that swallows all once a context is over.
type unless struct {
	dead context.Context
	io.Writer
}

func (u unless) Write(p []byte) (int, error) {
	if u.dead.Err() != nil {
		return len(p), nil
	}
	return u.Writer.Write(p)
}

// A session that has been silent gets what comes afterwards, and is not ended by a server that ends idle ones.
func TestListenOutlastsSilence(t *testing.T) {
	defer postgres.SetSilence(time.Millisecond, time.Minute)()
	dsn := dsn(t)
	store := open(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := 0
	err := store.Listen(ctx, func() {
		if calls++; calls > 3 {
			cancel()
			return
		}
		go func() {
			var asked bool
			for !asked && ctx.Err() == nil {
				store.DB().QueryRowContext(ctx, "select exists (select from pg_stat_activity where query like '%-- ping%' and pid <> pg_backend_pid())").Scan(&asked)
			}
			store.DB().ExecContext(ctx, "select "+postgres.Notify)
		}()
	})
	if calls < 4 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// What is added in one schema wakes no session that listens in another one of the same database.
func TestListenIgnoresOtherSchemas(t *testing.T) {
	defer postgres.SetSilence(time.Millisecond, time.Minute)()
	first, second := open(t, dsn(t)), open(t, dsn(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	add := func(store *postgres.Store) {
		must(store.Insert(t.Context(),
			[]durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once", Attempts: 1}}, durablestore.Placement{}))
	}
	// ping waits until the session has been silent and was asked once more.
	ping := func() {
		since := must(first.Now(t.Context()))
		for asked := false; !asked && ctx.Err() == nil; {
			first.DB().QueryRowContext(ctx, "select exists (select from pg_stat_activity where query like '%-- ping%' and pid <> pg_backend_pid() and state_change > $1)",
				since).Scan(&asked)
		}
	}
	var calls atomic.Int64
	var adding sync.WaitGroup
	err := first.Listen(ctx, func() {
		if calls.Add(1) == 2 {
			cancel()
			return
		}
		adding.Go(func() {
			add(second)
			ping()
			ping() // what came with the first has been heard
			if n := calls.Load(); n > 1 {
				t.Errorf("%d calls before anything was added", n)
			}
			add(first)
		})
	})
	adding.Wait()
	if calls.Load() < 2 {
		t.Errorf("what was added was not heard of: %v", err)
	}
}

// A session that listens goes on to get notifications when the tables are others, as after a backup was restored
// beneath it.
func TestListenOutlastsRestoredTables(t *testing.T) {
	dsn := dsn(t)
	store := open(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	calls := 0
	if err := store.Listen(ctx, func() {
		if calls++; calls > 1 {
			cancel()
			return
		}
		must(store.DB().ExecContext(ctx, "drop table executor_job, executor_begun, executor_node, executor_run, "+
			"executor_limit, executor_part, executor_pause, executor_progress, executor_act, executor_step, executor_tag, "+
			"executor_parent, executor_after, executor_schema"))
		must(open(t, dsn).Insert(ctx, []durable.NewJob{{ID: durable.NewID(), Kind: "k", Schedule: "once",
			Attempts: 1}}, durablestore.Placement{}))
	}); calls < 2 {
		t.Errorf("%d calls: %v", calls, err)
	}
}

// A server that takes a connection and then does not answer ends Listen, as one does that falls silent later: otherwise
// the node would get no hint again.
func TestListenEndsOnSilentServer(t *testing.T) {
	g := newGate(t, dsn(t))
	store := open(t, g.dsn)
	defer postgres.SetSilence(time.Minute, 100*time.Millisecond)()
	for what, pieces := range map[string]int64{"at all": 0, "once it is connected": 1} {
		g.pieces.Store(pieces)
		ctx := soon(t)
		if err := store.Listen(ctx, func() {}); ctx.Err() != nil {
			t.Errorf("it waits for a server that does not answer %s: %v", what, err)
		}
	}
}

// listens listens until the end of the test, and returns a function that waits until
// something was heard.
func listens(t *testing.T, store *postgres.Store) (hears func(what string)) {
	ctx, cancel := context.WithCancel(t.Context())
	heard, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- store.Listen(ctx, func() { heard <- struct{}{} }) }()
	t.Cleanup(func() { cancel(); <-ended })
	hears = func(what string) {
		t.Helper()
		select {
		case <-heard:
		case <-soon(t).Done():
			t.Fatalf("nothing was heard of %s", what)
		}
	}
	hears("the beginning")
	return hears
}

// Listen reports each job that becomes due, and each run that is to be canceled: be it added, asked for, released, or
// freed since its node is dead.
func TestListenReportsDueJobs(t *testing.T) {
	store := open(t, dsn(t))
	hears := listens(t, store)
	id := claimed(t, store, "a", 1, 0)[0].ID
	hears("a new job")
	must(store.Change(t.Context(), id, durable.Change{Op: durable.OpCancel}))
	hears("a run that is to be canceled")
	must(store.Release(t.Context(), "a", nil))
	hears("what was given back")
	must(store.Change(t.Context(), id, durable.Change{Op: durable.OpRevive}))
	hears("a job that was made due")
	r := durablestore.ClaimRequest{Node: "a", Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}}}
	if c := must(store.Claim(t.Context(), r)); len(c.Jobs) != 1 {
		t.Fatalf("claimed %+v", c)
	}
	must(store.Heartbeat(t.Context(), "a", -time.Second, durablestore.Watch{}))
	must(store.Join(t.Context(), "b", time.Hour))
	must(store.Heartbeat(t.Context(), "b", time.Hour, durablestore.Watch{}))
	hears("what a dead node held")
}

// Listen reports a job that is registered again and is to be run soon because of it: it has got another schedule, or
// was taken from the node that had claimed it as it was.
func TestListenReportsChangedSchedules(t *testing.T) {
	store := open(t, dsn(t))
	hears := listens(t, store)
	j := durable.NewJob{Key: "key", Kind: "k", Schedule: "rate 1h0m0s", Delay: time.Hour, Attempts: 1}
	register := func() {
		j.ID = durable.NewID()
		must(store.Insert(t.Context(), []durable.NewJob{j}, durablestore.Placement{}))
	}
	register() // nobody has to look at it yet
	j.Schedule, j.Delay = "rate 1m0s", 0
	register()
	hears("a schedule that begins anew")
	must(store.Join(t.Context(), "a", time.Hour))
	c := must(store.Claim(t.Context(), durablestore.ClaimRequest{
		Node: "a", Ahead: time.Hour, Lead: -time.Hour, Limit: 1, Kinds: []durablestore.KindLimit{{Kind: "k", Max: 1}},
	}))
	if len(c.Jobs) != 1 || c.Jobs[0].State != durable.Claimed {
		t.Fatalf("claimed %+v", c)
	}
	j.Payload = []byte("1")
	register()
	hears("what was taken from its node")
}
