package beside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// each runs a test of the other library's function and of ours, in a bubble each.
func each[F any](t *testing.T, theirs, ours F, test func(*testing.T, F)) {
	t.Helper()
	for name, f := range map[string]F{"theirs": theirs, "ours": ours} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, f) })
		})
	}
}

// Eight URLs are fetched at a time, and an error is returned after the others have seen the end of their context.
func TestFetchLimitAndError(t *testing.T) {
	each(t, FetchByErrgroup, Fetch, func(t *testing.T, fetch func(context.Context, []string, func(context.Context, string) error) error) {
		var running, most atomic.Int64
		start := time.Now()
		err := fetch(t.Context(), slices.Repeat([]string{"a"}, 16), func(context.Context, string) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return nil
		})
		if err != nil || most.Load() != 8 || time.Since(start) != 2*time.Second {
			t.Errorf("%v; %d at a time, after %v; want 8, and 2s", err, most.Load(), time.Since(start))
		}
		gone := errors.New("gone")
		var ended atomic.Int64
		err = fetch(t.Context(), []string{"a", "", "b"}, func(ctx context.Context, url string) error {
			if url == "" {
				return gone
			}
			<-ctx.Done()
			ended.Add(1)
			return ctx.Err()
		})
		if err != gone || ended.Load() > 2 || running.Load() != 0 {
			t.Errorf("got %v, want %v", err, gone)
		}
	})
}

// Four thumbnails are made at a time, and a panic is reported and ends no other.
func TestResizePanic(t *testing.T) {
	type function = func(context.Context, []string, func(string), func(any)) error
	theirs := func(_ context.Context, names []string, resize func(string), report func(any)) error {
		return ResizeByAnts(names, resize, report)
	}
	each[function](t, theirs, Resize, func(t *testing.T, resize function) {
		var made atomic.Int64
		var reported atomic.Value
		start := time.Now()
		err := resize(t.Context(), []string{"a", "b", "broken", "d", "e", "f", "g", "h"}, func(name string) {
			time.Sleep(time.Second)
			if name == "broken" {
				panic(name)
			}
			made.Add(1)
		}, func(v any) { reported.Store(v) })
		if err != nil || made.Load() != 7 || reported.Load() != "broken" || time.Since(start) != 2*time.Second {
			t.Errorf("%v; made %d, reported %v after %v; want 7, broken, 2s", err, made.Load(), reported.Load(), time.Since(start))
		}
	})
}

// Prices are asked for four at a time, and an error is the error of the sum.
func TestTotalLimitAndError(t *testing.T) {
	each(t, TotalByPond, Total, func(t *testing.T, total func(context.Context, []string, func(context.Context, string) (int, error)) (int, error)) {
		sold := errors.New("sold out")
		price := func(_ context.Context, item string) (int, error) {
			time.Sleep(time.Second)
			if item == "" {
				return 0, sold
			}
			return len(item), nil
		}
		start := time.Now()
		sum, err := total(t.Context(), []string{"a", "bb", "ccc", "dddd", "e", "ff", "ggg", "hhhh"}, price)
		if sum != 20 || err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("got %d, %v after %v; want 20 after 2s", sum, err, time.Since(start))
		}
		if _, err := total(t.Context(), []string{"a", "", "b"}, price); !errors.Is(err, sold) {
			t.Errorf("got %v, want %v", err, sold)
		}
	})
}

// A backup begins at half past two in Berlin, a panic does not end the schedule, and the end waits for the backup.
func TestNightlyPanicAndEnd(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	each(t, NightlyByCron, Nightly, func(t *testing.T, nightly func(context.Context, *time.Location, func()) error) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		var begun, done []string
		go func() {
			ended <- nightly(ctx, berlin, func() {
				begun = append(begun, time.Now().In(berlin).Format("2 15:04"))
				if len(begun) == 1 {
					panic("disk full")
				}
				time.Sleep(time.Hour)
				done = append(done, time.Now().In(berlin).Format("2 15:04"))
			})
		}()
		time.Sleep(26 * time.Hour) // to 03:00 in Berlin on the second day
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !slices.Equal(begun, []string{"1 02:30", "2 02:30"}) || !slices.Equal(done, []string{"2 03:30"}) {
			t.Errorf("backups began at %q and ended at %q", begun, done)
		}
	})
}

// Polls begin at each tenth second, what comes during a poll is left out, and an error is handed over.
func TestPollLeavesOut(t *testing.T) {
	each(t, PollByGocron, Poll, func(t *testing.T, poll func(context.Context, func(context.Context) error, func(error)) error) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		start := time.Now()
		var begun []string
		var failed []error
		go func() {
			ended <- poll(ctx, func(context.Context) error {
				begun = append(begun, fmt.Sprint(time.Since(start)))
				if len(begun) == 2 {
					time.Sleep(15 * time.Second)
					return errors.New("timeout")
				}
				return nil
			}, func(err error) { failed = append(failed, err) })
		}()
		time.Sleep(45 * time.Second)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if want := []string{"10s", "20s", "40s"}; !slices.Equal(begun, want) || len(failed) != 1 {
			t.Errorf("polls began at %q, want %q; errors %v, want one", begun, want, failed)
		}
	})
}

// A mail that is added twice is sent once, after five minutes; one that fails is tried again.
func TestWelcomeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		var mu sync.Mutex
		sent := make(map[string]int) // guarded by mu: several workers send
		start := time.Now()
		welcomes := Welcomes(jobs, func(_ context.Context, w Welcome) error {
			if d := time.Since(start); d < 5*time.Minute {
				t.Errorf("a mail after %v", d)
			}
			mu.Lock()
			defer mu.Unlock()
			if sent[w.To]++; sent[w.To] == 1 && w.To == "bob" {
				return errors.New("busy")
			}
			return nil
		})
		durabletest.Start(t, jobs)
		var ids []durable.ID
		for _, to := range []string{"ann", "bob", "ann"} {
			id, err := Add(t.Context(), welcomes, Welcome{to})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if _, err := welcomes.Await(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		if ids[0] != ids[2] || sent["ann"] != 1 || sent["bob"] != 2 {
			t.Errorf("sent %v with IDs %v; want ann once, bob twice", sent, ids)
		}
	})
}

// A service refreshes each minute, hears of what fails, and ends with its context.
func TestShopsServe(t *testing.T) {
	each(t, (*Shops).ServeByGocron, (*Shops).Serve, func(t *testing.T, serve func(*Shops, context.Context) error) {
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		var mu sync.Mutex
		var begun, failed []string
		s := &Shops{
			Names: []string{"a"},
			Fetch: func(context.Context, string) error {
				mu.Lock()
				begun = append(begun, fmt.Sprint(time.Since(start)))
				mu.Unlock()
				time.Sleep(2 * time.Second)
				if time.Since(start) < 2*time.Minute {
					return errors.New("refused")
				}
				return nil
			},
			Clean: func(context.Context) error { return nil },
			Failed: func(job string, err error) {
				mu.Lock()
				failed = append(failed, fmt.Sprint(job, ": ", err))
				mu.Unlock()
			},
		}
		ended := make(chan error, 1)
		go func() { ended <- serve(s, ctx) }()
		time.Sleep(3*time.Minute + 30*time.Second)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"1m0s", "2m0s", "3m0s"}; !slices.Equal(begun, want) || time.Since(start) != 3*time.Minute+30*time.Second {
			t.Errorf("refreshes at %q, want %q; ended after %v", begun, want, time.Since(start))
		}
		if want := []string{"refresh: refused"}; !slices.Equal(failed, want) {
			t.Errorf("failed: %q, want %q", failed, want)
		}
	})
}
