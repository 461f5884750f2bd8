package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// site is the web of a test: ten hosts with ten pages each, each of which links to the first pages of all hosts and to
// the next page of its own.
type site struct {
	forbidden string // path of the page that is forbidden

	mu       sync.Mutex
	inFlight map[string]int // requests by host
	total    int
	most     int // of total
	overlap  bool
	attempts map[string]int
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.inFlight[r.URL.Host]++
	s.total++
	s.most = max(s.most, s.total)
	s.overlap = s.overlap || s.inFlight[r.URL.Host] > 1
	s.attempts[r.URL.String()]++
	first := s.attempts[r.URL.String()] == 1
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight[r.URL.Host]--
		s.total--
	}()
	select {
	case <-time.After(100 * time.Millisecond):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	code, body := http.StatusOK, ""
	switch {
	case r.URL.Path == s.forbidden:
		code = http.StatusForbidden
	case r.URL.Path == "/9":
		code = http.StatusNotFound
	case r.URL.Path == "/5" && first:
		code = http.StatusServiceUnavailable
	default:
		for host := range 10 {
			body += fmt.Sprintf(`<a href="http://host%d/1">`, host)
		}
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		body += fmt.Sprintf(`<a href="/%d#top">`, n+1)
	}
	status := fmt.Sprint(code, " ", http.StatusText(code))
	return &http.Response{StatusCode: code, Status: status, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func visit(t *testing.T, s *site, limit int) ([]page, error) {
	s.inFlight, s.attempts = make(map[string]int), make(map[string]int)
	start, err := url.Parse("http://host0/1")
	if err != nil {
		t.Fatal(err)
	}
	return crawl(t.Context(), &http.Client{Transport: s}, start, limit)
}

// All pages are fetched, by eight workers, one at a time for each host; what fails for a while is fetched again, and
// what is not there is not.
func TestCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{}
		pages, err := visit(t, s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(pages) != 90 {
			t.Errorf("%d pages, want 90", len(pages))
		}
		for _, p := range pages {
			if missing := strings.HasSuffix(p.address, "/9"); missing != (p.err != nil) {
				t.Errorf("%s: %v", p.address, p.err)
			}
		}
		if s.overlap {
			t.Error("two requests for a host at once")
		}
		if s.most != 8 {
			t.Errorf("%d requests at once, want 8", s.most)
		}
		for address, n := range s.attempts {
			if want := 1 + strings.Count(address, "/5"); n != want {
				t.Errorf("%d requests for %s, want %d", n, address, want)
			}
		}
	})
}

func TestCrawlLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages, err := visit(t, &site{}, 20)
		if err != nil || len(pages) != 20 {
			t.Errorf("%d pages, %v; want 20", len(pages), err)
		}
	})
}

// A page that is forbidden ends the crawl, and the requests in flight.
func TestCrawlForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{forbidden: "/3"}
		_, err := visit(t, s, 1000)
		if !errors.Is(err, errForbidden) {
			t.Errorf("error %v, want %v", err, errForbidden)
		}
		for address, n := range s.attempts {
			if strings.HasSuffix(address, "/4") {
				t.Errorf("%d requests for %s, which only forbidden pages link to", n, address)
			}
		}
	})
}
