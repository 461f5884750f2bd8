package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// get returns the status and the body of the answer to a request.
func get(s *service, path string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", path, nil)
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1234"
	s.handler().ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// Prices are there after the first refresh, and new ones after the next minute has begun.
func TestServiceRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(10 * time.Second)
		var price atomic.Int64
		s, err := newService([]string{"a", "b", "c"}, func(context.Context, string) (int, error) {
			time.Sleep(time.Second)
			return int(price.Load()), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.stop(t.Context())
		price.Store(1)
		if code, body := get(s, "/prices"); code != 503 {
			t.Errorf("at first: %d %s", code, body)
		}
		time.Sleep(2 * time.Second) // three shops, two at a time
		synctest.Wait()
		if code, body := get(s, "/prices"); code != 200 || body != `{"a":1,"b":1,"c":1}` {
			t.Errorf("after the first refresh: %d %s", code, body)
		}
		price.Store(2)
		time.Sleep(50 * time.Second) // at 00:01:02
		synctest.Wait()
		if code, body := get(s, "/prices"); code != 200 || body != `{"a":2,"b":2,"c":2}` {
			t.Errorf("after a minute: %d %s", code, body)
		}
	})
}

// Two shops are asked at a time.
func TestServiceLimitsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		s, err := newService([]string{"a", "b", "c", "d", "e"}, func(context.Context, string) (int, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return 1, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the first refresh has begun
		s.stop(t.Context())
		if most.Load() != 2 {
			t.Errorf("%d requests at a time, want 2", most.Load())
		}
	})
}

// A shop that fails ends the requests of its refresh. The prices stay as they were, and the metrics count the failures.
func TestServiceKeepsPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failing, ended atomic.Bool
		s, err := newService([]string{"a", "b"}, func(ctx context.Context, shop string) (int, error) {
			if !failing.Load() {
				return 1, nil
			}
			if shop == "a" {
				time.Sleep(time.Second) // until the other is asked, too
				return 0, errors.New("closed")
			}
			<-ctx.Done()
			ended.Store(true)
			return 0, context.Cause(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.stop(t.Context())
		synctest.Wait()
		failing.Store(true)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if !ended.Load() {
			t.Error("the other request was not ended")
		}
		if code, body := get(s, "/prices"); code != 200 || body != `{"a":1,"b":1}` {
			t.Errorf("%d %s", code, body)
		}
		const failed = `executor_task_completed_total{executor_name="requests",executor_id="1",executor_type="pool",executor_task_outcome="failed"} 2`
		if code, body := get(s, "/debug/executors/metrics"); code != 200 || !strings.Contains(body, failed) {
			t.Errorf("the metrics, with status %d, do not have %s", code, failed)
		}
	})
}

// A refresh in progress has the grace period to end; then its context ends.
func TestServiceStop(t *testing.T) {
	for _, c := range []struct {
		name  string
		grace time.Duration
		cause error
	}{{"enough", 3 * time.Second, nil}, {"too short", time.Second, executor.ErrShutdown}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				causes := make(chan error, 1)
				s, err := newService([]string{"a"}, func(ctx context.Context, _ string) (int, error) {
					select {
					case <-time.After(2 * time.Second):
						causes <- nil
					case <-ctx.Done():
						causes <- context.Cause(ctx)
					}
					return 1, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), c.grace)
				defer cancel()
				s.stop(ctx)
				if cause := <-causes; !errors.Is(cause, c.cause) {
					t.Errorf("the request ended with %v, want %v", cause, c.cause)
				}
			})
		})
	}
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
