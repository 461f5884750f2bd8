package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/executor-go/executor/durable"
)

// A store that is told that it is behind a pooler has no session listen, which
// the pooler would give to others; any other store does.
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

// What is notified to a session that a pooler had listen for somebody else is not
// kept.
func TestNotificationsOfOthersAreNotKept(t *testing.T) {
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
