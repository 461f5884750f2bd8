package page_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/ui/internal/pagetest"
	"github.com/executor-go/executor/ui/page"
)

// served is a handler of streams with what look returns.
func served(s *page.Streams, look func() (page.Update, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, look) })
}

// always is the same update each time.
func always() (page.Update, error) { return page.Update{Main: []byte("x")}, nil }

// An update without a point sends none, also after one that has sent one: scripts would read an empty text as JSON.
func TestStreamsSendNoEmptyPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		points := []string{"[1]", "", "[1]", "[2]"}
		n := 0
		ctx, cancel := context.WithCancel(t.Context())
		l := pagetest.Listen(ctx, served(page.NewStreams("shop"), func() (page.Update, error) {
			n++
			return page.Update{Main: []byte("x"), Point: points[min(n, len(points))-1]}, nil
		}), "")
		time.Sleep(10 * time.Second)
		cancel()
		<-l.Ended()
		l.Events(t) // fails if the data of one is no JSON
	})
}

// A browser that takes gzip gets each update zipped, and complete at once; another one gets it as it is.
func TestStreamsZip(t *testing.T) {
	text := strings.Repeat("<tr><td>the same again</td></tr>", 1000)
	for accepts, zipped := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "deflate, gzip;q=0": false, "identity": false, "gzip;q=x": false,
	} {
		s := page.NewStreams("shop")
		server := httptest.NewServer(served(s, func() (page.Update, error) { return page.Update{Main: []byte(text)}, nil }))
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		ask.Header.Set("Accept-Encoding", accepts) // set by hand, it is not decoded by the client
		r, err := server.Client().Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		body := io.Reader(r.Body)
		if (r.Header.Get("Content-Encoding") == "gzip") != zipped || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accepts, r.Header)
		}
		if zipped {
			if body, err = gzip.NewReader(r.Body); err != nil {
				t.Fatal(err)
			}
		}
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() { // no more comes until the stream ends
			if strings.HasPrefix(lines.Text(), "data: ") {
				if !strings.Contains(lines.Text(), text) {
					t.Errorf("%q: the update is not complete", accepts)
				}
				break
			}
		}
		s.Close()
		r.Body.Close()
		server.Close()
	}
}

// There are no more than a hundred streams, and a place is free again when a browser leaves.
func TestStreamsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := page.NewStreams("shop")
		h := served(s, always)
		var all []*pagetest.Listener
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			all = append(all, pagetest.Listen(ctx, h, ""))
		}
		synctest.Wait()
		l := pagetest.Listen(t.Context(), h, "")
		<-l.Ended()
		if l.Refused() != http.StatusServiceUnavailable || l.Header().Get("Retry-After") == "" {
			t.Errorf("stream 101: %d", l.Refused())
		}
		cancel()
		for _, l := range all {
			<-l.Ended()
		}
		l = pagetest.Listen(t.Context(), h, "")
		synctest.Wait()
		if l.Refused() != 0 || len(l.Events(t)) != 1 {
			t.Errorf("a stream after others: %d", l.Refused())
		}
		s.Close()
		synctest.Wait()
		if !l.HasEnded() {
			t.Error("Close has not ended the stream")
		}
		l = pagetest.Listen(t.Context(), h, "")
		<-l.Ended()
		if l.Refused() != http.StatusServiceUnavailable {
			t.Errorf("a stream after Close: %d", l.Refused())
		}
	})
}

// Close waits for what a stream is doing.
func TestStreamsCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := page.NewStreams("shop")
		looked := false
		pagetest.Listen(t.Context(), served(s, func() (page.Update, error) {
			time.Sleep(time.Minute)
			looked = true
			return always()
		}), "")
		synctest.Wait()
		start := time.Now()
		s.Close()
		if !looked || time.Since(start) != time.Minute {
			t.Errorf("Close has returned after %v, during the look of a stream", time.Since(start))
		}
	})
}

// What has not changed is not sent again, an error ends the stream, and no text can begin an event of its own.
func TestStreamsSendChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		l := pagetest.Listen(t.Context(), served(page.NewStreams("shop"), func() (page.Update, error) {
			looks++
			if looks == 10 {
				return page.Update{}, errors.New("gone\r\revent: evil")
			}
			return page.Update{Main: []byte(strings.Repeat("a\r\n\nevent: evil\n\n", looks/5)), Point: "[1]"}, nil
		}), "")
		<-l.Ended()
		es := l.Events(t)
		if len(es) != 2 || es[0] != [2]string{"main", "a\r\n\nevent: evil\n\n"} || es[1] != [2]string{"gone", "gone\r\revent: evil"} {
			t.Errorf("events are %q", es)
		}
	})
}

// A server that shuts down does not wait for streams, and its WriteTimeout does not end them.
func TestStreamsServerShutdown(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	h := served(page.NewStreams("shop"), func() (page.Update, error) {
		looks++
		return page.Update{Main: []byte{byte('0' + looks)}}, nil
	})
	server := &http.Server{Handler: h, WriteTimeout: time.Millisecond}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	client := &http.Client{Transport: &http.Transport{}}
	r, err := client.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b := make([]byte, 1<<16)
	for range 3 { // updates come for longer than the timeout
		if n, err := r.Body.Read(b); err != nil || n == 0 {
			t.Fatalf("a stream ends after %d bytes: %v", n, err)
		}
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != http.ErrServerClosed {
		t.Error(err)
	}
	client.CloseIdleConnections()
}

// A server may be told to shut down several times, as after a first try that took too long.
func TestStreamsServerShutdownTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := new(http.Server)
		l := pagetest.Listen(context.WithValue(t.Context(), http.ServerContextKey, server), served(page.NewStreams("shop"), always), "")
		synctest.Wait()
		for range 2 {
			if err := server.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if !l.HasEnded() {
			t.Error("the stream goes on")
		}
	})
}
