package pages

import (
	"context"
	"net/url"
	"strconv"

	"github.com/executor-go/executor/ui/internal/address"
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

func poolsBody(_ context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look()
	p := &poolsPage{Search: v.Search, At: page.ClockZone(l.At, l.At), Events: l.Happened(0)}
	p.Pools, p.More = l.Rows(v.Search, rowLimit)
	return "Pools", p, nil
}

// poolPage is what the page of a pool shows.
type poolPage struct {
	*poolview.Page
	Act string // where it can be changed, "" if it can't
	At  string
}

func parsePool(v *address.View, q url.Values) error {
	n, err := strconv.Atoi(q.Get("id"))
	if err != nil || n < 1 {
		return address.Badf("id is %.20q; it must be the number of a pool, from 1", q.Get("id"))
	}
	v.Number = n
	return nil
}

func poolBody(_ context.Context, u *Site, v address.View) (string, any, error) {
	l := u.Pools.Look()
	p := l.Page(v.Number)
	if p == nil {
		return "", nil, address.Gonef("there is no pool %d; it may have ended", v.Number)
	}
	body := &poolPage{Page: p, At: page.ClockZone(l.At, l.At)}
	if v.Act {
		body.Act = "act?pool=" + strconv.Itoa(v.Number)
	}
	return p.Title, body, nil
}
