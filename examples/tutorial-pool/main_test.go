package main

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// get returns the status and the body of the answer to a request of a path.
func get(handler http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// A request is answered with the result, 429 while the queue is full, 504 after two seconds, and 503 after a shutdown.
func TestCountAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, err := executor.New(executor.Config{Workers: 1, Queue: executor.Bounded(1)})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		handler := count(pool)
		if code, body := get(handler, "/count?below=100"); code != 200 || body != "25" {
			t.Errorf("below 100: status %d, %q; want 25", code, body)
		}
		if code, _ := get(handler, "/count?below=many"); code != 400 {
			t.Errorf("not a number: status %d, want 400", code)
		}
		release := make(chan struct{})
		busy := pool.Submit(t.Context(), func(context.Context) error { <-release; return nil })
		waits := make(chan int, 1)
		start := time.Now()
		go func() {
			code, _ := get(handler, "/count?below=100")
			waits <- code
		}()
		synctest.Wait()
		if code, _ := get(handler, "/count?below=100"); code != 429 {
			t.Errorf("the queue is full: status %d, want 429", code)
		}
		if code, d := <-waits, time.Since(start); code != 504 || d != 2*time.Second {
			t.Errorf("the worker is busy: status %d after %v, want 504 after 2s", code, d)
		}
		close(release)
		if err := busy.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		pool.Shutdown()
		if code, _ := get(handler, "/count?below=100"); code != 503 {
			t.Errorf("after the shutdown: status %d, want 503", code)
		}
	})
}

// A count ends with its context.
func TestPrimesEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := primes(ctx, math.MaxInt); err != context.Canceled {
		t.Errorf("got %d, %v; want %v", n, err, context.Canceled)
	}
}

// The program serves the count and the page until its context ends, and then ends without an error.
func TestRunServes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, listener) }()
	for path, want := range map[string]string{"/count?below=1000": "168", "/debug/executors/": "primes"} {
		response, err := http.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("%s: status %d, %v, without %q:\n%s", path, response.StatusCode, err, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
