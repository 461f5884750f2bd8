package notify

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// A gatherer has the events of a channel that are not known to be on their way, and the message that they are for. The
// mutex of the Notifier guards it.
type gatherer struct {
	channel *Channel
	gone    bool // from the file

	// The events are numbered. Those from start on are for one message, or to be dropped; up to stored they are in its
	// payload.
	events              []Event
	last, start, stored int
	counted             int       // of the dropped, in Counts
	since               time.Time // when the first was added

	id      string // of the message
	home    *home  // where it is; nil for nowhere yet
	due     time.Time
	written time.Time
	refused time.Time // since when the message takes nothing more, and may again; zero for not
	pinging bool      // a ping is on its way; the next one waits for its end
}

// add adds an event, and returns how many pings had to give way. Of a message that is counted when it is written.
func (g *gatherer) add(e Event) (dropped int) {
	if len(g.events) == 0 {
		g.begin(g.last)
	}
	g.last++
	if g.events = append(g.events, e); len(g.events) <= queueSize {
		return 0
	}
	if g.pinging { // the first is on its way
		g.events = slices.Delete(g.events, 1, 2)
		return 1
	}
	g.events = slices.Delete(g.events, 0, 1)
	if g.channel.pings() {
		return 1
	}
	return 0
}

// begin begins another message, with the events after one.
func (g *gatherer) begin(after int) {
	g.events = g.events[min(max(len(g.events)-(g.last-after), 0), len(g.events)):]
	g.start, g.stored, g.counted = after+1, after, 0
	g.since, g.id, g.home, g.refused = time.Now(), newID(), nil, time.Time{}
}

// waiting returns how many events are not known to be on their way. A message that is due may be, elsewhere.
func (g *gatherer) waiting(now time.Time) int {
	if g.home != nil && g.due.Before(now) {
		return g.last - g.stored
	}
	return len(g.events)
}

// pending reports whether there is something to write.
func (g *gatherer) pending() bool { return len(g.events) > 0 && g.stored < g.last && !g.pinging }

// A letter is the payload of the job of a message.
type letter struct {
	Notice            // as it is known before it is sent
	Message []Event   `json:"message"`
	Dropped int       `json:"dropped,omitzero"` // events that there was no room for
	Last    int       `json:"last"`             // the number of the last event
	Since   time.Time `json:"since"`            // when the first event was told
}

// An answer is the result of the job of a message that was sent.
type answer struct {
	Answer string `json:"answer"`
}

// maxMessage is how many bytes of the events of a letter there are, about. Outputs beyond it are left out: a text has
// less. A letter of queueSize events without outputs, and with reasons of maxReason, is no longer than a payload may be.
const (
	maxMessage = 256 << 10
	maxReason  = 300
)

// letter returns the letter of the next message.
func (n *Notifier) letter(g *gatherer, held string) letter {
	l := letter{Last: g.last, Since: g.since, Message: slices.Clone(g.events)}
	if g.channel.pings() {
		l.Message, l.Last = l.Message[:1], g.last-len(g.events)+1
	} else {
		l.Dropped = g.last - len(g.events) + 1 - g.start
	}
	room := maxMessage
	for i := range l.Message {
		e := &l.Message[i]
		text, _ := json.Marshal(e)
		if len(text) > room {
			e.Output, e.Reason = "", cut(e.Reason, maxReason)
			text, _ = json.Marshal(e)
		}
		room -= len(text)
	}
	l.Notice = n.noticeOf(g.channel, g.id, compose(n.Host, g.channel.Link, l.Message, l.Dropped), held)
	return l
}

// write writes what is to be written, and returns after how long there is more, 0 for when it is told.
func (n *Notifier) write() (next time.Duration) {
	n.mu.Lock()
	changed, review, prune := n.mu.changed, n.mu.review, n.mu.ended >= pruneEvery
	n.mu.changed, n.mu.review = false, false
	if prune {
		n.mu.ended = 0
	}
	all := slices.Clone(n.mu.gatherers)
	n.mu.Unlock()
	if changed || review { // before there is more, which needs it not
		for _, h := range n.homes() {
			n.hasten(h, changed)
		}
	}
	for _, g := range all {
		for more := true; more; {
			var wait time.Duration
			if wait, more = n.writeOne(g); wait > 0 && (next == 0 || wait < next) {
				next = wait
			}
		}
	}
	if prune {
		for _, h := range n.homes() {
			n.prune(h)
		}
	}
	return next
}

// writeOne writes the message of a gatherer, and reports whether it may have more; or after how long.
func (n *Notifier) writeOne(g *gatherer) (wait time.Duration, more bool) {
	n.mu.Lock()
	now := time.Now()
	if !g.pending() {
		n.mu.Unlock()
		return 0, false
	}
	if wait := g.written.Add(pace).Sub(now); g.home != nil && wait > 0 && !n.mu.closed {
		n.mu.Unlock()
		return wait, false
	}
	at, held := g.channel.due(g.since, now, time.Time{})
	if g.gone {
		at, held = now, ""
	}
	l, h, c := n.letter(g, held), g.home, g.channel
	if h == nil {
		h = n.homeLocked(g, at.After(now))
	}
	g.pinging = c.pings()
	n.mu.Unlock()

	row, err := n.put(h, c.kindKey(), l, at.Sub(now))
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.refusedLocked(h, err)
		if g.pinging = false; g.id == l.ID && h == &n.mu.own.home {
			return pace, false
		}
		if g.id == l.ID && g.home != nil {
			g.begin(g.stored) // the rest is for a message elsewhere
		}
		return 0, true
	}
	if h != &n.mu.own.home {
		n.mu.warned = false
	}
	if c.pings() {
		return 0, false
	}
	var got letter
	if err := json.Unmarshal(row.Payload, &got); err != nil {
		got = l // no executord has written that
	}
	if g.id != l.ID { // it has begun meanwhile
		return 0, true
	}
	if row.State.Granted() && row.Attempt <= 1 && got.Last < l.Last {
		// Its handler may only look whether it has to wait; here, begun says if it has not.
		if g.refused.IsZero() {
			g.refused = now
		}
		if now.Sub(g.refused) < pace {
			return glance, false
		}
	}
	n.mu.counts[c.Name].Dropped += got.Dropped - g.counted
	g.refused = time.Time{}
	g.stored, g.home, g.written, g.counted, g.due = got.Last, h, now, got.Dropped, time.Now().Add(row.Due.Sub(row.Updated))
	if row.State.Done() || got.Last < l.Last || row.Attempt > 0 && !row.State.Granted() {
		g.begin(got.Last)
	}
	return 0, true
}

// homeLocked returns where the next message of a gatherer is to be. What tells of the store itself must not need it, and a
// monitor has the pings, of which there are two for each run.
func (n *Notifier) homeLocked(g *gatherer, later bool) *home {
	switch {
	case n.shared == nil, g.channel.pings(), g.events[0].Job == "", time.Now().Before(n.mu.failing),
		n.mu.leaving && !later:
		return &n.mu.own.home
	}
	return n.shared
}

// refusedLocked notes that a home has not taken a message.
func (n *Notifier) refusedLocked(h *home, err error) {
	if h == &n.mu.own.home {
		return
	}
	n.mu.failing = time.Now().Add(outage)
	if !n.mu.warned {
		n.mu.warned = true
		n.Log.Warn("notices not kept in the store", "reason", err.Error())
	}
}

// begun notes that a message is on its way: what is told from now on is for another one.
func (n *Notifier) begun(l letter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, g := range n.mu.gatherers {
		if g.id == l.ID && !g.channel.pings() {
			n.mu.counts[g.channel.Name].Dropped += l.Dropped - g.counted
			g.begin(l.Last)
			n.signal()
		}
	}
}

// holds notes until when a message waits.
func (n *Notifier) holds(l letter, until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, g := range n.mu.gatherers {
		if g.id == l.ID {
			g.due = until
		}
	}
}

// over notes that a message was sent, or given up.
func (n *Notifier) over(l letter, c *Channel, sent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.ended++
	if counts := n.mu.counts[c.Name]; sent {
		counts.Sent++
	} else {
		counts.Failed++
	}
	for _, g := range n.mu.gatherers {
		if g.pinging && g.id == l.ID && g.channel.pings() {
			g.pinging = false
			g.begin(l.Last)
		}
	}
	n.signal()
}

// busy reports whether there is something in memory that is not sent yet.
func (n *Notifier) busy() bool {
	n.mu.Lock()
	for _, g := range n.mu.gatherers {
		if g.pending() || g.pinging {
			n.mu.Unlock()
			return true
		}
	}
	n.mu.Unlock()
	return len(n.mu.own.open(context.Background(), n.Namespace)) > 0
}

// giveUp puts what is in memory and was not sent into the shared store, or gives it up.
func (n *Notifier) giveUp() {
	own := n.mu.own
	ctx := context.Background()
	for _, row := range own.open(ctx, n.Namespace) {
		var l letter
		if json.Unmarshal(row.Payload, &l) != nil {
			continue
		}
		if n.shared != nil && l.Way != wayPing {
			if _, err := n.put(n.shared, kindKey{channel: l.Channel}, l, 0); err == nil {
				own.Jobs.Delete(ctx, row.ID)
				continue
			}
		}
		own.Jobs.Cancel(ctx, row.ID)
		reason := errEnded.Error()
		if row.Attempt > 0 && row.Error != "" && row.Error != reason {
			reason = "executord has ended; before: " + row.Error
		}
		n.mu.Lock()
		n.mu.counts[l.Channel].Failed++
		n.mu.Unlock()
		n.Log.Error("notification not sent", "channel", l.Channel, "subject", l.Subject, "tries", row.Attempt, "reason", reason)
	}
}
