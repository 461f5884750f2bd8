package notify

import (
	"slices"
	"time"
)

// A Notice is what becomes of a message: what was sent to whom, about what, when, and what the answer was. Nothing in
// it is secret. Its keys are documented.
type Notice struct {
	ID        string    `json:"id"`
	Namespace string    `json:"namespace,omitempty"` // of the jobs
	Host      string    `json:"host"`                // that sends it
	Channel   string    `json:"channel"`
	Way       string    `json:"way"`           // mail, webhook, ping or command
	Outcome   string    `json:"outcome"`       // one of Outcomes
	At        time.Time `json:"at,omitzero"`   // of the answer; zero while it waits
	First     time.Time `json:"first"`         // when the first of the events happened
	Events    []About   `json:"events"`        // the first of them
	More      int       `json:"more,omitzero"` // how many others it is about
	Subject   string    `json:"subject"`
	Held      string    `json:"held,omitempty"` // why it was not sent at once, one of Holds
	Until     time.Time `json:"until,omitzero"` // while it waits: when it is sent, or tried again, if that is known
	Tries     int       `json:"tries"`
	Answer    string    `json:"answer,omitempty"` // the status, and the begin of what else the other side has said
	Error     string    `json:"error,omitempty"`  // why it was given up, or why the last try has failed
}

// About is what an event of a Notice is about.
type About struct {
	Kind   Kind      `json:"kind"`
	Job    string    `json:"job,omitempty"`
	Run    int       `json:"run,omitzero"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

// Page returns the address of the page about the event, from that of the page of notices on.
func (a About) Page() string { return page(a.Job, a.Run) }

// The outcomes of a Notice.
const (
	Waiting = "waiting" // it is held, or will be tried again
	Sent    = "sent"
	GivenUp = "given up"
)

// Why a message is not sent at once.
const (
	HeldForDigest = "digest"
	HeldByLimit   = "limit"
	HeldByQuiet   = "quiet hours"
	HeldBehind    = "another message" // of the channel is being sent
)

// maxAbout is how many events of a message a Notice has.
const maxAbout = 20

// way returns the word for the way of a channel.
func (c *Channel) way() string {
	switch c.Way.(type) {
	case *Mail:
		return "mail"
	case *Webhook:
		return "webhook"
	case *Ping:
		return "ping"
	case *Command:
		return "command"
	}
	return ""
}

// noticeOf returns what there is to say of a message that was not tried yet.
func (n *Notifier) noticeOf(c *Channel, id string, m Message, held string) Notice {
	secrets := c.Way.Secrets()
	notice := Notice{
		ID: id, Namespace: n.Namespace, Host: n.Host, Channel: c.Name, Way: c.way(), Outcome: Waiting, Held: held,
		First: m.Events[0].At, Subject: scrub(m.Subject, secrets), More: m.More,
	}
	for i, e := range m.Events {
		if i == maxAbout {
			notice.More += len(m.Events) - maxAbout
			break
		}
		notice.Events = append(notice.Events, About{Kind: e.Kind, Job: e.Job, Run: e.Run, At: e.At, Reason: scrub(e.Reason, secrets)})
	}
	return notice
}

// Notices returns what waits, and then what was sent or given up, the latest first, as far as it is kept here.
func (n *Notifier) Notices() []Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Notice
	for _, w := range n.mu.workers {
		all = append(all, w.notices()...)
	}
	past := slices.Concat(n.mu.sent, n.mu.pings)
	slices.SortStableFunc(past, func(a, b Notice) int { return a.At.Compare(b.At) })
	slices.Reverse(past)
	return append(all, past...)
}

// notices returns what waits for the channel: what is being sent, and what is in the queue as one message.
func (w *worker) notices() (all []Notice) {
	for _, k := range w.kept() {
		all = append(all, k.Notice)
	}
	return all
}
