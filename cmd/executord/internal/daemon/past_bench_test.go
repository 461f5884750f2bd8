package daemon

import (
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/crontab"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/durable/sqlite"
)

// BenchmarkLook looks at a thousand jobs of a file of SQLite, each with 30 runs that have ended: "first" after the daemon
// has begun, and "next" when it knows them.
func BenchmarkLook(b *testing.B) {
	const jobs = 1000
	var tab strings.Builder
	for i := range jobs {
		fmt.Fprintf(&tab, "# name: group%d/job%04d\n30 2 * * * true\n", i%7, i)
	}
	file, err := crontab.Parse("tab", []byte(tab.String()))
	if err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(b.TempDir(), "jobs.db")
	store, err := sqlite.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	begin := func() *Daemon {
		d, err := New(Config{
			File: file, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Observer: new(executor.Observer),
			Store: Store{Store: store, Name: name, Namespace: "n", Lease: time.Minute},
		})
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	d := begin()
	if err := d.apply(b.Context(), file, ""); err != nil {
		b.Fatal(err)
	}
	d.pool.Close()
	addRuns(b, name, view.MostPast)
	look := func(d *Daemon) (known int) {
		d.answers.at = time.Time{}
		all, err := d.Jobs(b.Context())
		if err != nil || len(all) != jobs {
			b.Fatalf("%d jobs: %v", len(all), err)
		}
		return len(all[jobs-1].Past)
	}
	all := func(d *Daemon) {
		for look(d) < view.MostPast { // the first has no room for the runs of all
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			d := begin()
			all(d)
			d.pool.Close()
		}
	})
	b.Run("next", func(b *testing.B) {
		d := begin()
		defer d.pool.Close()
		all(d)
		for b.Loop() {
			look(d)
		}
	})
}

// addRuns adds runs that have ended to each schedule of a store.
func addRuns(b *testing.B, name string, n int) {
	b.Helper()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // that has the temporary table
	now := time.Now().UnixMicro()
	for _, statement := range []string{
		`create temp table added as with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < @n)
			select randomblob(16) as id, key || '#' || n as key, @now - (@n - n) * 60000000 as ended from executor_job, numbers where key is not null`,
		`insert into executor_job (id, key, kind, payload, priority, schedule, missed, anchor, due, occurrence, next_due, state, pending, epoch, owner,
			attempt, attempts, timeout, runs, error, created, updated)
			select id, key, 'executord:n', cast('{}' as blob), 0, 'once', '', ended, ended, ended, 0, 3, 0, 1, '', 1, 1, 0, 1, '', ended, ended from added`,
		`insert into executor_run (job, seq, occurrence, attempt, epoch, node, started, finished, verdict, error)
			select id, 1, ended, 1, 1, 'web-1', ended - 1000000, ended, 0, '' from added`,
		`update executor_job set result = cast(json_object('number', @n) as blob) where kind <> 'executord:n'`,
	} {
		if _, err := db.Exec(statement, sql.Named("now", now), sql.Named("n", n)); err != nil {
			b.Fatal(statement, err)
		}
	}
}
