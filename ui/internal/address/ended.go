package address

import (
	"net/url"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
)

// Ended is when runs ended that are asked for, as an address has it. It is a part of the name of what is cached.
type Ended struct {
	Day         string // 2006-01-02, in the zone of the reader; "" for all
	From, Until string // as RFC 3339 has them; "" for no bound
}

// parse reads it from a query.
func (e *Ended) parse(q url.Values) error {
	e.Day, e.From, e.Until = strings.TrimSpace(q.Get("day")), strings.TrimSpace(q.Get("from")), strings.TrimSpace(q.Get("until"))
	if _, err := time.Parse(time.DateOnly, e.Day); e.Day != "" && err != nil {
		return Badf("day is %.20q; it must be a day, as 2026-11-29", e.Day)
	}
	for name, text := range map[string]string{"from": e.From, "until": e.Until} {
		if _, err := time.Parse(time.RFC3339, text); text != "" && err != nil {
			return Badf("%s is %.30q; it must be a time, as 2026-11-29T14:00:00Z", name, text)
		}
	}
	return nil
}

// add adds it to a query that does not have others.
func (e *Ended) add(q url.Values) {
	for name, value := range map[string]string{"day": e.Day, "from": e.From, "until": e.Until} {
		if value != "" && !q.Has(name) {
			q.Set(name, value)
		}
	}
}

// Range returns the times that are asked for: those that are both in the day, of a zone, and between the bounds.
func (e *Ended) Range(in *time.Location) (r durable.TimeRange) {
	r.From, _ = time.Parse(time.RFC3339, e.From) // parse has checked all of them
	r.Until, _ = time.Parse(time.RFC3339, e.Until)
	if day, err := time.ParseInLocation(time.DateOnly, e.Day, in); err == nil {
		next := day.AddDate(0, 0, 1)
		if r.From.Before(day) {
			r.From = day
		}
		if r.Until.IsZero() || next.Before(r.Until) {
			r.Until = next
		}
	}
	return r
}

// ParseRuns reads which runs are asked for. What says where the page begins is read by the caller.
func (v *View) ParseRuns(q url.Values) (err error) {
	v.State = q.Get("state")
	if v.Kind, err = Limited(q, "kind", durable.MaxKind); err != nil {
		return err
	}
	if v.Search, err = Limited(q, "q", 2*durable.MaxKind); err != nil {
		return err
	}
	if v.Job, err = Limited(q, "job", durable.MaxKey); err != nil {
		return err
	}
	if err := v.Ended.parse(q); err != nil {
		return err
	}
	_, v.Wanted, err = asked(url.Values{"tag": q["tag"]})
	return err
}
