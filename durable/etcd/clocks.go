package etcd

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

const (
	nowPath   = "/executor/now"   // where a member tells the time of the cluster
	clockPath = "/executor/clock" // and that of its own clock
)

const (
	trust        = time.Second     // the difference that is allowed between clocks that are right
	compareEvery = 2 * time.Second // the time from one comparison of the clocks to the next
	compareFirst = 5 * time.Second // the time for which a new member tells no time before it knows other clocks
)

// clocks are the clocks of the members, as one of them knows these. A clock is wrong if it differs from most of the others
// by more than trust. A member tells the time of its own clock unless that is wrong, and of the others then: so the
// cluster's time is right whichever member leads.
type clocks struct {
	own  func() time.Time
	base time.Time
	mu   struct {
		sync.Mutex
		others map[types.ID]bounds // also those of members that are away
		known  bool                // a majority of the clocks is, with the member's own
	}
}

func newClocks(own func() time.Time) *clocks {
	c := &clocks{own: own, base: time.Now()}
	c.mu.others = make(map[types.ID]bounds)
	return c
}

// now returns the time of the cluster, and by how much the member's own is ahead of that if it is wrong.
func (c *clocks) now() (now time.Time, wrong time.Duration) {
	passed := time.Since(c.base)
	own := time.Duration(c.own().UnixNano()) - passed
	all := []time.Duration{own}
	c.mu.Lock()
	for _, b := range c.mu.others {
		all = append(all, slices.Max(b))
	}
	c.mu.Unlock()
	slices.Sort(all)
	middle := min(max(own, all[(len(all)-1)/2]), all[len(all)/2]) // of an even number two are in the middle: nobody knows which is right
	if wrong = own - middle; wrong.Abs() <= trust {
		wrong = 0
	}
	return time.Unix(0, int64(own-wrong+passed)), wrong
}

// handlers answer with the time.
func (c *clocks) handlers() map[string]http.Handler {
	tell := func(w http.ResponseWriter, at time.Time) {
		w.Write(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro())))
	}
	return map[string]http.Handler{
		clockPath: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tell(w, c.own()) }),
		nowPath: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c.mu.Lock()
			known := c.mu.known
			c.mu.Unlock()
			if !known && time.Since(c.base) < compareFirst {
				http.Error(w, "the clocks of the other members are not known yet", http.StatusServiceUnavailable)
				return
			}
			now, _ := c.now()
			tell(w, now)
		}),
	}
}

// keep compares the clocks until stop is called. stop waits for the end of the comparison in progress.
func (c *clocks) keep(server *etcdserver.EtcdServer, web *httpClient, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for said := false; ctx.Err() == nil; {
			next := compareEvery
			if !c.compare(ctx, server, web) {
				next = 50 * time.Millisecond
			}
			_, wrong := c.now()
			if wrong != 0 && !said {
				log.Warn("durable/etcd: the clock of this member is wrong; the cluster goes by those of the others", "ahead", wrong)
			}
			said = wrong != 0
			pause(ctx, next)
		}
	}()
	return func() { cancel(); <-ended }
}

// compare asks the other members for the time of their clocks. It reports whether a majority of the clocks is known.
func (c *clocks) compare(ctx context.Context, server *etcdserver.EtcdServer, web *httpClient) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	there := make(map[types.ID]bool)
	voters := 0
	var asked sync.WaitGroup
	for _, m := range server.Cluster().Members() {
		if there[m.ID] = true; !m.IsLearner {
			voters++
		}
		if m.ID == server.MemberID() || len(m.ClientURLs) == 0 {
			continue
		}
		asked.Go(func() {
			told, received, err := askTime(ctx, web, m.ClientURLs[0]+clockPath)
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.mu.others[m.ID] = c.mu.others[m.ID].add(time.Duration(told.UnixNano()) - received.Sub(c.base))
		})
	}
	asked.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.mu.others {
		if !there[id] {
			delete(c.mu.others, id)
		}
	}
	c.mu.known = c.mu.known || 2*(len(c.mu.others)+1) > voters
	return c.mu.known
}
