package notices_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/notices"
	"github.com/executor-go/executor/cmd/executord/internal/notify"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/sqlite"
)

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func begin(t *testing.T, store any, namespace string) *notices.Log {
	t.Helper()
	l, err := notices.Open(t.Context(), store, namespace, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func notice(i int, at time.Time) notify.Kept {
	return notify.Kept{Notice: notify.Notice{
		ID: fmt.Sprint("id", i), Namespace: "shop", Host: "web1", Channel: "ops", Way: "mail", Outcome: notify.Sent, At: at.UTC(),
		First: at.UTC(), Subject: fmt.Sprint("subject ", i), Held: notify.HeldByLimit, Tries: 2, Answer: "250 queued",
		Events: []notify.About{{Kind: notify.Failed, Job: "backup", Run: i, At: at.UTC(), Reason: "exit status 1"}},
	}}
}

// What was kept is there after a restart, as it was, for each namespace, the latest first.
func TestLogOutlivesDaemon(t *testing.T) {
	store := open(t)
	now := time.Now().Truncate(time.Millisecond)
	for i := range 3 {
		l := begin(t, store, "shop")
		l.Add(notice(i, now))
		l.Close(t.Context())
	}
	other := begin(t, store, "other")
	other.Add(notice(7, now))
	other.Close(t.Context())
	for namespace, want := range map[string]string{"shop": "id2 id1 id0", "other": "id7", "": "id7 id2 id1 id0", "none": ""} {
		got, err := notices.Latest(t.Context(), store, namespace, 10)
		var ids []string
		for _, n := range got {
			ids = append(ids, n.ID)
		}
		if err != nil || strings.Join(ids, " ") != want {
			t.Errorf("%q: %q, %v, want %q", namespace, ids, err, want)
		}
	}
	got, err := notices.Latest(t.Context(), store, "shop", 1)
	if err != nil || len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(notice(2, now).Notice) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Those of a namespace are bounded, by number and by age, and those of others stay.
func TestLogIsBounded(t *testing.T) {
	store := open(t)
	now := time.Now()
	other := begin(t, store, "other")
	other.Add(notice(100_000, now))
	other.Close(t.Context())
	l := begin(t, store, "shop")
	l.Add(notice(100_001, now.Add(-notices.Age-time.Hour)))
	l.Close(t.Context())
	for from := 0; from < notices.Most+100; from += 100 {
		l := begin(t, store, "shop")
		for i := range 100 {
			l.Add(notice(from+i, now))
		}
		l.Close(t.Context())
	}
	all, err := notices.Latest(t.Context(), store, "shop", 10_000)
	if err != nil || len(all) != notices.Most || all[notices.Most-1].ID != "id100" {
		t.Errorf("%d are kept, %v", len(all), err)
	}
	if all, err := notices.Latest(t.Context(), store, "other", 10); err != nil || len(all) != 1 {
		t.Errorf("of another namespace: %d, %v", len(all), err)
	}
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := 0
	if err := db.QueryRow("select count(*) from executord_notice").Scan(&rows); err != nil || rows != notices.Most+1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// lines has the lines of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- string(p); return len(p), nil }

// What the store does not take is tried again, and is kept once, however often it is written.
func TestLogTriesAgain(t *testing.T) {
	store := open(t)
	failed := make(lines, 10)
	l, err := notices.Open(t.Context(), store, "shop", slog.New(slog.NewTextHandler(failed, nil)))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("create trigger no before insert on executord_notice begin select raise(abort, 'full'); end")
	l.Add(notice(1, time.Now()))
	l.Add(notice(1, time.Now()))
	if line := <-failed; !strings.Contains(line, "notices not kept in the store") || !strings.Contains(line, "full") {
		t.Errorf("logged %s", line)
	}
	exec("drop trigger no")
	l.Add(notice(2, time.Now()))
	l.Close(t.Context()) // tries at once what has failed before
	if all, err := notices.Latest(t.Context(), store, "shop", 10); err != nil || len(all) != 2 || all[0].ID != "id2" || all[1].ID != "id1" {
		t.Errorf("%+v, %v", all, err)
	}
}

// waiting returns a message that waits until a time.
func waiting(i int, channel string, until time.Time) notify.Kept {
	k := notice(i, time.Time{})
	k.Outcome, k.Channel, k.At, k.Until, k.By = notify.Waiting, channel, time.Time{}, until, until
	k.Message = []notify.Event{{Kind: notify.Failed, Job: "backup", Run: i, Output: "disk full", Late: time.Second}, {Kind: notify.Lost, Job: "sync"}}
	k.Dropped = 3
	return k
}

// A message that waits is shown, and is claimed, whole, by one of those that have its channel, once its daemon has not
// kept it again in time. What became of it takes its place.
func TestLogIsClaimedOnce(t *testing.T) {
	store := open(t)
	now := time.Now()
	killed := begin(t, store, "shop")
	killed.Add(waiting(1, "ops", now.Add(time.Hour)))
	killed.Add(waiting(1, "ops", now.Add(-time.Minute))) // the later one holds
	killed.Add(waiting(2, "ops", now.Add(time.Minute)))
	killed.Add(waiting(3, "gone", now.Add(-time.Minute)))
	killed.Close(t.Context())
	other := begin(t, store, "other")
	other.Add(waiting(4, "ops", now.Add(-time.Minute)))
	other.Close(t.Context())

	claims := make(chan []notify.Kept, 4)
	for range cap(claims) {
		l := begin(t, store, "shop")
		defer l.Close(t.Context())
		go func() {
			claimed, err := l.Claim(t.Context(), []string{"chat", "ops"})
			if err != nil {
				t.Error(err)
			}
			claims <- claimed
		}()
	}
	var claimed []notify.Kept
	for range cap(claims) {
		claimed = append(claimed, <-claims...)
	}
	want := waiting(1, "ops", now.Add(-time.Minute))
	if len(claimed) != 1 || claimed[0].ID != want.ID || claimed[0].Dropped != 3 || fmt.Sprint(claimed[0].Message) != fmt.Sprint(want.Message) {
		t.Fatalf("claimed %+v", claimed)
	}
	heir := begin(t, store, "shop")
	heir.Add(waiting(1, "ops", now))
	heir.Add(notice(1, now))
	heir.Close(t.Context())
	all, err := notices.Latest(t.Context(), store, "shop", 10)
	var got []string
	for _, n := range all {
		got = append(got, n.ID+" "+n.Outcome)
	}
	if text := strings.Join(got, ", "); err != nil || text != "id1 sent, id3 waiting, id2 waiting" {
		t.Errorf("the store has %s, %v", text, err)
	}
}

// A message whose daemon could not keep it again while the store did not answer is not taken for one of a daemon that was
// killed: by that daemon itself, which has sent it and has not noted so yet, or by another one that looks before it.
func TestLogIsNotClaimedAfterOutage(t *testing.T) {
	store := open(t)
	now := time.Now()
	l, other := begin(t, store, "shop"), begin(t, store, "shop")
	defer other.Close(t.Context())
	claims := func(of *notices.Log) int {
		claimed, err := of.Claim(t.Context(), []string{"ops"})
		if err != nil {
			t.Error(err)
		}
		return len(claimed)
	}
	if n := claims(l) + claims(other); n != 0 {
		t.Fatalf("%d are claimed of none", n)
	}
	planned := begin(t, store, "shop") // what l has written before the outage
	planned.Add(waiting(1, "ops", now.Add(-time.Minute)))
	planned.Close(t.Context())
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin() // nobody else can write
	if err == nil {
		_, err = tx.Exec("delete from executord_notice where id = 'none'")
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Add(notice(1, now)) // it is sent
	for range 2 {
		if n := claims(l); n != 0 {
			t.Errorf("its daemon claims %d", n)
		}
	}
	if n := claims(other); n != 0 {
		t.Errorf("another daemon claims %d at its first look", n)
	}
	tx.Rollback()
	l.Close(t.Context())
	if n := claims(other); n != 0 {
		t.Errorf("another daemon claims %d when it was noted", n)
	}
}

// A message that is not kept again between two looks of a daemon is claimed by the second.
func TestLogIsClaimedAtSecondLook(t *testing.T) {
	store := open(t)
	l := begin(t, store, "shop")
	defer l.Close(t.Context())
	claims := func() int {
		claimed, err := l.Claim(t.Context(), []string{"ops"})
		if err != nil {
			t.Error(err)
		}
		return len(claimed)
	}
	claims()
	killed := begin(t, store, "shop")
	killed.Add(waiting(1, "ops", time.Now().Add(-time.Minute)))
	killed.Close(t.Context())
	if first, second, third := claims(), claims(), claims(); first != 0 || second != 1 || third != 0 {
		t.Errorf("claimed %d, %d and %d", first, second, third)
	}
}

// The end waits for a store no longer than its context.
func TestLogCloseHasBound(t *testing.T) {
	store := open(t)
	l := begin(t, store, "shop")
	db, err := sql.Open("sqlite", store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin() // nobody else can write
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	l.Add(notice(1, time.Now()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Close(ctx)
	l.Add(notice(2, time.Now())) // is not kept, and waits for nothing
}

// A store without a database keeps nothing, and one that no daemon has used has nothing.
func TestLogWithoutTable(t *testing.T) {
	if l, err := notices.Open(t.Context(), memory.New(), "shop", slog.New(slog.DiscardHandler)); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	for _, store := range []any{memory.New(), open(t)} {
		if all, err := notices.Latest(t.Context(), store, "", 10); len(all) != 0 || err != nil {
			t.Errorf("%T: %v, %v", store, all, err)
		}
	}
}
