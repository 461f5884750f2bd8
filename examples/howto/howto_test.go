package howto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cron"
)

// The reader is never further ahead than workers and queue have room for, plus the line that waits.
func TestImportLinesIsNoFasterThanSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read, saved, most atomic.Int64
		lines := func(yield func(string) bool) {
			for range 1000 {
				most.Store(max(most.Load(), read.Add(1)-saved.Load()))
				if !yield("line") {
					return
				}
			}
		}
		err := importLines(t.Context(), lines, func(context.Context, string) error {
			time.Sleep(time.Second)
			saved.Add(1)
			return nil
		})
		if err != nil || saved.Load() != 1000 || most.Load() > 4+16+4+1 {
			t.Errorf("%v; saved %d of 1000, %d ahead at most", err, saved.Load(), most.Load())
		}
	})
}

// An error ends the import before all lines are read.
func TestImportLinesEndsAtError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		read := 0
		lines := func(yield func(string) bool) {
			for read < 1_000_000 {
				if read++; !yield("line") {
					return
				}
			}
		}
		err := importLines(t.Context(), lines, func(context.Context, string) error { return full })
		if !errors.Is(err, full) || read == 1_000_000 {
			t.Errorf("%v after %d lines, want %v before the last", err, read, full)
		}
	})
}

// Eight pages are fetched at a time, and an error ends the sum.
func TestSizesFetchesEight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetch := func(ctx context.Context, url string) (Page, error) {
			if url == "" {
				return Page{}, errors.New("no URL")
			}
			time.Sleep(time.Second)
			return Page{url, len(url)}, ctx.Err()
		}
		start := time.Now()
		total, err := sizes(t.Context(), slices.Values(slices.Repeat([]string{"a.example"}, 16)), fetch)
		if d := time.Since(start); err != nil || total != 16*9 || d != 2*time.Second {
			t.Errorf("got %d, %v after %v; want %d after 2s", total, err, d, 16*9)
		}
		if _, err = sizes(t.Context(), slices.Values([]string{"a.example", "", "b.example"}), fetch); err == nil {
			t.Error("a page was not fetched, and there is no error")
		}
	})
}

// The first error is returned, and the functions that have not begun never run.
func TestRemoveAllEndsAtError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var removed atomic.Int64
		names := slices.Repeat([]string{"a", "b", "locked", "c", "d"}, 10)
		err := removeAll(t.Context(), 2, names, func(ctx context.Context, name string) error {
			if name == "locked" {
				return errors.New("locked")
			}
			removed.Add(1)
			return ctx.Err()
		})
		if err == nil || err.Error() != "locked" || removed.Load() > 8 {
			t.Errorf("%v after %d removals", err, removed.Load())
		}
	})
}

// The answers come in the order of the questions.
func TestDashboardOrder(t *testing.T) {
	pool := executor.Fixed(3)
	defer pool.Close()
	got, err := dashboard(t.Context(), pool, func(_ context.Context, service string) (string, error) {
		return strings.ToUpper(service), nil
	})
	if got != "USER: ORDERS, STOCK" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Two reports run at a time, though the pool has more workers.
func TestReportsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(8)
		defer pool.Close()
		reports, err := newReports(pool)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		g := executor.NewGroup(t.Context(), reports)
		for range 6 {
			g.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		if err := g.Wait(); err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v, want six reports after 3s", err, time.Since(start))
		}
	})
}

// A delivery is tried again after an error of the network or the server, up to five times, and not after one of ours.
func TestDeliverAttempts(t *testing.T) {
	for _, c := range []struct {
		answers  []int // 0 is an error of the network
		attempts int
		err      string
	}{
		{[]int{200}, 1, "<nil>"},
		{[]int{0, 503, 429, 200}, 4, "<nil>"},
		{[]int{500, 404}, 2, "status 404"},
		{[]int{500, 500, 500, 500, 502, 200}, 5, "status 502"},
	} {
		synctest.Test(t, func(t *testing.T) {
			pool := executor.Fixed(1)
			defer pool.Close()
			attempts := 0
			err := deliver(t.Context(), pool, func(context.Context) (int, error) {
				status := c.answers[attempts]
				if attempts++; status == 0 {
					return 0, errors.New("connection refused")
				}
				return status, nil
			})
			if fmt.Sprint(err) != c.err || attempts != c.attempts {
				t.Errorf("%v: %v after %d attempts, want %s after %d", c.answers, err, attempts, c.err, c.attempts)
			}
		})
	}
}

// An attempt that hangs is ended after two seconds, and is tried again.
func TestDeliverTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		attempts := 0
		err := deliver(t.Context(), pool, func(ctx context.Context) (int, error) {
			if attempts++; attempts == 1 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 200, nil
		})
		if err != nil || attempts != 2 {
			t.Errorf("%v after %d attempts, want two", err, attempts)
		}
	})
}

// With everySecond a third attempt begins after two seconds.
func TestEverySecondBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		start := time.Now()
		fail := func(context.Context) error { return errors.New("busy") }
		f := pool.Submit(t.Context(), fail, executor.Retry(3, everySecond))
		if err := f.Wait(t.Context()); err == nil || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v, want busy after 2s", err, time.Since(start))
		}
	})
}

// Five mails begin at once, and then one each tenth of a second; at half the rate one each fifth.
func TestMailRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(8)
		defer pool.Close()
		mail, err := newMail(pool)
		if err != nil {
			t.Fatal(err)
		}
		send := func(n int) time.Duration {
			start := time.Now()
			g := executor.NewGroup(t.Context(), mail)
			for range n {
				g.Go(func(context.Context) error { return nil })
			}
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
			return time.Since(start).Round(time.Millisecond)
		}
		if d := send(15); d != time.Second {
			t.Errorf("15 mails took %v, want 1s", d)
		}
		if err := slowDown(mail); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if d := send(10); d != time.Second {
			t.Errorf("10 mails at half the rate took %v, want 1s", d)
		}
	})
}

// Searches beyond the rate, for which the queue has no room, are refused.
func TestSearchRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(8)
		defer pool.Close()
		search, err := newSearch(pool)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for range 50 {
			err := search.Go(t.Context(), func(context.Context) error { return nil })
			if errors.Is(err, executor.ErrSaturated) {
				refused++
			}
		}
		if refused != 29 { // one begins, and twenty wait
			t.Errorf("%d of 50 were refused, want 29", refused)
		}
	})
}

// Mails to one address are sent in their order, and no more than ten in a second to all.
func TestMailByAddressKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(8)
		defer pool.Close()
		mails := newMailByAddress(pool)
		var sent []int
		start := time.Now()
		for i := range 21 {
			err := mails.Go(t.Context(), "ann@example.org", func(context.Context) error {
				sent = append(sent, i)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for len(sent) < 21 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if !slices.IsSorted(sent) || time.Since(start) < 2*time.Second {
			t.Errorf("sent in the order %v, in %v", sent, time.Since(start))
		}
	})
}

// The backup begins at half past two in Berlin, up to five minutes late, also after a change of the clock.
func TestNightlyIsInBerlin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of a bubble begins at midnight UTC on 1 January 2000
		pool := executor.Scheduled(1)
		defer pool.Close()
		berlin := cron.MustParse("CRON_TZ=Europe/Berlin @daily").Location()
		runs := 0
		series, err := nightly(t.Context(), pool, func(context.Context) error {
			runs++
			now := time.Now().In(berlin)
			begin, end := "02:30:00", "02:35:00"
			if now.Format(time.DateOnly) == "2000-03-26" { // clocks skip from two to three
				begin, end = "03:00:00", "03:05:00"
			}
			if s := now.Format(time.TimeOnly); s < begin || s > end {
				t.Errorf("a backup at %v", now)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * 24 * time.Hour)
		synctest.Wait()
		series.Cancel()
		if runs != 200 {
			t.Errorf("%d backups in 200 days", runs)
		}
	})
}

// A reminder is due in the zone of its user, and a mistake has a text for the user.
func TestRemindZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Scheduled(1)
		defer pool.Close()
		send := func(context.Context) error { return nil }
		series, err := remind(t.Context(), pool, "0 9 * * mon-fri", "Asia/Tokyo", send)
		if err != nil {
			t.Fatal(err)
		}
		if next := series.Next().UTC().Format(time.DateTime); next != "2000-01-03 00:00:00" {
			t.Errorf("the reminder is due at %s, want Monday at nine in Tokyo, which is midnight UTC", next)
		}
		series.Cancel()
		_, err = remind(t.Context(), pool, "0 25 * * *", "Asia/Tokyo", send)
		if want := `your reminder: cron: hour "25" in "0 25 * * *" (column 3): must be 0 to 23`; fmt.Sprint(err) != want {
			t.Errorf("the mistake is %v, want %s", err, want)
		}
		if _, err := remind(t.Context(), pool, "0 9 * * *", "Nowhere", send); err == nil {
			t.Error("a zone that does not exist was taken")
		}
	})
}

// upcoming returns as many times as there are asked for.
func TestUpcomingCount(t *testing.T) {
	saturday := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	var got []string
	for _, next := range upcoming(cron.MustParse("CRON_TZ=Europe/Berlin 30 2 * * *"), saturday, 3) {
		got = append(got, next.Format("Mon 15:04 MST"))
	}
	if want := []string{"Sat 02:30 CET", "Sun 03:00 CEST", "Mon 02:30 CEST"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
