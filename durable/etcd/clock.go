package etcd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

type httpClient = http.Client

// A clock is what the member that leads tells, as this program knows it: the monotonic clock of the program, and how much
// that of the leader is ahead for certain, by the latest answers. So it is behind by the way of an answer at most, and
// never ahead.
type clock struct {
	own  func() time.Time // of this machine
	http *httpClient
	base time.Time
	mu   struct {
		sync.Mutex
		asked  int               // the endpoint, counted on, that is asked who leads
		leader uint64            // whose answers they are
		urls   map[uint64]string // of the members
		ahead  bounds            // the time of the leader since 1970, less the time since base
		known  bool
	}
}

func (c *clock) init(own func() time.Time, client *httpClient) {
	if c.own = own; own == nil {
		c.own = time.Now
	}
	c.http, c.base = client, time.Now()
}

// now returns the time of the leader.
func (c *clock) now() (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.known {
		return time.Time{}, errors.New("durable/etcd: the time is not known yet")
	}
	return time.UnixMicro((slices.Max(c.mu.ahead) + time.Since(c.base)).Microseconds()).UTC(), nil
}

const (
	answers   = 8                     // are kept
	jump      = 50 * time.Millisecond // by which a clock was set back, or an answer was late
	timeEvery = 500 * time.Millisecond
)

// bounds are lower bounds of how far a clock is ahead, one of each of the latest answers.
type bounds []time.Duration

// add adds a bound. The clock was set back if the bound is far lower than the others, which are dropped then.
func (b bounds) add(ahead time.Duration) bounds {
	if len(b) > 0 && ahead < slices.Max(b)-jump {
		b = nil
	}
	b = append(b, ahead)
	return b[max(0, len(b)-answers):]
}

// learn takes an answer of the leader, which was received then.
func (c *clock) learn(leader uint64, told time.Duration, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.leader != leader {
		c.mu.leader, c.mu.ahead = leader, nil
	}
	c.mu.ahead, c.mu.known = c.mu.ahead.add(told-received.Sub(c.base)), true
}

// ask asks who leads, and that one for the time. If it gets no answer, it asks another endpoint the next time.
func (h *home) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	endpoint := "" // of the member in this program
	if all := h.client.Endpoints(); len(all) > 0 {
		endpoint = all[h.clock.endpoint(false)%len(all)]
	}
	status, err := h.client.Status(ctx, endpoint)
	if err != nil {
		h.clock.endpoint(true)
		return err
	}
	if status.Leader == 0 { // the member may be cut off from the others
		h.clock.endpoint(true)
		return errors.New("nobody leads")
	}
	url, err := h.urlOf(ctx, status.Leader)
	if err != nil {
		return err
	}
	told, received, err := askTime(ctx, h.clock.http, url+nowPath)
	switch {
	case errors.Is(err, errNoClock):
		h.clock.learn(status.Leader, time.Duration(h.clock.own().UnixNano()), time.Now())
	case err != nil:
		h.clock.forget(status.Leader)
		return err
	default:
		h.clock.learn(status.Leader, time.Duration(told.UnixNano()), received)
	}
	return nil
}

var errNoClock = errors.New("it is a server of etcd that does not tell its time")

// askTime asks a member for the time at a URL, and returns when the answer was received, too.
func askTime(ctx context.Context, web *httpClient, url string) (told, received time.Time, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return told, received, err
	}
	resp, err := web.Do(req)
	if err != nil {
		return told, received, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 9))
	received = time.Now()
	switch {
	case err != nil:
		return told, received, err
	case resp.StatusCode == http.StatusNotFound: // it is no member of ours
		return told, received, errNoClock
	case resp.StatusCode != http.StatusOK || len(body) != 8:
		return told, received, fmt.Errorf("%s does not tell the time: %s", url, resp.Status)
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(body))), received, nil
}

// urlOf returns where clients find a member.
func (h *home) urlOf(ctx context.Context, member uint64) (string, error) {
	c := &h.clock
	c.mu.Lock()
	url := c.mu.urls[member]
	c.mu.Unlock()
	if url != "" {
		return url, nil
	}
	list, err := h.client.MemberList(ctx)
	if err != nil {
		return "", err
	}
	urls := make(map[uint64]string)
	for _, m := range list.Members {
		if len(m.ClientURLs) > 0 {
			urls[m.ID] = m.ClientURLs[0]
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.urls = urls; urls[member] == "" {
		return "", fmt.Errorf("member %x, which leads, has no address for clients yet", member)
	}
	return urls[member], nil
}

// endpoint returns which endpoint is asked, or the one after that.
func (c *clock) endpoint(next bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next {
		c.mu.asked++
	}
	return c.mu.asked
}

// forget forgets where a member is, since it may have moved.
func (c *clock) forget(member uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.urls, member)
}

// askOften asks until there are some answers, of which the first are slow.
func (h *home) askOften(ctx context.Context) error {
	for range answers / 2 {
		for err := h.ask(ctx); err != nil; err = h.ask(ctx) {
			if ctx.Err() != nil {
				return fmt.Errorf("the cluster does not tell its time: %w", err)
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
	return nil
}

// keepTime asks again and again.
func (h *home) keepTime(ctx context.Context) {
	for ctx.Err() == nil {
		next := timeEvery
		if h.ask(ctx) != nil {
			next = timeEvery / 10
		}
		pause(ctx, next)
	}
}
