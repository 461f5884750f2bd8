package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// newTest returns a service with one worker, room for two jobs, and jobs of a second.
func newTest(t *testing.T, work func(context.Context, string) error) *service {
	t.Helper()
	s, err := newService(executor.Config{
		Workers: 1, Queue: executor.Bounded(2), Logger: slog.New(slog.DiscardHandler),
	}, work)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post adds a job, and returns the status of the answer.
func post(s *service, name string) int {
	form := strings.NewReader(url.Values{"name": {name}}.Encode())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // as a server does when the request is over
	r := httptest.NewRequestWithContext(ctx, "POST", "/jobs", form)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w.Code
}

// Jobs outlive their requests, and those that have no room are refused.
func TestServiceAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := make(chan string, 10)
		s := newTest(t, func(ctx context.Context, name string) error {
			time.Sleep(time.Second)
			ran <- name
			return ctx.Err()
		})
		for _, c := range []struct {
			name string
			code int
		}{{"a", 202}, {"b", 202}, {"c", 202}, {"d", 429}} {
			if code := post(s, c.name); code != c.code {
				t.Errorf("%s: status %d, want %d", c.name, code, c.code)
			}
		}
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest("GET", "/stats", nil))
		var stats struct {
			Stage                    string
			Active, Queued, Rejected int
		}
		if err := json.Unmarshal(w.Body.Bytes(), &stats); err != nil {
			t.Fatal(err)
		}
		if stats.Stage != "running" || stats.Active != 1 || stats.Queued != 2 || stats.Rejected != 1 {
			t.Errorf("stats %s", w.Body)
		}
		if names := s.stop(t.Context()); names != nil {
			t.Errorf("%q never ran; all had time to", names)
		}
		close(ran)
		var order []string
		for name := range ran {
			order = append(order, name)
		}
		if !slices.Equal(order, []string{"a", "b", "c"}) {
			t.Errorf("%q ran, want a, b, c", order)
		}
		if s.pool.Stats().Succeeded != 3 {
			t.Errorf("a job did not succeed: %v", s.pool)
		}
		if code := post(s, "e"); code != 503 {
			t.Errorf("status %d after the end, want 503", code)
		}
	})
}

// At the deadline the context of the job that runs ends, and those that wait are named.
func TestServiceStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 3)
		s := newTest(t, func(ctx context.Context, _ string) error {
			select {
			case <-time.After(time.Second):
				causes <- nil
			case <-ctx.Done():
				causes <- context.Cause(ctx)
			}
			return nil
		})
		post(s, "a")
		post(s, "b")
		post(s, "c")
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if names := s.stop(ctx); !slices.Equal(names, []string{"c"}) {
			t.Errorf("%q never ran, want c", names)
		}
		if d := time.Since(start); d != 1500*time.Millisecond {
			t.Errorf("it took %v", d)
		}
		if err := <-causes; err != nil {
			t.Errorf("a: %v", err)
		}
		if err := <-causes; !errors.Is(err, executor.ErrShutdown) {
			t.Errorf("b ended with %v, want %v", err, executor.ErrShutdown)
		}
	})
}

// The program serves at the address that it prints until its context ends.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "127.0.0.1:0", time.Minute, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(strings.TrimSpace(line) + "debug/executors/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
