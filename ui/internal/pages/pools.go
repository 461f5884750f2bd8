package pages

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/internal/figures"
	"github.com/executor-go/executor/ui/internal/poolview"
	"github.com/executor-go/executor/ui/page"
)

// poolsPage is what the list of pools shows.
type poolsPage struct {
	Search string
	Pools  []poolview.Row
	More   int // pools that are not shown
	Events []poolview.Happened
	At     string
}

func parsePools(v *address.View, q url.Values) (err error) {
	v.Search, err = address.Limited(q, "q", 200)
	return err
}

func poolsBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look().In(page.ZoneFrom(ctx).Location())
	p := &poolsPage{Search: v.Search, At: page.ClockZone(l.At, l.At), Events: l.Happened(0)}
	p.Pools, p.More = l.Rows(v.Search, rowLimit)
	return "Pools", p, nil
}

// poolPage is what the page of a pool shows.
type poolPage struct {
	*poolview.Page
	Act    string // where it can be changed, "" if it can't
	Charts plots
	At     string
}

func parsePool(v *address.View, q url.Values) error {
	n, err := strconv.Atoi(q.Get("id"))
	if err != nil || n < 1 {
		return address.Badf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))
	}
	v.Number = n
	return parseCharts(v, q)
}

// chartSpans are the spans of charts of pools. The last is what is remembered, and shown unless another is asked for.
var chartSpans = []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

func parseCharts(v *address.View, q url.Values) error {
	text := q.Get("span")
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || !slices.Contains(chartSpans, d) {
		return address.Badf("span is %.20q; it must be 5m, 1h, 6h or 24h", text)
	}
	if d != chartSpans[len(chartSpans)-1] {
		v.Span = d
	}
	return nil
}

// plots are charts of pools, with links to other spans of them.
type plots struct {
	figures.Plots
	Spans []tab
}

// newPlots returns the charts of the pool of a page, or of all.
func newPlots(ctx context.Context, u *Site, v address.View) (p plots) {
	span := v.Span
	if span == 0 {
		span = chartSpans[len(chartSpans)-1]
	}
	p.Plots = u.Pools.Plots(v.Number, span, v.Live, page.ZoneFrom(ctx).Location())
	for _, d := range chartSpans {
		text := fmt.Sprintf("%dm", int(d.Minutes()))
		if d >= time.Hour {
			text = fmt.Sprintf("%dh", int(d.Hours()))
		}
		p.Spans = append(p.Spans, tab{page.Short(d), v.Link("span", text), d == span})
	}
	return p
}

func poolBody(ctx context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look().In(page.ZoneFrom(ctx).Location())
	p := l.Page(v.Number)
	if p == nil {
		return "", nil, address.Gonef("there is no pool %d; it may have ended", v.Number)
	}
	body := &poolPage{Page: p, Charts: newPlots(ctx, u, v), At: page.ClockZone(l.At, l.At)}
	if v.Act {
		body.Act = "act?pool=" + strconv.Itoa(v.Number)
	}
	return p.Title, body, nil
}
