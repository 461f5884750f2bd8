// Package notify tells people and programs what becomes of jobs: by mail, webhooks, pings and commands.
//
//	Tell ──▶ queue of each channel ──▶ its worker ──▶ Way.Send
//	                                     │  ▲
//	                               Keep ◀┘  └── Adopt
//
// Tell never waits. A queue has a bound; a worker sends one message at a time, tries again with growing pauses, and
// gathers meanwhile what happens into one message. So it does beyond a channel's limit, in quiet hours, and for a
// digest. What waits is kept, so that another Notifier may adopt it when the program of this one was killed.
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
	firstPause  = 2 * time.Second  // after the first try; each is twice as long as the one before
	longPause   = 5 * time.Minute  // the longest
	sendTimeout = 30 * time.Second // of one try
	keptNotices = 500              // messages that Notices returns; of pings another keptPings
	keptPings   = 100
	limitPeriod = time.Hour // of a channel's Limit
)

// Counts are of one channel, since the program began.
type Counts struct {
	Channel string
	Sent    int // messages
	Failed  int // messages that were given up
	Dropped int // events for which the queue had no room
	Waiting int // events in the queue
}

// Config configures a Notifier.
type Config struct {
	Host      string // as messages name this machine
	Namespace string // of the jobs, for notices
	Log       *slog.Logger

	// Keep gets what waits, each time that it changes, and then what became of it, with the same ID. Of pings it gets
	// those that were given up: there are some for each run, and the monitor has the others. It must not wait. Nil
	// keeps nothing.
	Keep func(Kept)
}

// Notifier sends events on channels. Its methods may be called concurrently.
type Notifier struct {
	Config

	// mu is held for moments only. It is taken before that of a worker.
	mu struct {
		sync.Mutex
		workers []*worker
		closed  bool
		counts  map[string]*Counts
		order   []string
		sent    []Notice // the latest last
		pings   []Notice // the latest last
	}

	ctx     context.Context // ends what is being sent
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // workers
}

// New returns a Notifier without channels. Close ends it.
func New(c Config) *Notifier {
	n := &Notifier{Config: c}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.mu.counts = make(map[string]*Counts)
	return n
}

// Set replaces the channels. What waits for one of those before goes on to wait for the one of the same name, and is
// sent at once if there is none.
func (n *Notifier) Set(channels []*Channel) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.closed {
		return
	}
	before := n.mu.workers
	n.mu.workers = nil
	for _, c := range channels {
		if n.mu.counts[c.Name] == nil {
			n.mu.counts[c.Name] = &Counts{Channel: c.Name}
			n.mu.order = append(n.mu.order, c.Name)
		}
		w := &worker{notifier: n, channel: c, wake: make(chan struct{}, 1), closing: make(chan struct{})}
		for _, old := range before {
			if old.channel.Name == c.Name && old.channel.pings() == c.pings() {
				w.takeOver(old)
			}
		}
		n.mu.workers = append(n.mu.workers, w)
		n.running.Add(1)
		go func() { // ends after close; Close waits for running
			defer n.running.Done()
			w.run()
		}()
	}
	for _, w := range before {
		w.close()
	}
}

// Recall has the limits of the channels count messages that were sent before the program began.
func (n *Notifier) Recall(sent []Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.mu.workers {
		w.recall(sent)
	}
}

// Names returns those of the channels.
func (n *Notifier) Names() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.mu.workers {
		names = append(names, w.channel.Name)
	}
	return names
}

// Any reports whether there is a channel.
func (n *Notifier) Any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.mu.workers) > 0
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
	for _, w := range n.mu.workers {
		c := w.channel
		if chosen := slices.Contains(names, c.Name) || names == nil && c.ForAll; chosen && c.wants(e) {
			n.mu.counts[c.Name].Dropped += w.add(e)
		}
	}
}

// Counts returns those of each channel that there was.
func (n *Notifier) Counts() []Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]Counts, 0, len(n.mu.order))
	for _, name := range n.mu.order {
		c := *n.mu.counts[name]
		for _, w := range n.mu.workers {
			if w.channel.Name == name {
				c.Waiting = w.waiting()
			}
		}
		all = append(all, c)
	}
	return all
}

// Close sends what waits, at once, until ctx ends. Then it gives up the rest, and returns. It may be called again.
func (n *Notifier) Close(ctx context.Context) {
	n.mu.Lock()
	if !n.mu.closed {
		for _, w := range n.mu.workers {
			w.close()
		}
	}
	n.mu.closed = true
	n.mu.Unlock()
	defer context.AfterFunc(ctx, func() { n.cancel(errEnded) })()
	n.running.Wait()
	n.cancel(errEnded)
}

// record keeps and logs what became of a message.
func (n *Notifier) record(c *Channel, m Notice, answer string, err error) {
	secrets := c.Way.Secrets()
	m.At, m.Until, m.Outcome, m.Answer, m.Error = time.Now(), time.Time{}, Sent, scrub(answer, secrets), ""
	if err != nil {
		m.Outcome, m.Error = GivenUp, scrub(err.Error(), secrets)
	}
	n.mu.Lock()
	list, most := &n.mu.sent, keptNotices
	if c.pings() {
		list, most = &n.mu.pings, keptPings
	}
	if *list = append(*list, m); len(*list) > most {
		*list = slices.Delete(*list, 0, len(*list)-most)
	}
	if err == nil {
		n.mu.counts[c.Name].Sent++
	} else {
		n.mu.counts[c.Name].Failed++
	}
	n.mu.Unlock()
	if n.Keep != nil && (err != nil || !c.pings()) {
		n.Keep(Kept{Notice: m})
	}
	switch {
	case err != nil:
		n.Log.Error("notification not sent", "channel", m.Channel, "subject", m.Subject, "tries", m.Tries, "reason", m.Error)
	case c.pings():
		n.Log.Debug("notification sent", "channel", m.Channel, "subject", m.Subject, "tries", m.Tries, "answer", m.Answer)
	default:
		n.Log.Info("notification sent", "channel", m.Channel, "subject", m.Subject, "tries", m.Tries, "answer", m.Answer)
	}
}

// worker sends the events of one channel.
type worker struct {
	notifier *Notifier
	channel  *Channel
	wake     chan struct{} // has a value after an event was added
	closing  chan struct{} // closed when there will be no more events

	// mu is held for moments only.
	mu struct {
		sync.Mutex
		sent    []time.Time // of the messages in the last limitPeriod, in order
		queue   batch       // what was added here
		adopted []batch     // what goes out before that
		held    string      // why they are not sent at once, one of Holds, and until when
		until   time.Time
		sending *Kept // what is being sent, or waits for the next try; nil for nothing
	}
}

// batch is what becomes one message.
type batch struct {
	id      string // of its Notice
	events  []Event
	dropped int       // events before these
	first   time.Time // when the first of them was added
}

// close ends the worker, once it has sent what waits.
func (w *worker) close() { close(w.closing) }

// takeOver has a worker that is not running yet go on where another one, which is to be closed, is: but for what that
// one is sending.
func (w *worker) takeOver(old *worker) {
	old.mu.Lock()
	defer old.mu.Unlock()
	w.mu.sent = slices.Clone(old.mu.sent)
	w.mu.queue, old.mu.queue = old.mu.queue, batch{}
	w.mu.adopted, old.mu.adopted = old.mu.adopted, nil
	w.signal()
}

// recall counts the messages of the channel among these.
func (w *worker) recall(sent []Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range sent {
		if m.Channel == w.channel.Name && m.Outcome != Waiting {
			w.mu.sent = append(w.mu.sent, m.At)
		}
	}
	slices.SortFunc(w.mu.sent, time.Time.Compare)
}

// add puts an event into the queue, and returns how many had to give way.
func (w *worker) add(e Event) (dropped int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := &w.mu.queue
	if len(q.events) == 0 {
		q.id, q.first = rand.Text(), time.Now()
	}
	if q.events = append(q.events, e); len(q.events) > queueSize {
		q.events, dropped = slices.Delete(q.events, 0, 1), 1
		q.dropped++
	}
	w.signal()
	return dropped
}

func (w *worker) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *worker) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := len(w.mu.queue.events)
	for _, b := range w.mu.adopted {
		count += len(b.events)
	}
	return count
}

// run sends until the worker is closed, and then what still waits.
func (w *worker) run() {
	for {
		select {
		case <-w.wake:
		case <-w.closing:
		}
		for w.waiting() > 0 {
			for w.sleep(time.Until(w.hold())) {
			}
			if b, held, ok := w.take(); ok {
				w.send(b, held)
			}
		}
		select {
		case <-w.closing:
			if w.waiting() == 0 {
				return
			}
		default:
		}
	}
}

// take removes from the queue what goes into the next message. Held says why that was not sent at once. It returns false
// if nothing is left: another worker has taken it over.
func (w *worker) take() (b batch, held string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held, w.mu.held, w.mu.until = w.mu.held, "", time.Time{}
	q := &w.mu.queue
	switch {
	case len(w.mu.adopted) > 0:
		b = w.mu.adopted[0]
		w.mu.adopted = slices.Delete(w.mu.adopted, 0, 1)
	case len(q.events) == 0:
		return b, held, false
	case w.channel.pings():
		b = batch{id: rand.Text(), events: slices.Clone(q.events[:1])}
		q.events = slices.Delete(q.events, 0, 1)
	default:
		b, *q = *q, batch{}
	}
	return b, held, true
}

// hold returns when the next message may be sent, and notes why that is not now.
func (w *worker) hold() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.mu.queue.first
	if len(w.mu.adopted) > 0 {
		first = w.mu.adopted[0].first
	}
	w.mu.until, w.mu.held = w.dueLocked(first, time.Now())
	return w.mu.until
}

// dueLocked returns when the next message may be sent, of which the first event was added at first, and which of Holds that
// is, "" if it is now.
func (w *worker) dueLocked(first, now time.Time) (at time.Time, held string) {
	c := w.channel
	if c.pings() {
		return now, ""
	}
	at, held = first.Add(c.Digest), HeldForDigest
	if c.Limit > 0 {
		w.mu.sent = slices.DeleteFunc(w.mu.sent, func(t time.Time) bool { return now.Sub(t) >= limitPeriod })
		if len(w.mu.sent) >= c.Limit {
			if free := w.mu.sent[len(w.mu.sent)-c.Limit].Add(limitPeriod); free.After(at) {
				at, held = free, HeldByLimit
			}
		}
	}
	if !at.After(now) {
		at, held = now, ""
	}
	if end := c.Quiet.until(at); end.After(at) {
		at, held = end, HeldByQuiet
	}
	return at, held
}

// sleep has kept what waits, and waits, unless the worker is closed. It reports whether something was added meanwhile.
func (w *worker) sleep(d time.Duration) (added bool) {
	if d <= 0 {
		return false
	}
	w.keep()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w.wake:
		return true
	case <-t.C:
	case <-w.closing:
	}
	return false
}

// send sends one message, and tries again as long as that may help.
func (w *worker) send(b batch, held string) {
	if w.channel.Limit > 0 && !w.channel.pings() {
		w.mu.Lock()
		w.mu.sent = append(w.mu.sent, time.Now())
		w.mu.Unlock()
	}
	ctx := w.notifier.ctx
	m := compose(w.notifier.Host, w.channel.Link, b.events, b.dropped)
	notice := w.notifier.noticeOf(w.channel, b.id, m, held)
	defer w.note(nil)
	pause := firstPause
	for try := 1; ; try++ {
		w.note(&Kept{Notice: notice, Message: b.events, Dropped: b.dropped})
		w.keep()
		answer, err := w.try(ctx, m)
		notice.Tries = try
		var refusal *Refusal
		if err == nil || try == tries || errors.As(err, &refusal) || ctx.Err() != nil {
			w.notifier.record(w.channel, notice, answer, err)
			return
		}
		wait := pause
		var later *busy
		if errors.As(err, &later) && later.after > wait {
			wait = min(later.after, longPause)
		}
		pause = min(2*pause, longPause)
		notice.Error, notice.Until = scrub(err.Error(), w.channel.Way.Secrets()), time.Now().Add(wait)
		w.note(&Kept{Notice: notice, Message: b.events, Dropped: b.dropped})
		t := time.NewTimer(wait)
		for waits := true; waits; {
			w.keep()
			select {
			case <-t.C:
				waits = false
			case <-w.wake: // something was added
			case <-ctx.Done():
				t.Stop()
				w.notifier.record(w.channel, notice, "", fmt.Errorf("executord has ended; before: %w", err))
				return
			}
		}
	}
}

// note notes what is being sent, nil for nothing.
func (w *worker) note(sending *Kept) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.sending = sending
}

// try sends a message once. A way that panics has failed.
func (w *worker) try(ctx context.Context, m Message) (answer string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTimeout, errNoAnswer)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = &Refusal{fmt.Errorf("panic: %v", p)}
		}
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) { // which says less
			err = context.Cause(ctx)
		}
	}()
	return w.channel.Way.Send(ctx, m)
}

// errNoAnswer and errEnded are why a try has come to no answer.
var (
	errNoAnswer = fmt.Errorf("no answer within %v", sendTimeout)
	errEnded    = errors.New("executord ended before there was an answer")
)

// Test sends a test on a channel, once, and returns the answer. Neither has secrets.
func (n *Notifier) Test(ctx context.Context, c *Channel) (answer string, err error) {
	w := worker{notifier: n, channel: c}
	e := Event{Kind: Tested, At: time.Now()}
	if answer, err = w.try(ctx, compose(n.Host, c.Link, []Event{e}, 0)); err != nil {
		err = errors.New(scrub(err.Error(), c.Way.Secrets()))
	}
	return scrub(answer, c.Way.Secrets()), err
}
