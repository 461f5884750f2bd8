package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/setback"
	"github.com/executor-go/executor/durable"
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
	Events    []Event   `json:"events"`        // the first of them, of each what, of which job, when and why
	More      int       `json:"more,omitzero"` // how many others it is about
	Subject   string    `json:"subject"`
	Held      string    `json:"held,omitempty"` // why it was not sent at once, one of Holds
	Until     time.Time `json:"until,omitzero"` // while it waits: when it is sent, or tried again, if that is known
	Tries     int       `json:"tries"`
	Answer    string    `json:"answer,omitempty"` // the status, and the begin of what else the other side has said
	Error     string    `json:"error,omitempty"`  // why it was given up, or why the last try has failed
}

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

// maxEvents is how many events of a message a Notice has.
const maxEvents = 20

const wayPing = "ping"

// way returns the word for the way of a channel.
func (c *Channel) way() string {
	switch c.Way.(type) {
	case *Mail:
		return "mail"
	case *Webhook:
		return "webhook"
	case *Ping:
		return wayPing
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
		if i == maxEvents {
			notice.More += len(m.Events) - maxEvents
			break
		}
		notice.Events = append(notice.Events, Event{Kind: e.Kind, Job: e.Job, Run: e.Run, At: e.At, Reason: scrub(e.Reason, secrets)})
	}
	return notice
}

// Most of the messages that have ended, and how long they are kept. These are documented.
const (
	MostNotices = 1000 // of a namespace in a shared store
	mostOwn     = 500  // in memory
	mostPings   = 100  // there, besides
	NoticeAge   = 30 * 24 * time.Hour
)

const (
	pruneEvery = 50 // messages
	mostListed = 1000
	pageSize   = 200
)

var (
	over = []durable.State{durable.Succeeded, durable.Dead, durable.Canceled}
	open = []durable.State{
		durable.Waiting, durable.Claimed, durable.Confirmed, durable.Running, durable.Paused, durable.Blocked,
	}
)

// list returns the jobs in a store whose keys have a prefix, in these states.
func list(ctx context.Context, store durable.Store, prefix string, states []durable.State) (all []durable.Job, err error) {
	f := durable.Filter{Prefix: prefix, States: states, Limit: pageSize}
	for {
		page, err := store.List(ctx, f)
		if all = append(all, page...); err != nil || len(page) < pageSize {
			return all, err
		}
		f.After = page[len(page)-1].ID
	}
}

// noticeOfJob returns the notice that a job is.
func noticeOfJob(row durable.Job) (Notice, error) {
	var l letter
	if err := json.Unmarshal(row.Payload, &l); err != nil {
		return Notice{}, fmt.Errorf("a notice cannot be read: %w", err)
	}
	m := l.Notice
	m.Held, m.Tries = cmp.Or(row.Label, m.Held), row.Attempt
	switch row.State {
	case durable.Succeeded:
		var a answer
		if err := json.Unmarshal(row.Result, &a); err != nil {
			return m, fmt.Errorf("the answer to a notice cannot be read: %w", err)
		}
		m.Outcome, m.At, m.Answer = Sent, row.Updated, a.Answer
	case durable.Dead, durable.Canceled:
		m.Outcome, m.At, m.Error = GivenUp, row.Updated, cmp.Or(row.Error, "canceled before it was sent")
	case durable.Running:
		m.Tries--
	default:
		m.Until = row.Due
		if row.Attempt > 0 {
			m.Error = row.Error
		}
	}
	return m, nil
}

// noticesOf returns the notices that jobs are, in the order of Sort.
func noticesOf(rows []durable.Job) ([]Notice, error) {
	first := make(map[string]durable.ID) // of each channel, the message whose end the others wait for
	for _, row := range rows {
		if row.State.Held() || row.State == durable.Waiting && row.Attempt > 0 {
			first[row.Kind] = row.ID
		}
	}
	var all []Notice
	for _, row := range rows {
		m, err := noticeOfJob(row)
		if err != nil {
			return nil, err
		}
		if id, ok := first[row.Kind]; ok && id != row.ID && m.Outcome == Waiting && m.Held == "" {
			m.Held = HeldBehind
		}
		all = append(all, m)
	}
	Sort(all)
	return all, nil
}

// Sort puts what waits first, with what was tried before the rest, and then what was sent or given up, the latest first.
func Sort(all []Notice) {
	waits := func(n Notice) int {
		if n.Outcome == Waiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Notice) int {
		return cmp.Or(waits(a)-waits(b), b.At.Compare(a.At), cmp.Compare(b.Tries, a.Tries), b.First.Compare(a.First))
	})
}

// Latest returns the latest notices that a store has of a namespace, of all if it is empty, limit at most, in the order of
// Sort.
func Latest(ctx context.Context, store durable.Store, namespace string, limit int) ([]Notice, error) {
	prefix := root
	if namespace != "" {
		prefix += namespace + "/"
	}
	rows, err := list(ctx, store, prefix, nil)
	if err != nil {
		return nil, err
	}
	all, err := noticesOf(rows)
	return all[:min(len(all), limit)], err
}

// Notices returns what this program has in memory, in the order of Sort: what it was told and has not written yet, and
// what is not in the shared store.
func (n *Notifier) Notices() []Notice {
	n.mu.Lock()
	var all []Notice
	for _, g := range n.mu.gatherers {
		if g.pending() {
			l := n.letter(g, HeldBehind)
			all = append(all, l.Notice)
		}
	}
	own := n.mu.own
	n.mu.Unlock()
	if own == nil {
		return nil
	}
	var past []Notice
	for _, pings := range []bool{false, true} {
		rows, _ := list(context.Background(), own.Store, rootOf(pings)+n.Namespace+"/", nil) // memory always answers
		some, _ := noticesOf(rows)
		most := mostOwn
		if pings {
			most = mostPings
		}
		waiting := 0
		for waiting < len(some) && some[waiting].Outcome == Waiting {
			waiting++
		}
		past = append(past, some[:min(len(some), waiting+most)]...)
	}
	for _, m := range past {
		all = slices.DeleteFunc(all, func(a Notice) bool { return a.ID == m.ID })
	}
	all = append(all, past...)
	Sort(all)
	return all
}

// open returns what is in memory and has not ended.
func (o *own) open(ctx context.Context, namespace string) (all []durable.Job) {
	for _, pings := range []bool{false, true} {
		rows, _ := list(ctx, o.Store, rootOf(pings)+namespace+"/", open) // memory always answers
		all = append(all, rows...)
	}
	return all
}

// prune removes the messages of a home that are too many or too old.
func (n *Notifier) prune(h *home) {
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	for _, pings := range []bool{false, true} {
		most := MostNotices
		switch {
		case pings && h == n.shared:
			return
		case pings:
			most = mostPings
		case h != n.shared:
			most = mostOwn
		}
		rows, err := list(ctx, h.Store, rootOf(pings)+n.Namespace+"/", over)
		if err != nil {
			return // the next time will do
		}
		slices.SortFunc(rows, func(a, b durable.Job) int { return b.Updated.Compare(a.Updated) })
		for i, row := range rows {
			if i >= most || time.Since(row.Updated) > NoticeAge {
				if _, err := h.Jobs.Delete(ctx, row.ID); err != nil {
					return
				}
			}
		}
	}
}

// hasten has what waits in a home looked at anew: what does so by a clock that was ahead, and with untried all that was
// not tried, since the channels have changed, or the program ends.
func (n *Notifier) hasten(h *home, untried bool) {
	ctx, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	now, err := h.Store.Now(ctx)
	if err != nil {
		return // it begins when it was to begin
	}
	handled := make(map[string]bool)
	n.mu.Lock()
	for k := range h.kinds {
		handled[kindOf(n.Namespace, k)] = true
	}
	n.mu.Unlock()
	if err := setback.Hasten(ctx, h.Jobs, now, maps.Keys(handled), nil); err != nil || !untried {
		return
	}
	rows, err := list(ctx, h.Store, root+n.Namespace+"/", []durable.State{durable.Waiting})
	if err != nil {
		return
	}
	for _, row := range rows {
		if row.Attempt == 0 && row.Due.After(now) && handled[row.Kind] { // what is due begins, and a retry would count anew
			h.Jobs.RunNow(ctx, row.ID)
		}
	}
}
