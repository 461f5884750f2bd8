package notify

import (
	"slices"
	"time"
)

// A Kept is a Notice with what it takes to send its message, if it waits.
type Kept struct {
	Notice
	Message []Event   `json:"message,omitempty"` // its events, all of them
	Dropped int       `json:"dropped,omitzero"`  // events before these
	By      time.Time `json:"-"`                 // when it is sent, or kept again, unless its program has ended
}

// kept returns what waits for the channel: what is being sent, what was adopted, and what is in the queue.
func (w *worker) kept() (all []Kept) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held, until, by := w.mu.held, w.mu.until, w.mu.until
	if w.mu.sending != nil {
		k := *w.mu.sending
		if k.By = k.Until; k.By.IsZero() { // it is being tried
			k.By = time.Now()
		}
		k.By = k.By.Add(sendTimeout)
		all = append(all, k)
		held, until, by = HeldBehind, time.Time{}, k.By
	}
	for _, b := range slices.Concat(w.mu.adopted, []batch{w.mu.queue}) {
		if len(b.events) == 0 {
			continue
		}
		notice := w.notifier.noticeOf(w.channel, b.id, compose(w.notifier.Host, w.channel.Link, b.events, b.dropped), held)
		notice.Until = until
		all = append(all, Kept{Notice: notice, Message: slices.Clone(b.events), Dropped: b.dropped, By: by})
	}
	return all
}

// keep has what waits kept as it is now.
func (w *worker) keep() {
	if w.notifier.Keep == nil || w.channel.pings() {
		return
	}
	for _, k := range w.kept() {
		w.notifier.Keep(k)
	}
}

// Adopt takes over a message of a Notifier whose program has ended, and reports whether there is its channel. It is
// sent as soon as the channel may send, by itself.
func (n *Notifier) Adopt(k Kept) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.mu.workers {
		if w.channel.Name == k.Channel && !n.mu.closed {
			w.mu.Lock()
			w.mu.adopted = append(w.mu.adopted, batch{k.ID, k.Message, k.Dropped, k.First})
			w.mu.Unlock()
			w.signal()
			return true
		}
	}
	return false
}
