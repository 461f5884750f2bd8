package howto

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
)

// network is a listener whose connections are pipes, so that it works in a bubble.
type network struct {
	dialed chan net.Conn
	closed chan struct{}
}

func newNetwork() *network { return &network{make(chan net.Conn), make(chan struct{})} }

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.dialed:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error { close(n.closed); return nil }

func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// status requests a page on a connection of its own, and returns the status of the answer, or why there was none.
func (n *network) status(t *testing.T, path string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			select {
			case n.dialed <- there:
				return here, nil
			case <-n.closed:
				return nil, net.ErrClosed
			}
		},
	}}
	answer, err := client.Get("http://service.example" + path)
	if err != nil {
		return "none: " + err.Error()
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	return answer.Status
}

// serving starts a service with a second of notice, ten of grace and one worker. The returned functions begin its end,
// and wait for that.
func serving(t *testing.T, handler func(*executor.Pool) http.Handler) (n *network, stop func(), wait func() error) {
	t.Helper()
	pool, err := executor.New(executor.Config{Workers: 1, Queue: executor.Bounded(1)})
	if err != nil {
		t.Fatal(err)
	}
	s := service{handler: handler(pool), pool: pool, notice: time.Second, grace: 10 * time.Second}
	n = newNetwork()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, n) }()
	return n, stop, func() error { return <-ended }
}

// From the signal on the service is not ready, goes on to answer for the time of notice, and then takes no connection.
func TestServiceGivesNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, stop, wait := serving(t, func(*executor.Pool) http.Handler { return http.NotFoundHandler() })
		if got := n.status(t, "/ready"); got != "200 OK" {
			t.Errorf("before the signal: %s", got)
		}
		stop()
		synctest.Wait()
		if got := n.status(t, "/ready"); got != "503 Service Unavailable" {
			t.Errorf("after the signal: %s", got)
		}
		if got := n.status(t, "/"); got != "404 Not Found" {
			t.Errorf("during the notice: %s", got)
		}
		if err := wait(); err != nil {
			t.Error(err)
		}
		if got := n.status(t, "/"); !strings.HasPrefix(got, "none") {
			t.Errorf("after the end: %s", got)
		}
	})
}

// A request in progress is answered, and a task that it leaves behind ends without an error of its context.
func TestServiceEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made error
		n, stop, wait := serving(t, func(pool *executor.Pool) http.Handler {
			thumbnail := func(ctx context.Context) error {
				time.Sleep(4 * time.Second)
				made = ctx.Err()
				return made
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(3 * time.Second)
				upload(pool, thumbnail)(w, r)
			})
		})
		start := time.Now()
		answer := make(chan string)
		go func() { answer <- n.status(t, "/upload") }()
		synctest.Wait()
		stop()
		if got := <-answer; got != "202 Accepted" {
			t.Errorf("the answer is %s", got)
		}
		if err := wait(); err != nil || made != nil {
			t.Errorf("the service ended with %v, the task with %v", err, made)
		}
		if d := time.Since(start); d != 7*time.Second {
			t.Errorf("it took %v, want 7s: three of the request, then four of the task", d)
		}
	})
}

// At the end of the grace period the context of a task that runs ends, and a task that waits is named.
func TestServiceGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, stop, wait := serving(t, func(pool *executor.Pool) http.Handler {
			return upload(pool, func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
		})
		for range 2 { // one runs, one waits
			if got := n.status(t, "/upload"); got != "202 Accepted" {
				t.Fatal(got)
			}
		}
		if got := n.status(t, "/upload"); got != "429 Too Many Requests" {
			t.Errorf("without room: %s", got)
		}
		start := time.Now()
		stop()
		err := wait()
		if err == nil || err.Error() != `task "thumbnail" never ran` || time.Since(start) != 11*time.Second {
			t.Errorf("%v after %v, want the name of the task after 11s", err, time.Since(start))
		}
	})
}
