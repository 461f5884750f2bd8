package pages

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/source"
	"github.com/executor-go/executor/ui/page"
)

// actsPage is what the list of acts shows.
type actsPage struct {
	Acts        []actRow
	First, Next string // links to other pages, "" if there is none
	Kept        string // for how long acts are kept
	Error       string
	AsOf        string
}

// actRow is something that was done by hand.
type actRow struct {
	Seq                         int64
	At, Who, Action, Name, Path string
	Reason, Answer              string
}

func parseActs(v *address.View, q url.Values) error {
	if text := q.Get("after"); text != "" {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 {
			return address.Badf("after is %.50q; it must be taken from a link to the next page", text)
		}
		v.After = text
	}
	return nil
}

func actsBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	s := u.sourceOf(u.kinds[v.Name], v.Source)
	now := page.ZoneFrom(ctx).Now()
	p := &actsPage{Kept: "The store keeps this for a year."}
	if len(u.Sources) == 0 {
		p.Kept = fmt.Sprintf("There is no store: the latest %s are kept in memory, until the program ends.", page.Count(memory.MostActs))
	}
	type key struct{ acts, after string }
	acts, asOf, err := source.Query(ctx, s, key{"acts", v.After}, func(ctx context.Context) ([]durable.Act, error) {
		f := durable.ActFilter{Limit: rowLimit + 1}
		if v.After != "" {
			f.Before, _ = strconv.ParseInt(v.After, 10, 64) // parseActs has checked it
		}
		return s.Jobs.Acts(ctx, f)
	})
	if err != nil {
		p.Error = page.Lines(err.Error(), 300)
	}
	p.AsOf = page.ClockZone(asOf, now)
	if len(acts) > rowLimit {
		acts = acts[:rowLimit]
		p.Next = v.Link("after", strconv.FormatInt(acts[rowLimit-1].Seq, 10))
	}
	if v.After != "" {
		p.First = v.Link("after", "")
	}
	for _, a := range acts {
		row := actRow{
			Seq: a.Seq, At: page.Clock(a.At, now), Who: page.Printable(a.Who, 80), Action: page.Printable(a.Action, 40),
			Reason: page.Printable(a.Reason, durable.MaxAct), Answer: page.Printable(a.Answer, 200),
		}
		name, path := s.Link(a.Job, a.Key, 0)
		if a.Job != (durable.ID{}) {
			row.Path = path
			if name == "" {
				name = a.Job.String()
			}
		}
		row.Name = page.Printable(name, 60)
		p.Acts = append(p.Acts, row)
	}
	return "Audit log", p, nil
}
