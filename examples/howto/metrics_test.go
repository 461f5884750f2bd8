package howto

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// Prometheus reads the counters of the pool by the host that is named, and by no other.
func TestObserveForPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, handler, err := observe(executor.Config{Name: "mail", Workers: 1}, "10.0.0.5:9090")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if err := pool.Submit(t.Context(), func(context.Context) error { return nil }).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the worker has counted it
		get := func(host string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("GET", "http://"+host+"/debug/executors/metrics", nil))
			return w
		}
		w := get("10.0.0.5:9090")
		want := `executor_task_completed_total{executor_name="mail",executor_id="1",executor_type="pool",executor_task_outcome="succeeded"} 1`
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("status %d, and there is no line %s in\n%s", w.Code, want, w.Body)
		}
		if w := get("service.example"); w.Code != http.StatusForbidden {
			t.Errorf("another host has the status %d, want 403", w.Code)
		}
	})
}

// The variable has the counters as they are when it is read.
func TestVarsCount(t *testing.T) {
	pool, _, err := observe(executor.Config{Workers: 1}, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	read := vars(pool)
	for range 3 {
		pool.Submit(t.Context(), func(context.Context) error { return errors.New("disk full") }).Wait(t.Context())
	}
	pool.Close()
	var got map[string]int
	if err := json.Unmarshal([]byte(read.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got["failed"] != 3 || got["active"] != 0 || got["rejected"] != 0 {
		t.Errorf("got %v, want three that failed", got)
	}
}

// A pool is overloaded while more than ten tasks wait for each worker.
func TestOverloadedWhileTasksWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := executor.Fixed(1)
		defer pool.Close()
		for range 12 { // one runs, eleven wait
			pool.Go(t.Context(), func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		synctest.Wait()
		if !overloaded(pool) {
			t.Error("eleven tasks wait for one worker, and the pool is not overloaded")
		}
		time.Sleep(1500 * time.Millisecond)
		if overloaded(pool) {
			t.Error("ten tasks wait for one worker, and the pool is overloaded")
		}
	})
}

// A wait counts between the two calls that it is between.
func TestWaitsSinceLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool, _, err := observe(executor.Config{Workers: 1}, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		waited := waits(pool)
		g := executor.NewGroup(t.Context(), pool)
		for range 2 { // the second waits for the first
			g.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if d := waited().Round(200 * time.Millisecond); d != time.Second {
			t.Errorf("the wait is %v, want about 1s", d)
		}
		if d := waited(); d != 0 {
			t.Errorf("no task has waited since, and the wait is %v", d)
		}
	})
}
