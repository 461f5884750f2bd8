// Package notify tells people and programs what becomes of jobs: by mail, webhooks, pings and commands.
//
//	Tell ──▶ gatherer of each channel ──▶ a durable job for each message ──▶ Way.Send
//
// Tell never waits. A gatherer puts what happens into the payload of one job, until that has begun; the next events are
// for the next job. The job is in the store of the daemon, so that any daemon with the channel sends it: package durable
// tries again, holds one message of a channel at a time, and has what waits for a digest, the limit or the end of quiet
// hours begin when its time has come. What is of this program alone, such as a ping, is a job in memory.
package notify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// These are documented.
const (
	queueSize   = 200              // events that wait for a channel; the oldest give way
	tries       = 8                // of one message
	firstPause  = 2 * time.Second  // after the first try; each is up to twice as long as the one before
	longPause   = 5 * time.Minute  // the longest
	sendTimeout = 30 * time.Second // of one try
	limitPeriod = time.Hour        // of a channel's Limit
)

const (
	pace    = time.Second            // between two changes of a message that waits
	outage  = 10 * time.Second       // how long a store that has not taken a message gets none
	asking  = 5 * time.Second        // how long a store may take
	glance  = 100 * time.Millisecond // how long a message may be looked at
	closing = 20 * time.Millisecond  // between two looks at what is left
)

// Counts are of one channel, since the program began.
type Counts struct {
	Channel string
	Sent    int  // messages
	Failed  int  // messages that were given up
	Dropped int  // events for which the queue had no room
	Waiting int  // events that were told here, and are not known to be on their way
	Gone    bool // it is not among the channels any more
}

// Config configures a Notifier.
type Config struct {
	Host      string // as messages name this machine
	Namespace string // of the jobs, for notices
	Log       *slog.Logger

	// Shared is where messages are that outlive the program. The zero Home keeps all of them in memory.
	Shared Home
}

// Notifier sends events on channels. Its methods may be called concurrently.
type Notifier struct {
	Config
	shared *home         // nil if all is in memory
	wake   chan struct{} // has a value after there is something to write
	ending chan struct{} // closed by Close
	done   chan struct{} // closed when nothing more is written

	// mu is held for moments only.
	mu struct {
		sync.Mutex
		gatherers []*gatherer // in the order of the file, those of channels that have gone last
		own       *own        // nil before there is a channel
		counts    map[string]*Counts
		order     []string
		changed   bool      // what waits is to be looked at again, as the channels are now
		review    bool      // what waits is to be looked at again if it does so by a clock that was ahead
		ended     int       // messages since the last prune
		failing   time.Time // until when the shared store gets nothing
		warned    bool      // that it has not taken something, since it has
		leaving   bool
		closed    bool
	}
}

// New returns a Notifier without channels. Close ends it.
func New(c Config) *Notifier {
	n := &Notifier{Config: c, wake: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{})}
	n.mu.counts = make(map[string]*Counts)
	if c.Shared.Jobs != nil {
		n.shared = new(newHome(c.Shared))
	}
	return n
}

// Set replaces the channels. What waits for one of those before goes on to wait for the one of the same name, as that
// says, and is sent at once if there is none.
func (n *Notifier) Set(channels []*Channel) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.closed || len(channels) == 0 && n.mu.own == nil {
		return
	}
	if n.mu.own == nil {
		n.mu.own = newOwn(n.Log)
		go n.run() // ends after Close, which waits for it
	}
	before := n.mu.gatherers
	n.mu.gatherers = nil
	for _, c := range channels {
		if n.mu.counts[c.Name] == nil {
			n.mu.counts[c.Name] = &Counts{Channel: c.Name}
			n.mu.order = append(n.mu.order, c.Name)
		}
		g := &gatherer{}
		i := slices.IndexFunc(before, func(g *gatherer) bool { return g.channel.Name == c.Name && g.channel.pings() == c.pings() })
		if i >= 0 {
			g = before[i]
			before = slices.Delete(before, i, i+1)
		}
		g.channel, g.gone = c, false
		n.mu.gatherers = append(n.mu.gatherers, g)
	}
	for _, g := range before {
		g.gone = true
		n.mu.gatherers = append(n.mu.gatherers, g)
	}
	for _, g := range n.mu.gatherers {
		n.handleLocked(g.channel)
	}
	n.mu.changed = true
	n.signal()
}

// Review has what waits by a clock that was ahead looked at anew. It is called now and then, and does not wait.
func (n *Notifier) Review() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.review = true
	n.signal()
}

// Any reports whether there is a channel.
func (n *Notifier) Any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.mu.gatherers, func(g *gatherer) bool { return !g.gone })
}

// Tell has an event sent on the channels of these names, nil for those that are for all jobs, if they want it. It
// does not wait.
func (n *Notifier) Tell(e Event, names []string) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.Output = tail(e.Output, maxOutput)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.closed {
		return
	}
	for _, g := range n.mu.gatherers {
		c := g.channel
		if chosen := slices.Contains(names, c.Name) || names == nil && c.ForAll; chosen && !g.gone && c.wants(e) {
			n.mu.counts[c.Name].Dropped += g.add(e)
			n.signal()
		}
	}
}

func (n *Notifier) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Counts returns those of each channel that there was.
func (n *Notifier) Counts() []Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, now := make([]Counts, 0, len(n.mu.order)), time.Now()
	for _, name := range n.mu.order {
		c := *n.mu.counts[name]
		c.Gone = true
		for _, g := range n.mu.gatherers {
			if g.channel.Name == name {
				c.Waiting += g.waiting(now)
				c.Gone = c.Gone && g.gone
			}
		}
		all = append(all, c)
	}
	return all
}

// Leave says that the node of the shared store begins no more jobs. What is to be sent at once is then sent by the
// Notifier itself, and what is to wait waits in the store.
func (n *Notifier) Leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.leaving = true
}

// Close sends what is in memory, at once, until ctx ends. What is left then goes into the shared store, or is given up.
// It may be called again.
func (n *Notifier) Close(ctx context.Context) {
	n.mu.Lock()
	was, own := n.mu.closed, n.mu.own
	n.mu.closed = true
	n.mu.Unlock()
	if own == nil {
		return
	}
	if !was {
		close(n.ending)
	}
	defer context.AfterFunc(ctx, own.cancel)()
	<-n.done
	<-own.ended
}

// run writes what is told, until the Notifier is closed, and then waits until it is sent.
func (n *Notifier) run() {
	defer close(n.done)
	own := n.mu.own
	defer own.cancel()
	for open := true; open; {
		next := n.write()
		if next == 0 {
			next = time.Hour
		}
		t := time.NewTimer(next)
		select {
		case <-n.wake:
		case <-t.C:
		case <-n.ending:
			open = false
		}
		t.Stop()
	}
	n.hasten(&own.home, true)
	for n.busy() && own.ctx.Err() == nil {
		n.write()
		select {
		case <-n.wake:
		case <-time.After(closing):
		case <-own.ctx.Done():
		}
	}
	own.cancel()
	<-own.ended
	n.giveUp()
}

// try sends a message once. A way that panics has failed.
func (n *Notifier) try(ctx context.Context, c *Channel, m Message) (answer string, err error) {
	sending, cancel := context.WithTimeoutCause(ctx, sendTimeout, errNoAnswer)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = &Refusal{fmt.Errorf("panic: %v", p)}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			err = errEnded
		case sending.Err() != nil && errors.Is(err, sending.Err()): // which says less
			err = context.Cause(sending)
		}
	}()
	return c.Way.Send(sending, m)
}

// errNoAnswer and errEnded are why a try has come to no answer.
var (
	errNoAnswer = fmt.Errorf("no answer within %v", sendTimeout)
	errEnded    = errors.New("executord ended before there was an answer")
)

// Channel returns the channel of a name, nil if there is none.
func (n *Notifier) Channel(name string) *Channel {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, g := range n.mu.gatherers {
		if g.channel.Name == name && !g.gone {
			return g.channel
		}
	}
	return nil
}

// Test sends a test on a channel, once, and returns the answer. Neither has secrets.
func (n *Notifier) Test(ctx context.Context, c *Channel) (answer string, err error) {
	e := Event{Kind: Tested, At: time.Now()}
	if answer, err = n.try(ctx, c, compose(n.Host, c.Link, []Event{e}, 0)); err != nil {
		err = errors.New(scrub(err.Error(), c.Way.Secrets()))
	}
	return scrub(answer, c.Way.Secrets()), err
}

func newID() string { return rand.Text() }
