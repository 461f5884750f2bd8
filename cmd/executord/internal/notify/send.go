package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/setback"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// A Home is where messages are: a store, and what adds jobs to it and runs them.
type Home struct {
	Jobs  *durable.Jobs
	Store durable.Store
}

// home is a Home with the kinds that have handlers, by channels. The mutex of the Notifier guards these.
type home struct {
	Home
	kinds map[kindKey]*durable.Kind[letter, answer]
}

// kindKey names a kind. A channel that becomes a ping has another one.
type kindKey struct {
	channel string
	pings   bool
}

func (c *Channel) kindKey() kindKey { return kindKey{c.Name, c.pings()} }

// own is the home of what ends with the program.
type own struct {
	home
	ctx    context.Context // of its node
	cancel context.CancelFunc
	ended  chan struct{} // closed when the node has ended
}

// forever is the longest lease there is: nobody waits for the end of that of a store in memory.
const forever = 365 * 24 * time.Hour

// newOwn returns a home in memory, whose node runs until cancel is called.
func newOwn(log *slog.Logger) *own {
	o := &own{ended: make(chan struct{})}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	store := memory.New()
	jobs, err := durable.New(durable.Config{
		Store: store, Lease: forever, Drain: -1, History: -1, Output: -1, Logger: log,
		Keep:  durable.Retention{Succeeded: -1, Dead: -1, History: -1},
		Hooks: durable.Hooks{Failed: func(durable.Job, durable.Run) {}}, // the log says how each message ended
	})
	if err != nil {
		panic(err) // this configuration is right
	}
	o.home = newHome(Home{jobs, store})
	go func() { // ends after cancel; Close waits for it
		defer close(o.ended)
		jobs.Run(o.ctx)
	}()
	return o
}

func newHome(h Home) home { return home{h, make(map[kindKey]*durable.Kind[letter, answer])} }

// homes returns where messages are.
func (n *Notifier) homes() []*home {
	if n.shared == nil {
		return []*home{&n.mu.own.home}
	}
	return []*home{&n.mu.own.home, n.shared}
}

// Roots of the keys and kinds of messages. Those of jobs begin with executord: and their namespace.
const (
	root     = "executord-notice:"
	rootPing = "executord-ping:"
)

func rootOf(pings bool) string {
	if pings {
		return rootPing
	}
	return root
}

// kindOf returns the kind of the messages of a channel.
func kindOf(namespace string, k kindKey) string {
	kind := rootOf(k.pings) + namespace + "/"
	if len(kind)+len(k.channel) > durable.MaxKind {
		return kind + fmt.Sprintf("%x", sha256.Sum256([]byte(k.channel)))[:16]
	}
	return kind + k.channel
}

// handleLocked has the messages of a channel sent. All daemons together hold one at a time, so that they are sent in turn,
// and each sees those before it.
func (n *Notifier) handleLocked(c *Channel) {
	k := c.kindKey()
	for _, h := range n.homes() {
		if h.kinds[k] == nil && (h != n.shared || !k.pings) {
			h.kinds[k] = durable.Handle(h.Jobs, kindOf(n.Namespace, k),
				func(ctx context.Context, l letter) (answer, error) { return n.send(ctx, h, k, l) },
				durable.GlobalLimit(1), durable.WithBackoff(executor.Backoff(firstPause, longPause)))
		}
	}
}

// put adds the message of a letter, or what has happened since to it, and returns its job. What the job has not got, since
// it has begun, it does not get any more.
func (n *Notifier) put(h *home, k kindKey, l letter, delay time.Duration) (durable.Job, error) {
	n.mu.Lock()
	kind := h.kinds[k]
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	var result durable.InsertResult
	_, err := kind.AddAfter(ctx, delay, l, durable.Key(rootOf(k.pings)+n.Namespace+"/"+l.ID), durable.ReplaceUntried(),
		durable.Attempts(tries), durable.WithResult(&result))
	return result.Job, err
}

// send sends a message, unless it has to wait.
func (n *Notifier) send(ctx context.Context, h *home, k kindKey, l letter) (answer, error) {
	row, _ := durable.Current(ctx)
	c, waits := n.channelFor(h, k)
	if c == nil {
		return answer{}, fmt.Errorf("the channel is gone: %w", durable.Snooze(longPause))
	}
	if waits && row.Attempt == 1 {
		now := time.Now()
		until, held, err := n.hold(ctx, h, c, l, row, now)
		if err != nil {
			return answer{}, fmt.Errorf("%w: %w", err, durable.Snooze(firstPause))
		}
		if until.After(now) {
			n.holds(l, until)
			durable.SetLabel(ctx, held)
			return answer{}, durable.Snooze(until.Sub(now))
		}
	}
	durable.SetLabel(ctx, cmp.Or(row.Label, l.Held))
	n.begun(l)
	text, err := n.try(ctx, c, compose(l.Host, c.Link, l.Message, l.Dropped))
	secrets := c.Way.Secrets()
	if text = scrub(text, secrets); err == nil {
		attrs := []any{"channel", c.Name, "subject", l.Subject, "tries", row.Attempt, "answer", text}
		if k.pings {
			n.Log.Debug("notification sent", attrs...)
		} else {
			n.Log.Info("notification sent", attrs...)
		}
		n.over(l, c, true)
		return answer{text}, nil
	}
	if ctx.Err() != nil { // this node ends: it is no answer
		return answer{}, err
	}
	reason := errors.New(scrub(err.Error(), secrets))
	var refusal *Refusal
	var later *busy
	switch final := errors.As(err, &refusal); {
	case final, row.Attempt >= row.Attempts:
		n.Log.Error("notification not sent", "channel", c.Name, "subject", l.Subject, "tries", row.Attempt, "reason", reason.Error())
		n.over(l, c, false)
		return answer{}, executor.Permanent(reason)
	case errors.As(err, &later):
		return answer{}, durable.RetryAfter(reason, min(later.after, longPause))
	}
	return answer{}, reason
}

// channelFor returns the channel of a message, as it is now, and whether it may have to wait.
func (n *Notifier) channelFor(h *home, k kindKey) (c *Channel, waits bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, g := range n.mu.gatherers {
		if g.channel.kindKey() == k {
			return g.channel, !k.pings && !g.gone && (h == n.shared || !n.mu.closed)
		}
	}
	return nil, false
}

// hold returns until when a message has to wait, and which of Holds that is.
func (n *Notifier) hold(ctx context.Context, h *home, c *Channel, l letter, row durable.Job, now time.Time) (at time.Time, held string, err error) {
	before, err := h.waiting(ctx, row.Kind)
	if err != nil {
		return at, "", err
	}
	for _, other := range before {
		if due := now.Add(max(other.Due.Sub(clock(row)), 0) + time.Millisecond); other.Attempt > 0 && other.ID != row.ID && due.After(at) {
			at, held = due, HeldBehind
		}
	}
	if held != "" {
		return at, held, nil
	}
	free, err := n.free(ctx, h, c, row, now)
	if err != nil {
		return at, "", err
	}
	at, held = c.due(l.Since, now, free)
	return at, held, nil
}

// clock returns what the clock of the store showed when a run began, or a little before.
func clock(row durable.Job) time.Time {
	if row.Updated.After(row.Due) {
		return row.Updated
	}
	return row.Due
}

// waiting returns the messages of a kind that wait.
func (h *home) waiting(ctx context.Context, kind string) ([]durable.Job, error) {
	return h.Jobs.List(ctx, durable.Filter{Kind: kind, States: []durable.State{durable.Waiting}, Limit: mostListed})
}

// free returns when the limit of a channel allows the next message.
func (n *Notifier) free(ctx context.Context, h *home, c *Channel, row durable.Job, now time.Time) (time.Time, error) {
	if c.Limit == 0 {
		return now, nil
	}
	var sent []time.Time
	for _, home := range n.homes() {
		shows := now
		if home == n.shared {
			if home != h { // which need not answer
				continue
			}
			shows = clock(row)
		}
		done, err := home.Jobs.List(ctx, durable.Filter{
			Kind: row.Kind, States: []durable.State{durable.Succeeded, durable.Dead},
			// What was sent while the clock was ahead was sent at a time that is not known.
			Updated: durable.TimeRange{From: shows.Add(-limitPeriod), Until: shows.Add(setback.Noise)},
			Limit:   mostListed,
		})
		if err != nil {
			return now, err
		}
		for _, job := range done {
			sent = append(sent, now.Add(-shows.Sub(job.Updated)))
		}
	}
	if len(sent) < c.Limit {
		return now, nil
	}
	slices.SortFunc(sent, time.Time.Compare)
	return sent[len(sent)-c.Limit].Add(limitPeriod), nil
}

// due returns when a message may be sent that was begun at since, if the limit allows it at free, and which of Holds that
// is, "" if it is now.
func (c *Channel) due(since, now, free time.Time) (at time.Time, held string) {
	if c.pings() {
		return now, ""
	}
	if since.After(now.Add(setback.Noise)) { // by a clock that was ahead: the digest may be over
		since = now.Add(-c.Digest)
	}
	at, held = since.Add(c.Digest), HeldForDigest
	if free.After(at) {
		at, held = free, HeldByLimit
	}
	if !at.After(now) {
		at, held = now, ""
	}
	if end := c.Quiet.until(at); end.After(at) {
		at, held = end, HeldByQuiet
	}
	return at, held
}
