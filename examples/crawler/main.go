// Crawler fetches a page, the pages that it links to, and so on:
//
//	go run ./examples/crawler -pages 50 https://example.org/
//
// At most eight requests are in flight, and one for each host. A request that fails is made again later, and holds no
// worker meanwhile. The first page that is forbidden ends the crawl.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"sync"
	"time"

	"github.com/executor-go/executor"
)

func main() {
	pages := flag.Int("pages", 100, "most pages to fetch")
	flag.Parse()
	start, err := url.Parse(flag.Arg(0))
	if err != nil || start.Host == "" {
		fmt.Fprintln(os.Stderr, "crawler: the argument must be a URL with a host, as https://example.org/")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := crawl(ctx, &http.Client{Timeout: 10 * time.Second}, start, *pages)
	for _, p := range found {
		fmt.Println(p.address, p.err)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crawler:", err)
		os.Exit(1)
	}
}

// page is a page that was fetched, or could not be.
type page struct {
	address string
	err     error
}

// errForbidden ends the crawl.
var errForbidden = errors.New("forbidden")

// crawl fetches up to limit pages, those with links to others first, and returns them in the order in which they came.
func crawl(ctx context.Context, client *http.Client, start *url.URL, limit int) ([]page, error) {
	workers := executor.Fixed(8)
	defer workers.Close()
	waiters := executor.PerTask() // a goroutine for each page, which waits for its host
	defer waiters.Close()

	c := &crawler{client: client, limit: limit, seen: make(map[string]bool)}
	c.hosts = executor.NewKeyed[string](workers, 1)
	c.group = executor.NewGroup(ctx, waiters)
	c.visit(start)
	err := c.group.Wait()
	return c.pages, err
}

type crawler struct {
	client *http.Client
	limit  int
	hosts  *executor.Keyed[string]
	group  *executor.Group

	mu    sync.Mutex
	seen  map[string]bool
	pages []page
}

// visit fetches a page that is new, and visits its links.
func (c *crawler) visit(u *url.URL) {
	if !c.isNew(u) {
		return
	}
	c.group.Go(func(ctx context.Context) error {
		fetch := func(ctx context.Context) ([]*url.URL, error) { return c.fetch(ctx, u) }
		links, err := executor.Submit(ctx, c.hosts.For(u.Host), fetch,
			executor.Retry(3, executor.Backoff(200*time.Millisecond, 5*time.Second)), executor.Named(u.String()),
		).Get(ctx)
		if errors.Is(err, errForbidden) || ctx.Err() != nil {
			return err
		}
		c.mu.Lock()
		c.pages = append(c.pages, page{u.String(), err})
		c.mu.Unlock()
		for _, link := range links {
			c.visit(link)
		}
		return nil
	})
}

func (c *crawler) isNew(u *url.URL) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[u.String()] || len(c.seen) == c.limit {
		return false
	}
	c.seen[u.String()] = true
	return true
}

var href = regexp.MustCompile(`href="([^"#]+)`)

// fetch returns the links of a page. An error that another attempt would not change is marked as permanent.
func (c *crawler) fetch(ctx context.Context, u *url.URL) ([]*url.URL, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, executor.Permanent(err)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusForbidden:
		return nil, executor.Permanent(fmt.Errorf("%w: %v", errForbidden, u))
	case code >= 500, code == http.StatusTooManyRequests:
		return nil, errors.New(response.Status)
	case code != http.StatusOK:
		return nil, executor.Permanent(errors.New(response.Status))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var links []*url.URL
	for _, m := range href.FindAllSubmatch(body, -1) {
		if link, err := u.Parse(string(m[1])); err == nil && link.Host != "" {
			links = append(links, link)
		}
	}
	return links, nil
}
